import type { Env, StepResult, VecEnv } from "@bellman/types";
import { assertEquals, assertThrows } from "@std/assert";
import { checkEnv } from "./check_env.ts";
import { EnvDataError } from "./env_data_error.ts";
import {
  type EnvRegistry,
  make,
  makeVec,
  register,
} from "./registry/registry.ts";
import { SyncVecEnv } from "./sync_vec_env.ts";
import { DictEnv } from "./testdata/dict_env.ts";
import { KINDS, WRONG_ENV, WrongEnv } from "./testdata/wrong_env.ts";
import { FrameStack } from "./wrappers/frame_stack.ts";
import { NormalizeObservation, NormalizeReward } from "./wrappers/normalize.ts";
import { TimeLimit } from "./wrappers/time_limit.ts";
import { ClipReward, FlattenObservation } from "./wrappers/transforms.ts";
import { assertRefused } from "../tests/testdata/refused.ts";

const AT_5 = "of Wrong-v0, copy 1, at step 5 of its episode: it is ";
const AT_0 = "of Wrong-v0, copy 1, at the start of its episode: it is ";
const STATE = "of Wrong-v0, copy 1: it is ";
const THREE = ", expected a Float32Array of 3";
const FINITE = ", expected a finite number";
const BOUNDED =
  ", expected a number from -10 to 10, unless register says looseBounds: true";
const FLAG = ", expected true or false";

/** What the error says after "Cannot use", for all kinds but those that are right. */
const SAYS: Record<string, string> = {
  rewardNaN: `the reward ${AT_5}NaN${FINITE}`,
  rewardInfinite: `the reward ${AT_5}-Infinity${FINITE}`,
  rewardText: `the reward ${AT_5}"1"${FINITE}`,
  rewardMissing: `the reward ${AT_5}undefined${FINITE}`,
  rewardBigInt: `the reward ${AT_5}1n${FINITE}`,
  seenNaN: `observation[1] ${AT_5}NaN${FINITE}`,
  seenInfinite: `observation[1] ${AT_5}Infinity${FINITE}`,
  seenOutside: `observation[1] ${AT_5}1000000${BOUNDED}`,
  seenShort: `the observation ${AT_5}a Float32Array of 2${THREE}`,
  seenLong: `the observation ${AT_5}a Float32Array of 5${THREE}`,
  seenMissing: `the observation ${AT_5}undefined${THREE}`,
  seenList: `the observation ${AT_5}a list of 3${THREE}`,
  seenDoubles: `the observation ${AT_5}a Float64Array of 3${THREE}`,
  seenIntegers: `the observation ${AT_5}an Int32Array of 3${THREE}`,
  seenRecord: `the observation ${AT_5}a record of x${THREE}`,
  seenNumber: `the observation ${AT_5}3${THREE}`,
  endText: `'terminated' ${AT_5}"yes"${FLAG}`,
  endMissing: `'terminated' ${AT_5}undefined${FLAG}`,
  endNumber: `'terminated' ${AT_5}1${FLAG}`,
  cutText: `'truncated' ${AT_5}"no"${FLAG}`,
  endedNaN: `info.episodes[0].return ${AT_5}NaN${FINITE}`,
  endedNegative:
    `info.episodes[0].length ${AT_5}-5, expected a whole number of at least 1`,
  endedText: `info.episodes[0].terminated ${AT_5}"no"${FLAG}`,
  endedLives: `info.episodes[0].lifeReturns ${AT_5}a list of 2`,
  endedNothing:
    `info.episodes[0] ${AT_5}null, expected a record of return, length, terminated`,
  asyncOnce:
    `the result of step ${AT_5}a promise, expected a record of observation, reward, terminated, truncated: step must not be async`,
  nothing:
    `the result of step ${AT_5}undefined, expected a record of observation`,
  resetNaN: `observation[0] ${AT_0}NaN${FINITE}`,
  resetMissing: `the observation ${AT_0}undefined${THREE}`,
  resetShort: `the observation ${AT_0}a Float32Array of 2${THREE}`,
  resetOutside: `observation[0] ${AT_0}11${BOUNDED}`,
  resetAsync:
    `the observation ${AT_0}a promise${THREE}: reset must not be async`,
  savesMap: `snapshot.seen ${STATE}a Map, expected null, a boolean`,
  savesSet: `snapshot[0] ${STATE}a Set`,
  savesDate: `the snapshot ${STATE}a Date`,
  savesClass: `snapshot.own ${STATE}a Counter`,
  savesFunction: `snapshot.draw ${STATE}a function`,
  savesNothing: `the snapshot ${STATE}undefined`,
  savesHole: `snapshot.best ${STATE}undefined`,
  savesBigInt: `snapshot.seed ${STATE}1n`,
  savesShorts: `the snapshot ${STATE}an Int16Array of 2`,
  savesGap: `snapshot.times ${STATE}a list of 3 with gaps`,
  savesFilledGap: `snapshot.times ${STATE}a list of 3 with gaps`,
  savesVector: `snapshot[0] ${STATE}a Vector of 2`,
  savesStack: `the snapshot ${STATE}a Stack`,
  savesPromise: `the snapshot ${STATE}a promise`,
  savesItself: "nested too deeply, or in itself",
  asyncAlways: "a promise, expected a record of observation, reward",
  spaceMissing: "Cannot use the observationSpace of Wrong-v0",
  spaceHollow: "Cannot use the observationSpace of Wrong-v0",
};

/** Kinds whose numbers are right. */
const RIGHT = ["rewardHuge", "seenRounded", "seenAgain", "actionChanged"];

/** Two environments of which the second one returns wrong data. */
function pair(kind: string): VecEnv {
  const spec = { id: WRONG_ENV };
  return new SyncVecEnv(["none", kind].map((kind) => () => {
    const env = new WrongEnv({ kind, cont: true });
    return Object.assign(env, { spec });
  }));
}

/** Resets, steps over the ends of episodes, and takes a snapshot. */
function play(env: VecEnv): number {
  let sum = 0;
  env.reset({ seed: 0 });
  for (let t = 0; t < 45; t++) {
    const { observations, rewards } = env.step(new Float32Array(2));
    sum += (observations as Float32Array)[3] + Math.min(rewards[1], 1);
  }
  env.save();
  return sum;
}

Deno.test("every kind of wrong data has its case", () => {
  assertEquals(
    [...Object.keys(SAYS), ...RIGHT].sort(),
    [...new Set([...KINDS, ...RIGHT])].sort(),
  );
});

for (const [kind, says] of Object.entries(SAYS)) {
  Deno.test(`SyncVecEnv refuses ${kind} with one clear line`, () => {
    const error = assertThrows(() => play(pair(kind)), TypeError, says);
    assertEquals(error.message.startsWith("Cannot use "), true);
    assertEquals(error.message.includes("\n"), false);
    assertEquals(error instanceof EnvDataError, !kind.startsWith("space"));
  });

  Deno.test(`checkEnv tells of ${kind}`, () => {
    const env = Object.assign(new WrongEnv({ kind, cont: true }), {
      spec: { id: WRONG_ENV },
    });
    const inOne = says.replaceAll(", copy 1", "");
    const [what] = inOne.split(" of Wrong-v0");
    const error = assertThrows(() => checkEnv(env, { render: false }), Error);
    assertEquals(error.message.includes("\n"), false);
    if (!kind.startsWith("space")) {
      assertEquals(error.message.includes(what), true, error.message);
    }
  });
}

Deno.test("what is right has the numbers that were returned", () => {
  const expected = play(pair("none"));
  for (const kind of ["rewardHuge", "seenAgain", "actionChanged"]) {
    assertEquals(play(pair(kind)), expected);
  }
  // Rounding to 32 bits may lead over a bound.
  assertEquals(play(pair("seenRounded")) !== expected, true);
});

Deno.test("the step is counted in the episode of the environment, also after a restore", () => {
  const run = (restored: boolean) => {
    let env = makeVec(WRONG_ENV, {
      numEnvs: 2,
      kwargs: { kind: "rewardNaN", after: 22 },
      recordEpisodes: false,
    });
    env.reset({ seed: 0 });
    for (let t = 0; t < 22; t++) env.step(new Int32Array(2));
    if (restored) {
      const state = env.save();
      env = makeVec(WRONG_ENV, {
        numEnvs: 2,
        kwargs: { kind: "rewardNaN", after: 22 },
        recordEpisodes: false,
      });
      env.load(state);
    }
    for (let t = 0; t < 10; t++) env.step(new Int32Array(2));
  };
  for (const restored of [false, true]) {
    assertRefused({
      "EnvDataError: copy 0, at step 5 of its episode": () => run(restored),
    });
  }
});

Deno.test("observations may leave loose bounds, but are finite", () => {
  const registry: EnvRegistry = new Map();
  register({
    id: "Loose-v0",
    looseBounds: true,
    make: (kwargs) => new WrongEnv(kwargs),
  }, { registry });
  const open = (kind: string) => {
    const kwargs = { kind, cont: true };
    return makeVec("Loose-v0", { numEnvs: 2, registry, kwargs });
  };
  assertEquals(make("Loose-v0", { registry }).spec?.looseBounds, true);
  play(open("seenOutside"));
  for (const kind of ["seenNaN", "seenInfinite", "seenShort"]) {
    assertThrows(() => play(open(kind)), EnvDataError);
  }
});

/** A nested environment whose second step replaces some of what it sees. */
class WrongDict extends DictEnv {
  #parts: Record<string, unknown>;

  constructor(parts: Record<string, unknown>) {
    super();
    this.#parts = parts;
  }

  override step(): StepResult {
    const result = super.step();
    const observation = { ...result.observation as object, ...this.#parts };
    return { ...result, observation } as StepResult;
  }
}

Deno.test("parts of nested observations are named", () => {
  const first = new DictEnv().reset() as Record<string, unknown>;
  const [name] = Object.keys(first);
  for (const part of [undefined, "2", new Float32Array(99), NaN]) {
    const env = new SyncVecEnv([() => new WrongDict({ [name]: part })]);
    env.reset({ seed: 0 });
    assertRefused({
      [`EnvDataError: Cannot use observation[${name}]`]: () =>
        env.step(new Int32Array(1)),
    });
  }
  const more = new SyncVecEnv([() => new WrongDict({ another: 1 })]);
  more.reset({ seed: 0 });
  assertRefused({
    "EnvDataError: expected a record of": () => more.step(new Int32Array(1)),
  });
});

class LateEnv extends WrongEnv {
  override async load(): Promise<void> {}
}

Deno.test("an environment that restores its state later is refused", () => {
  for (const wrap of [false, true]) {
    const make = () => new LateEnv({});
    const env = new SyncVecEnv([wrap ? () => new TimeLimit(make(), 10) : make]);
    env.reset({ seed: 0 });
    const state = env.save();
    assertRefused({
      "EnvDataError: it is a promise, expected nothing: load must not be async":
        () => env.load(state),
    });
  }
  assertRefused({
    "Error: the result of load is a promise": () => checkEnv(new LateEnv({})),
  });
});

/** Wrappers that compute with what they are given, and could hide that it is wrong. */
const WRAPPERS: Record<string, (env: Env) => Env> = {
  ClipReward: (env) => new ClipReward(env),
  FlattenObservation: (env) => new FlattenObservation(env),
  FrameStack: (env) => new FrameStack(env, { size: 2, axis: "first" }),
  NormalizeObservation: (env) => new NormalizeObservation(env),
  NormalizeReward: (env) => new NormalizeReward(env),
  TimeLimit: (env) => new TimeLimit(env, 5),
};

for (const [name, wrap] of Object.entries(WRAPPERS)) {
  Deno.test(`${name} hides no wrong data of the environment inside`, () => {
    for (const [kind, says] of Object.entries(SAYS)) {
      // Bounds are those of what a wrapper returns.
      if (/^(saves|space)|Outside/.test(kind)) continue;
      const make = (kind: string) => () =>
        wrap(new WrongEnv({ kind, cont: true }));
      const env = new SyncVecEnv([make("none"), make(kind)]);
      const line = says.replaceAll("of Wrong-v0", "of an environment");
      const { message } = assertThrows(() => {
        env.reset({ seed: 0 });
        for (let t = 0; t < 5; t++) env.step(new Float32Array(2));
      }, EnvDataError);
      assertEquals(message.includes(line), true, message);
    }
  });
}
