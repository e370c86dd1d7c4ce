import { assertEquals } from "@std/assert";
import { GymnasiumEnv } from "./gymnasium_env.ts";
import { PYTHON, test } from "./testdata/python.ts";

/** What the third step tells; the steps around it tell nothing. */
function toldBy(odd: string): unknown {
  const env = new GymnasiumEnv("odd_envs:odd/Counter-v1", {
    python: PYTHON,
    kwargs: { odd },
  });
  env.reset({ seed: 0 });
  const before = [env.step(0), env.step(0)];
  const { info, ...third } = env.step(1);
  const after = [env.step(0), env.step(0)];
  assertEquals([...before, ...after].map((it) => "info" in it), [
    false,
    false,
    false,
    false,
  ]);
  assertEquals(after[1].terminated, true);
  assertEquals(third, {
    observation: Float32Array.of(3),
    reward: 1,
    terminated: false,
    truncated: false,
  });
  env.close();
  return info;
}

test("info comes as JSON has it; what it cannot hold is left out", () => {
  assertEquals(toldBy("tell"), {
    number: 0.5,
    count: 7,
    mask: [[1, 0], [0, 1]],
    isDone: true,
    nested: { text: "α", "3": [1, null, null] },
    nan: null,
  });
});

test("an info that holds itself is left out", () => {
  assertEquals(toldBy("cycle"), undefined);
});

test("an info may be longer than what a pipe takes at once", () => {
  assertEquals(toldBy("swell"), { text: "x".repeat(100_000) });
});

test("an environment's own info comes with each step", () => {
  const env = new GymnasiumEnv("Taxi", { python: PYTHON });
  env.reset({ seed: 0 });
  const { info = {} } = env.step(0);
  assertEquals(Object.keys(info).sort(), ["action_mask", "prob"]);
  assertEquals((info.action_mask as number[]).length, 6);
  env.close();
});

test("wrappers of Python tell what they count", () => {
  const env = new GymnasiumEnv("Pendulum-v1", {
    python: PYTHON,
    wrappers: [{ name: "gymnasium.wrappers:RecordEpisodeStatistics" }],
  });
  env.reset({ seed: 0 });
  for (let t = 1; t < 200; t++) {
    assertEquals(env.step(Float32Array.of(0)).info, undefined);
  }
  const { info, truncated } = env.step(Float32Array.of(0));
  const { l } = info?.episode as { l: number };
  assertEquals([l, truncated], [200, true]);
  env.close();
});
