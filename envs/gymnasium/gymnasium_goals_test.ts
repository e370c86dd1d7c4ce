import type { BoxArray, GoalFunctions } from "@bellman/types";
import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { checkEnv } from "../check_env.ts";
import { GymnasiumEnv } from "./gymnasium_env.ts";
import type { GymnasiumOptions } from "./python.ts";
import { open, PYTHON, test } from "./testdata/python.ts";

const POINT = "goal_envs:goals/Point-v0";

/** Uses one environment with goals and ends its process. */
function using(
  options: GymnasiumOptions,
  use: (env: GymnasiumEnv) => void,
): void {
  const env = new GymnasiumEnv(POINT, { python: PYTHON, ...options });
  try {
    use(env);
  } finally {
    env.close();
  }
}

const pairs = fc.integer({ min: 1, max: 30 }).chain((rows) => {
  const numbers = fc.array(fc.integer({ min: -36, max: 36 }), {
    minLength: 2 * rows,
    maxLength: 2 * rows,
  });
  // Sums of quarters are exact.
  const goals = numbers.map((all) => Float64Array.from(all, (it) => it / 4));
  return fc.tuple(goals, goals);
});

/** Holds functions of goals to the distances of their rows. */
function assertJudges(env: GoalFunctions, goals: [BoxArray, BoxArray]): void {
  const [achieved, desired] = goals;
  const gaps = Array.from(achieved, (it, i) => Math.abs(it - desired[i]));
  const distances = gaps.flatMap((it, i) => i % 2 ? [] : [it + gaps[i + 1]]);
  assertEquals(
    Array.from(env.computeReward!(...goals), (it) => it + 0),
    distances.map((it) => 0 - it),
  );
  assertEquals(
    Array.from(env.computeTerminated!(...goals)),
    distances.map((it) => it < 0.5 ? 1 : 0),
  );
}

for (const by of ["rows", "scalar", "error"]) {
  test(`goals are judged row by row: ${by}`, () => {
    const env = open(POINT, { kwargs: { by }, processes: 2 });
    try {
      fc.assert(fc.property(pairs, (goals) => assertJudges(env, goals)));
    } finally {
      env.close();
    }
    using({ kwargs: { by } }, (env) => {
      fc.assert(fc.property(pairs, (goals) => assertJudges(env, goals)));
      checkEnv(env, { steps: 20, render: false });
    });
  });
}

test("Python computes rows at once where it can, after one comparison", () => {
  const goals = () => new Float64Array(6);
  for (const [by, later] of [["rows", [3]], ["scalar", [0, 0, 0]]] as const) {
    using({ kwargs: { by } }, (env) => {
      env.reset({ seed: 0 });
      const asked = () => {
        env.computeReward!(goals(), goals());
        return env.step(0).info!.asked;
      };
      assertEquals(asked(), [0, 0, 0, 3]);
      for (let times = 0; times < 2; times++) assertEquals(asked(), later);
    });
  }
});

test("goals of any type reach Python as its own", () => {
  using({ kwargs: { goals: "discrete" } }, (env) => {
    const achieved = Int32Array.of(3, 7, 5), desired = Float64Array.of(3, 3, 6);
    const rewards = env.computeReward!(achieved, desired);
    assertEquals(Array.from(rewards, (it) => it + 0), [0, -4, -1]);
  });
  using({ kwargs: { goals: "float32" } }, (env) => {
    fc.assert(fc.property(pairs, (goals) => {
      assertJudges(env, goals);
      const [achieved, desired] = goals.map((it) => Float32Array.from(it));
      assertJudges(env, [achieved, desired]);
    }));
    checkEnv(env, { steps: 20, render: false });
  });
});

test("episodes with goals tell whether they reached them, where Python does", () => {
  const episodesOf = (options: Partial<GymnasiumOptions>, names?: string[]) => {
    const env = open(POINT, { ...options, infoStatistics: names });
    try {
      env.reset({ seed: 0 });
      return Array.from(
        { length: 20 },
        () => env.step(new Int32Array(env.numEnvs)).episodes!,
      ).flat();
    } finally {
      env.close();
    }
  };
  const told = episodesOf({});
  for (const { terminated, infoStatistics } of told) {
    const { last, sum } = infoStatistics!.is_success;
    assertEquals([last, sum], [Number(terminated), Number(terminated)]);
  }
  assertEquals(new Set(told.map(({ terminated }) => terminated)).size, 2);
  assertEquals(episodesOf({}, ["is_success"]), told);
  for (const { infoStatistics } of episodesOf({ kwargs: { tells: false } })) {
    assertEquals(infoStatistics, {});
  }
});

test("a wrapper judges goals as it rewards", () => {
  const wrappers = [{ name: "goal_envs:Half" }];
  using({ wrappers }, (env) => {
    const rewards = env.computeReward!(
      Float64Array.of(1, 2),
      new Float64Array(2),
    );
    assertEquals(Array.from(rewards), [-1.5]);
    checkEnv(env, { steps: 20, render: false });
  });
});

test("a reward that no goal changes is found", () => {
  using({ kwargs: { constant: true } }, (env) => {
    assertThrows(
      () => checkEnv(env, { steps: 20, render: false }),
      Error,
      "computeReward is -1 whatever goal is desired: hindsight cannot learn from it",
    );
  });
});

test("what Python raises over goals is told, and ends nothing", () => {
  const env = open(POINT, { kwargs: { by: "never" } });
  const single = new GymnasiumEnv(POINT, {
    python: PYTHON,
    kwargs: { by: "never" },
  });
  const goals = new Float64Array(2);
  try {
    for (
      const [it, message] of [
        [env, "goals by computeReward: it threw ValueError: no goal is one"],
        [single, `goals of ${POINT}: Python raised ValueError: no goal is one`],
      ] as const
    ) {
      assertThrows(
        () => it.computeReward!(goals, goals),
        Error,
        `Cannot judge ${message}`,
      );
      assertEquals(Array.from(it.computeTerminated!(goals, goals)), [1]);
    }
  } finally {
    env.close();
    single.close();
  }
});

test("what has no goals judges none", () => {
  for (const id of ["CartPole-v1", "goal_envs:goals/Flat-v0"]) {
    const env = open(id);
    assertEquals([env.computeReward, env.computeTerminated], [
      undefined,
      undefined,
    ]);
    env.close();
  }
});

test("a Python that is killed is replaced, and judges goals all the same", () => {
  const env = open(POINT, { kwargs: { by: "rows" } });
  try {
    env.reset({ seed: 0 });
    const goals = [Float64Array.of(0, 0, 1, 2), new Float64Array(4)] as const;
    for (let times = 0; times < 2; times++) {
      for (const pid of env.pids()) Deno.kill(pid, "SIGKILL");
      assertJudges(env, [...goals]);
      const { lost } = env.step(new Int32Array(3));
      assertEquals(lost, [0, 1, 2]);
      assertEquals(env.step(new Int32Array(3)).lost, undefined);
    }
  } finally {
    env.close();
  }
});

test("environments of Gymnasium-Robotics need no module in front", () => {
  const own = Deno.env.get("PYTHONPATH")!;
  Deno.env.set("PYTHONPATH", `${own}robots:${own}`);
  try {
    const env = open("FetchNothing-v4");
    assertEquals(env.spec!.maxEpisodeSteps, 50);
    env.close();
  } finally {
    Deno.env.set("PYTHONPATH", own);
  }
  assertThrows(
    () => open("FetchNothing-v4"),
    RangeError,
    "Unknown environment 'FetchNothing-v4'",
  );
});
