import { assert, assertEquals, assertThrows } from "@std/assert";
import { Curriculum, type ParameterSettings, SyncVecEnv } from "./mod.ts";
import { Chase } from "./pages/testdata/chase.ts";

Deno.test("schedules are linear between their points, and level outside", () => {
  const curriculum = new Curriculum({
    wind: { schedule: [[0.2, 1], [0.6, 3], [1, 3]] },
  });
  const values = [0, 0.2, 0.4, 0.6, 0.9, 1].map((it) =>
    curriculum.values(it).wind
  );
  assertEquals(values, [1, 1, 2, 3, 3, 3]);
  // Whole thousandths count, so that few messages tell them.
  assertEquals(curriculum.values(0.40001), curriculum.values(0.4));
  assertEquals(curriculum.goal, { wind: 3 });
});

Deno.test("a lesson ends by the episodes of its own", () => {
  const curriculum = new Curriculum({
    level: {
      lessons: [
        { value: 1, until: 2, episodes: 3 },
        { value: [2, 3], until: 2, episodes: 2 },
        { value: { oneOf: [4] } },
      ],
    },
    other: 7,
  });
  const after = [9, -9, 2, 9, 9, -9, 3, 9].map((it) => {
    curriculum.observe(it);
    return curriculum.lessons.level;
  });
  // The mean of 9, -9, 2 is below; of -9, 2, 9, too; of 2, 9, 9 it is not.
  assertEquals(after, [1, 1, 1, 1, 2, 2, 2, 3]);
  assertEquals(curriculum.values(0), { level: { oneOf: [4] }, other: 7 });
  assertEquals(curriculum.observe(100), []);
});

Deno.test("lessons go on from their state", () => {
  const settings: ParameterSettings = {
    level: { lessons: [{ value: 1, until: 2, episodes: 2 }, { value: 2 }] },
  };
  const [one, other] = [new Curriculum(settings), new Curriculum(settings)];
  one.observe(5);
  other.load(structuredClone(one.save()));
  assertEquals(other.observe(0), ["level"]);
  assertEquals(other.goal, { level: 2 });
});

const WRONG: [unknown, string][] = [
  [NaN, "it is null, expected a number"],
  [[2, 1], "it is [2,1], expected a number"],
  [{ oneOf: [] }, "expected a number"],
  [{ oneOff: [1] }, "expected a number"],
  [{ schedule: [[0, "fast"]] }, "expected a number"],
  [
    { schedule: [[0.5, 1], [0.5, 2]] },
    "expected progress that rises from 0 to 1, not 0.5, 0.5",
  ],
  [{ schedule: [[0, 1], [2, 2]] }, "expected progress that rises from 0 to 1"],
  [{ lessons: [] }, "expected a number"],
  [{ lessons: [{ value: 1, until: 2 }] }, "its last lesson has until: 2"],
  [{ lessons: [{ value: 1 }, { value: 2 }] }, "lesson 1 has no until"],
  [
    { lessons: [{ value: 1, until: 2, episodes: 0 }, { value: 2 }] },
    "expected a number",
  ],
  [{ lessons: [{ valeu: 1, until: 2 }, { value: 2 }] }, "expected a number"],
];

Deno.test("wrong parameters are one line", () => {
  for (const [speed, message] of WRONG) {
    const settings = { speed } as ParameterSettings;
    const error = assertThrows(
      () => new Curriculum(settings),
      TypeError,
      message,
    );
    assert(
      (error as Error).message.startsWith("Cannot set the parameter 'speed': "),
    );
  }
});

Deno.test("episodes that began before a lesson do not count for it", () => {
  const lesson = (value: number) => ({ value, until: 5, episodes: 2 });
  const lessons = [lesson(1), lesson(2), { value: 3 }];
  const curriculum = new Curriculum({ speed: { lessons } });
  const observe = (began: number, ended: number) =>
    curriculum.observe(9, { began, ended }).length;
  assertEquals(observe(0, 9) + observe(0, 10), 1);
  // Three that were under way, of which one began as the lesson before ended.
  assertEquals(observe(0, 10) + observe(2, 13) + observe(10, 14), 0);
  const other = new Curriculum({ speed: { lessons } });
  other.load(structuredClone(curriculum.save()));
  for (const it of [curriculum, other]) {
    assertEquals(it.observe(9, { began: 9, ended: 15 }), []);
    assertEquals(it.observe(9, { began: 11, ended: 15 }), []);
    assertEquals(it.observe(9, { began: 11, ended: 16 }), ["speed"]);
  }
});

Deno.test("environments get the parameters that are drawn for their episodes", () => {
  const heard: unknown[] = [];
  class Heard extends Chase {
    override reset(options: Parameters<Chase["reset"]>[0] = {}) {
      heard.push(options.parameters?.speed);
      return super.reset(options);
    }
  }
  const make = () => new SyncVecEnv([() => new Heard(), () => new Heard()]);
  const env = make(), still = Int32Array.of(1, 1);
  const play = (it: typeof env) => {
    for (let i = 0; i < 20; i++) it.step(still);
  };
  env.reset({ seed: 1 });
  assertEquals(heard, [undefined, undefined]);
  assertEquals(env.setParameters({ speed: [1, 2], sped: 3 }), []);
  play(env);
  assertEquals(env.setParameters({ speed: [1, 2], sped: 3 }), ["sped"]);
  const [one, two] = heard.slice(2) as number[];
  assert(one >= 1 && one < 2 && two >= 1 && two < 2 && one !== two);
  const saved = env.save(), restored = make();
  play(env);
  restored.load(structuredClone(saved));
  play(restored);
  assertEquals(heard.slice(-4, -2), heard.slice(-2));
  assert(heard.at(-1) !== two);
});
