import type { Batch } from "@bellman/types";
import { assert, assertEquals } from "@std/assert";
import { make, makeVec } from "../mod.ts";
import { SeededRandom } from "../random.ts";
import { actionChoices } from "../spaces/choices.ts";
import { cloneBatch } from "../spaces/batch.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { playVec, randomActions } from "../testdata/play.ts";
import { GymnasiumEnv } from "./gymnasium_env.ts";
import type { GymnasiumVecEnvOptions } from "./gymnasium_vec_env.ts";
import { registerGymnasium } from "./register_gymnasium.ts";
import { canMake, open, PYTHON, test } from "./testdata/python.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

const MODULE = "masked_envs:masked/";

/** Masks that an observation of the tests' environments tells, part by part. */
function toldMasks(
  observations: Batch,
  row: number,
  parts: number[],
): number[] {
  const seen = (observations as Float32Array).subarray(9 * row);
  return parts.flatMap((n, part) =>
    [...seen[part].toString(2).padStart(n, "0")].map(Number)
  );
}

/** Kinds of actions, each asked for masks in one of the two ways. */
const KINDS = {
  ByMethod: ["discrete", "multi-discrete of two axes"],
  ByInfo: ["multi-discrete", "multi-binary"],
};

for (const [by, kinds] of Object.entries(KINDS)) {
  for (const kind of kinds) {
    test(`${by}, ${kind}: each copy has the masks of its observations`, () => {
      const env = open(`${MODULE}${by}-v1`, { kwargs: { kind }, processes: 2 });
      try {
        const parts = actionChoices(env.actionSpace)!;
        const size = parts.reduce((a, b) => a + b);
        const row = (masks: Uint8Array, i: number) => [
          ...masks.slice(i * size, (i + 1) * size),
        ];
        assertEquals(
          env.actionMasks!.slice(),
          new Uint8Array(3 * size).fill(1),
        );
        const random = new SeededRandom(1);
        let observations = env.reset({ seed: 3 });
        for (let t = 0; t < 12; t++) {
          for (const i of [0, 1, 2]) {
            const told = toldMasks(observations, i, parts);
            assertEquals(row(env.actionMasks!, i), told);
          }
          const step = env.step(randomActions(env, random));
          observations = step.observations;
          assertEquals([...step.rewards], [0, 0, 0]);
          const ends = t % 4 === 3 ? 1 : 0;
          assertEquals([...step.truncated], [ends, ends, ends]);
          for (const i of ends ? [0, 1, 2] : []) {
            const told = toldMasks(step.finalObservations, i, parts);
            assertEquals(row(step.finalActionMasks!, i), told);
          }
        }
      } finally {
        env.close();
      }
    });
  }

  test(`${by}: single environments, and a snapshot, have the same numbers`, () => {
    const id = `${MODULE}${by}-v1`, kwargs = { kind: "multi-discrete" };
    const single = () => new GymnasiumEnv(id, { python: PYTHON, kwargs });
    const envs = [
      open(id, { kwargs, numEnvs: 2 }),
      new SyncVecEnv([single, single]),
    ];
    try {
      const all = envs.map((env) => {
        env.reset({ seed: 5 });
        const before = playVec(env, 6, 1);
        const snapshot = structuredClone(env.save());
        const masks = env.actionMasks!.slice();
        const expected = playVec(env, 10, 2);
        env.load(snapshot);
        assertEquals(env.actionMasks!.slice(), masks);
        assertEquals(playVec(env, 10, 2), expected);
        return [before, expected].map((it) =>
          it.map((step) => ({ ...step as object, episodes: [] }))
        );
      });
      assertEquals(all[0], all[1]);
    } finally {
      for (const env of envs) env.close();
    }
  });
}

test("an episode that cannot be played again ends with the masks seen last", () => {
  // The count of resets differs even where the draws are the same by chance.
  const kwargs = { draws: "elsewhere", counts: true };
  for (const by of ["ByMethod", "ByInfo"]) {
    const env = open(`${MODULE}${by}-v0`, { kwargs, numEnvs: 1 });
    try {
      env.reset({ seed: 0 });
      env.step(Int32Array.of(2));
      const masks = env.actionMasks!.slice();
      env.load(env.save());
      assertEquals(env.actionMasks!.slice(), masks);
      const step = env.step(Int32Array.of(2));
      assertEquals([...step.truncated], [1]);
      assertEquals(step.finalActionMasks!.slice(), masks);
      assertEquals(
        [...step.actionMasks!],
        toldMasks(step.observations, 0, [4]),
      );
    } finally {
      env.close();
    }
  }
});

test("copies of a process that dies get the masks of their new episodes", () => {
  const env = open(`${MODULE}ByMethod-v0`, {
    kwargs: { wrong: "dies" },
    processes: 3,
  });
  try {
    env.reset({ seed: 0 });
    for (let t = 0; t < 3; t++) env.step(Int32Array.of(2, 2, 2));
    const seen = cloneBatch(env.observations());
    const step = env.step(Int32Array.of(2, 2, 2));
    assertEquals(step.lost, [0, 1, 2]);
    for (const row of [0, 1, 2]) {
      const masks = (of: Uint8Array) => [...of.subarray(4 * row, 4 * row + 4)];
      const { actionMasks, finalActionMasks, observations } = step;
      assertEquals(masks(finalActionMasks!), toldMasks(seen, row, [4]));
      assertEquals(masks(actionMasks!), toldMasks(observations, row, [4]));
    }
  } finally {
    env.close();
  }
});

test("an end state may allow nothing", () => {
  for (const by of ["ByMethod", "ByInfo"]) {
    const kwargs = { over: true }, id = `${MODULE}${by}-v0`;
    const env = open(id, { kwargs, numEnvs: 1 });
    const single = new GymnasiumEnv(id, { python: PYTHON, kwargs });
    try {
      env.reset({ seed: 0 });
      single.reset({ seed: 0 });
      for (let t = 1; t <= 6; t++) {
        const step = env.step(Int32Array.of(2));
        single.step(2);
        assertEquals([...step.terminated], [t === 6 ? 1 : 0]);
        if (t === 6) assertEquals([...step.finalActionMasks!], [1, 1, 1, 1]);
      }
      assertEquals([...single.actionMasks!()], [1, 1, 1, 1]);
    } finally {
      env.close();
      single.close();
    }
  }
});

const AT_2 =
  "EnvDataError: Cannot use the data of gym:masked_envs:masked/ByMethod-v0, copy 0: the action mask at step 2 of its episode";

const WRONG: Record<string, string> = {
  nothing: `${AT_2} allows none of the 4 choices: expected at least one`,
  short: `${AT_2} has 3 numbers: expected 4`,
  two: `${AT_2} holds 2: expected 0 and 1`,
  none: `${AT_2} has none: expected 4`,
};

for (const [wrong, says] of Object.entries(WRONG)) {
  test(`masks that cannot be used end the run: ${wrong}`, () => {
    const env = open(`${MODULE}ByMethod-v0`, { kwargs: { wrong } });
    const go = () => {
      env.reset({ seed: 0 });
      for (let t = 0; t < 3; t++) env.step(Int32Array.of(2, 2, 2));
    };
    try {
      // The class of the error is lost on the way from Python.
      assertRefused({ [says.replace("EnvDataError", "TypeError")]: go });
    } finally {
      env.close();
    }
  });
}

test("an info that stops telling masks ends the run", () => {
  const env = open(`${MODULE}ByInfo-v0`, { kwargs: { wrong: "missing" } });
  try {
    env.reset({ seed: 0 });
    env.step(Int32Array.of(2, 2, 2));
    assertRefused({
      "TypeError: the action mask at step 2 of its episode has none: expected 4":
        () => env.step(Int32Array.of(2, 2, 2)),
    });
  } finally {
    env.close();
  }
});

test("an info may tell masks from the first step of an episode on", () => {
  const kwargs = { wrong: "late" };
  const env = open(`${MODULE}ByInfo-v0`, { kwargs, numEnvs: 1 });
  try {
    let { observations, actionMasks } = {
      observations: env.reset({ seed: 0 }) as Float32Array,
      actionMasks: env.actionMasks!,
    };
    for (let t = 1; t <= 13; t++) {
      const isFirst = t % 6 === 1;
      const wanted = isFirst ? [1, 1, 1, 1] : toldMasks(observations, 0, [4]);
      assertEquals([...actionMasks], wanted);
      const step = env.step(Int32Array.of(2));
      observations = step.observations as Float32Array;
      actionMasks = step.actionMasks!;
    }
  } finally {
    env.close();
  }
});

test("masks can be refused, asked for, and are none where there are none", () => {
  const id = registerGymnasium(`${MODULE}ByInfo-v1`, { python: PYTHON });
  for (const useActionMasks of [undefined, true, false]) {
    const kwargs = { useActionMasks };
    const vec = makeVec(id, { numEnvs: 2, kwargs });
    try {
      const masks = useActionMasks === false ? undefined : 8;
      assertEquals(vec.actionMasks?.length, masks);
      vec.reset({ seed: 0 });
      const step = vec.step(Int32Array.of(2, 3));
      assertEquals(step.actionMasks?.length, masks);
    } finally {
      vec.close();
    }
  }
  const one = make(id, { kwargs: { useActionMasks: false } });
  assertEquals(one.actionMasks, undefined);
  one.close();
  const none = open(`${MODULE}Masked-v0`);
  try {
    assertEquals(none.actionMasks, undefined);
  } finally {
    none.close();
  }
});

test("an environment whose code knows no masks is not reset for them", () => {
  const counter = "odd_envs:odd/Counter-v1", kwargs = { counts: true };
  const cases: [string, Partial<GymnasiumVecEnvOptions>, resets: number][] = [
    [counter, { kwargs: { odd: "resets" } }, 1],
    [`${MODULE}ByInfo-v0`, { kwargs }, 2],
    [`${MODULE}ByInfo-v0`, { kwargs, useActionMasks: false }, 1],
    [`${MODULE}ByMethod-v0`, { kwargs }, 1],
  ];
  for (const [id, options, resets] of cases) {
    const env = open(id, { ...options, numEnvs: 1 });
    try {
      assertEquals((env.reset({ seed: 0 }) as Float32Array).at(-1), resets);
    } finally {
      env.close();
    }
  }
});

test("masks that cannot be are one clear line", () => {
  const kind = "box";
  assertRefused({
    "TypeError: Cannot mask the actions of 'masked_envs:masked/ByMethod-v0', which are a box: expected Discrete, MultiDiscrete or MultiBinary ones, or useActionMasks false":
      () => open(`${MODULE}ByMethod-v0`, { kwargs: { kind } }),
    "TypeError: Cannot use action masks of 'CartPole-v1': it has no method action_masks, and the info of its reset and its first step no action_mask":
      () => open("CartPole-v1", { useActionMasks: true }),
    "TypeError: Cannot make gym:CartPole-v1 with useActionMasks 1: expected true or false":
      () => open("CartPole-v1", { useActionMasks: 1 as never }),
  });
  const box = open(`${MODULE}ByMethod-v0`, {
    kwargs: { kind },
    useActionMasks: false,
  });
  box.close();
});

test("Taxi masks by its info, alone and together", () => {
  const id = ["Taxi-v4", "Taxi-v3"].find(canMake)!;
  const single = new GymnasiumEnv(id, { python: PYTHON });
  const vec = open(id);
  try {
    vec.reset({ seed: [4, 5, 6] });
    single.reset({ seed: 5 });
    const random = new SeededRandom(0);
    for (let t = 0; t < 50; t++) {
      const middle = vec.actionMasks!.slice(6, 12);
      assertEquals(middle, single.actionMasks!());
      const actions = randomActions(vec, random) as Int32Array;
      const step = vec.step(actions);
      // No allowed action is one of the illegal ones, which cost 10.
      assert(step.rewards.every((it) => it !== -10));
      const { info } = single.step(actions[1]);
      assertEquals([...single.actionMasks!()], info?.action_mask);
    }
  } finally {
    vec.close();
    single.close();
  }
});
