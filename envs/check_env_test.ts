import type {
  BoxArray,
  DictSpace,
  Env,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
} from "@bellman/types";
import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { checkEnv, type CheckEnvOptions, exactText } from "./check_env.ts";
import { Env as BaseEnv, make, registeredIds } from "./mod.ts";
import {
  box,
  dict,
  discrete,
  multiBinary,
  multiDiscrete,
} from "./spaces/constructors.ts";
import { SyncVecEnv } from "./sync_vec_env.ts";
import { DictEnv } from "./testdata/dict_env.ts";
import { MaskedBy } from "./testdata/masked_by.ts";
import { ChainEnv, IdentityEnv } from "./toy/environments.ts";
import { Wrapper } from "./wrappers/wrapper.ts";

Deno.test("what JSON makes alike is told apart", () => {
  const pairs: [unknown, unknown][] = [
    [0, -0],
    [NaN, null],
    [Infinity, -Infinity],
    [Infinity, null],
    [1, "1"],
    [Float32Array.of(0), Float32Array.of(-0)],
    [Float32Array.of(1), Float64Array.of(1)],
    [Float32Array.of(1), [1]],
    [Float32Array.of(1), { 0: 1 }],
    [{ a: { b: 1 } }, { a: { b: 2 } }],
  ];
  for (const [a, b] of pairs) assertNotEquals(exactText(a), exactText(b));
});

Deno.test("two numbers have one text only if they are the same", () => {
  fc.assert(fc.property(fc.double(), fc.double(), (a, b) => {
    assertEquals(exactText(a) === exactText(b), Object.is(a, b));
    const [x, y] = [Float64Array.of(a), Float64Array.of(b)];
    assertEquals(exactText(x) === exactText(y), Object.is(a, b));
  }));
});

Deno.test("what is not plain data is refused", () => {
  const cases: [unknown, string][] = [
    [new Map(), "Cannot compare Map: expected plain data"],
    [{ a: () => 1 }, "Cannot compare function: expected plain data"],
    [[undefined], "Cannot compare undefined: expected plain data"],
  ];
  for (const [value, message] of cases) {
    assertThrows(() => exactText(value), TypeError, message);
  }
});

for (const id of registeredIds()) {
  Deno.test(`${id} keeps its promises`, () => checkEnv(make(id)));
}

Deno.test("so does one whose observations are records", () => {
  checkEnv(new DictEnv());
});

Deno.test("an end that is told again is as good as an error", () => {
  checkEnv(afterEnd((it) => it));
});

/** CartPole, or another environment, with one promise broken. */
function broken(
  change: (env: Env) => Partial<Env>,
  env: Env = make("CartPole-v1"),
): Env {
  const wrapped = new Wrapper(env);
  // Spaces are getters, which cannot be assigned.
  for (const [key, value] of Object.entries(change(env))) {
    Object.defineProperty(wrapped, key, { value });
  }
  return wrapped;
}

const stepped = (change: (result: StepResult) => unknown) =>
  broken((env) => ({
    step: (action) => change(env.step(action)) as StepResult,
  }));

/** Ends at once, and what a step after the end does. */
function afterEnd(step: (result: StepResult) => StepResult): Env {
  let ended = false, last: StepResult;
  return broken((env) => ({
    reset: (options) => {
      ended = false;
      return env.reset(options);
    },
    step: (action) => {
      if (ended) return step(last);
      ended = true;
      return last = { ...env.step(action), terminated: true };
    },
  }));
}

let count = 0;
const reused = new Float32Array(4);
let kept: StateTree[] = [];
let signed = 0;
let zeros: StateTree[] = [];

/** Counts steps in the very array that it was restored from. */
function adopting(): Env {
  let steps = new Float64Array(1);
  return broken((env) => ({
    step: (action) => {
      steps[0]++;
      return env.step(action);
    },
    save: () => ({ env: env.save(), steps: steps.slice() }),
    load: (snapshot) => {
      const own = snapshot as {
        env: StateTree;
        steps: Float64Array<ArrayBuffer>;
      };
      env.load(own.env);
      steps = own.steps;
    },
  }));
}

const BROKEN: [string, Env, string][] = [
  [
    "a seed without effect",
    broken((env) => ({ reset: () => env.reset() })),
    "the same seed and actions gave two different courses",
  ],
  [
    "a course that depends on more than seed and actions",
    stepped((it) => ({ ...it, reward: count++ })),
    "the same seed and actions gave two different courses",
  ],
  [
    "a snapshot without the random stream",
    broken((env) => ({
      load: (snapshot) => {
        env.load((snapshot as Record<string, StateTree>).env);
        env.reset();
      },
    })),
    "after restoring a snapshot, the same actions gave another course",
  ],
  [
    "a snapshot that changes",
    broken((env) => ({
      save: () => kept = [env.save()],
      step: (action) => {
        kept.push(1);
        return env.step(action);
      },
    })),
    "a snapshot changed with later steps: it must be a copy",
  ],
  [
    "a course that differs in the sign of 0 alone",
    stepped((it) => ({ ...it, reward: signed++ < 150 ? 0 : -0 })),
    "the same seed and actions gave two different courses",
  ],
  [
    "a snapshot that changes in the sign of 0 alone",
    broken((env) => ({
      save: () => zeros = [env.save(), Float64Array.of(0)],
      step: (action) => {
        (zeros[1] as Float64Array)?.fill(-0);
        return env.step(action);
      },
    })),
    "a snapshot changed with later steps: it must be a copy",
  ],
  [
    "a snapshot that is gone on with, not copied",
    adopting(),
    "a snapshot changed after it was restored: restoring must copy it",
  ],
  [
    "an observation outside of the space, after an end alone",
    broken((env) => ({
      reset: (options) =>
        options?.seed === undefined ? new Float32Array(3) : env.reset(options),
    })),
    "the observation after a reset is a Float32Array of 3, expected",
  ],
  [
    "a picture without rows",
    broken(() => ({
      render: () => ({ width: 4, height: 0, data: new Uint8Array() }),
    })),
    "its picture is 4 by 0 pixels",
  ],
  [
    "a space that is none",
    broken(() => ({ actionSpace: { type: "discrete", n: 0 } })),
    "its actionSpace is none: Cannot make a discrete space of 0",
  ],
  [
    "a space of no kind",
    broken(() => ({ observationSpace: { type: "sphere" } as never })),
    'its observationSpace is none: Cannot use {"type":"sphere"} as a space',
  ],
  [
    "a part of a space that is none",
    broken(() => ({
      observationSpace: {
        type: "tuple",
        spaces: [{ ...box({ shape: [1] }), dtype: "int8" as never }],
      },
    })),
    "Cannot hold a box in 'int8'",
  ],
  [
    "observations in an array that is reused",
    stepped((it) => {
      reused.set(it.observation as Float32Array);
      return { ...it, observation: reused };
    }),
    "an observation changed with the next step: it must be a copy",
  ],
  [
    "an episode that goes on after its end",
    afterEnd((it) => ({ ...it, terminated: false })),
    "an episode goes on after its termination",
  ],
  [
    "an error of two lines after the end",
    afterEnd(() => {
      throw new Error("one\ntwo");
    }),
    "a step after the end throws something else",
  ],
  [
    "a reward of NaN after the end",
    afterEnd((it) => ({ ...it, reward: NaN })),
    "the reward after a step is NaN, expected a finite number",
  ],
  [
    "a picture of another size",
    broken(() => ({
      render: () => ({ width: 4, height: 4, data: new Uint8Array(16) }),
    })),
    "its picture of 4 by 4 has 16 bytes, not 48",
  ],
];

/** A chain of five steps that masks by its step. */
const masked = (masks: (step: number) => unknown): Env =>
  new MaskedBy(new ChainEnv({ length: 5 }), masks);

let asked = 0;

const MASKED: typeof BROKEN = [
  [
    "an observation that allows nothing",
    masked((step) => Uint8Array.of(step === 3 ? 0 : 1, 0)),
    "the action mask at step 3 of an episode, for the observation 3, is 0 for all 2 choices, expected 1 for at least one",
  ],
  [
    "masks of another size",
    masked(() => new Uint8Array(3).fill(1)),
    "the action mask at step 0 of an episode, for the observation 0, is a Uint8Array of 3, expected a Uint8Array of 2",
  ],
  [
    "masks of other numbers",
    masked(() => Uint8Array.of(1, 2)),
    "actionMasks[1] at step 0 of an episode, for the observation 0, is 2, expected 0 or 1",
  ],
  [
    "masks that change when they are asked for again",
    masked(() => Uint8Array.of(1, asked++ % 2)),
    "its action mask at step 0 of an episode, for the observation 0, changed when it was asked for again",
  ],
  [
    "masks that depend on more than seed and actions",
    masked((step) => Uint8Array.of(1, step > 0 && asked++ > 100 ? 0 : 1)),
    "its action mask at step",
  ],
  [
    "masks of a box",
    new MaskedBy(make("Pendulum-v1"), () => Uint8Array.of(1)),
    "it masks actions that are a box, expected discrete, multiDiscrete or multiBinary ones",
  ],
];

/** Flips of three bits with one promise about goals broken. */
const withGoals = (change: (env: Env) => Partial<Env>): Env =>
  broken(change, make("BitFlip-v0", { kwargs: { bits: 3 } }));

const withSpaces = (spaces: Record<string, Space>): Env =>
  broken(() => ({
    observationSpace: dict(spaces),
    computeReward: (goals) => goals,
  }), new DictEnv());

/** Goals of which each step has one more. */
class Grown extends Wrapper {
  override get observationSpace(): Space {
    const { spaces } = super.observationSpace as DictSpace;
    return dict({ ...spaces, desired_goal: multiBinary(4) });
  }
}

const GOALS: typeof BROKEN = [
  [
    "goals without parts",
    broken(() => ({ computeReward: (goals) => goals })),
    "it has computeReward, but its observations have no observation: expected a dict of observation, achieved_goal, desired_goal",
  ],
  [
    "goals without the one that is desired",
    withSpaces({ observation: multiBinary(1), achieved_goal: multiBinary(1) }),
    "it has computeReward, but its observations have no desired_goal",
  ],
  [
    "ends by goals alone",
    withGoals(() => ({ computeReward: undefined })),
    "it has computeTerminated, expected computeReward beside it",
  ],
  [
    "desired goals of another size",
    new Grown(make("BitFlip-v0", { kwargs: { bits: 3 } })),
    "its desired_goal is 4 bits, expected 3 bits as achieved_goal is",
  ],
  [
    "a reward that does not follow from the goals",
    withGoals((env) => ({
      step: (action) => ({ ...env.step(action), reward: -2 }),
    })),
    "computeReward of the goals of a step is -1, expected its reward, -2",
  ],
  [
    "an end that does not follow from the goals",
    withGoals(() => ({
      computeTerminated: ({ length }) => new Uint8Array(length / 3).fill(1),
    })),
    "computeTerminated of the goals of a step is 1, expected 0 as the step says terminated false",
  ],
  [
    "one result for many rows",
    withGoals((env) => ({
      computeReward: (...goals) => [env.computeReward!(...goals)[0]],
    })),
    "rows gives 1 numbers",
  ],
  ...Object.entries({
    "undefined": undefined,
    "a promise": Promise.resolve([0]),
    "NaN": [NaN],
    "Infinity": [Infinity],
    "-Infinity": Float64Array.of(-Infinity),
    "a number alone": 5,
    "a promise in a row": [Promise.resolve(0)],
  }).map(([name, result]): (typeof BROKEN)[number] => [
    `a reward of goals that is ${name}`,
    withGoals(() => ({ computeReward: () => result as number[] })),
    `computeReward of 1 rows gives ${
      name.replace("a number alone", "5").replace(" in a row", "")
    }`,
  ]),
  [
    "rows of which each has the result of the first",
    withGoals((env) => ({
      computeReward(...goals) {
        const rewards = env.computeReward!(...goals) as Float64Array;
        return rewards.fill(rewards[0]);
      },
    })),
    "rows at once gives row",
  ],
  [
    "a reward that no goal changes",
    withGoals((env) => ({
      step: (action) => ({ ...env.step(action), reward: -1 }),
      computeReward: ({ length }) => new Float64Array(length / 3).fill(-1),
    })),
    "computeReward is -1 whatever goal is desired: hindsight cannot learn from it",
  ],
];

/** A ball between two walls, which gets faster each time that it is hit. */
class Ball extends BaseEnv<Float32Array, number> {
  observationSpace = box({ low: [-1, -5], high: [1, 5] });
  actionSpace = discrete(2);
  ball = Float32Array.of(0, 0);

  /** @param factor Speed after a bounce, relative to before. */
  constructor(readonly factor: number) {
    super();
  }

  reset(options?: { seed?: number }) {
    this.seed(options);
    this.ball = Float32Array.of(0, 0.1);
    return this.ball.slice();
  }

  step(action: number) {
    this.ball[0] += this.ball[1];
    if (Math.abs(this.ball[0]) > 1) {
      this.ball[0] = Math.sign(this.ball[0]);
      this.ball[1] *= action === 1 ? -this.factor : -0.9;
    }
    const end = { terminated: false, truncated: false };
    return { observation: this.ball.slice(), reward: 0, ...end };
  }
}

Deno.test("found: a ball that gets faster without limit, by repeated actions", () => {
  checkEnv(new Ball(1));
  checkEnv(new Ball(1.05), { playSteps: 0 });
  assertThrows(
    () => checkEnv(new Ball(1.05), { now: () => 0 }),
    Error,
    "expected a number from -5 to 5, unless register says looseBounds: true; at step",
  );
});

Deno.test("long play ends with its steps, or its seconds", () => {
  const stepsWith = (options: CheckEnvOptions) => {
    let steps = 0, time = 0;
    const env = broken((env) => ({
      step: (action) => {
        steps++;
        time += 10;
        return env.step(action);
      },
    }), new Ball(1));
    checkEnv(env, { steps: 10, render: false, now: () => time, ...options });
    return steps;
  };
  const before = stepsWith({ playSteps: 0 });
  assertEquals(stepsWith({ playSteps: 70 }) - before, 70);
  assertEquals(stepsWith({}) - before, 200);
  assertEquals(stepsWith({ playSeconds: 0.5 }) - before, 50);
  assertEquals(stepsWith({ playSeconds: 1000 }) - before, 10_000);
});

Deno.test("a goal may be cut off where none ends an episode", () => {
  checkEnv(make("BitFlip-v0", { kwargs: { bits: 9 }, maxEpisodeSteps: 2 }));
});

Deno.test("masked environments are stepped by allowed actions only", () => {
  const taken = new Set<SpaceValue>();
  class Watched extends Wrapper {
    override step(action: SpaceValue): StepResult {
      taken.add(action);
      return super.step(action);
    }
  }
  checkEnv(new Watched(masked(() => Uint8Array.of(0, 1))));
  assertEquals([...taken], [1]);
  // An end state may allow nothing.
  checkEnv(masked((step) => Uint8Array.of(0, step === 5 ? 0 : 1)));
  for (const actionSpace of [multiDiscrete([2, 3]), multiBinary(3)]) {
    checkEnv(new IdentityEnv({ actionSpace, masked: true }));
  }
});

Deno.test("found: a restored environment with other masks", () => {
  class Forgetful extends MaskedBy {
    protected override loadOwnState(): void {}
  }
  const env = new Forgetful(
    new ChainEnv({ length: 7 }),
    (step) => Uint8Array.of(1, step % 2),
  );
  assertThrows(
    () => checkEnv(env, { steps: 20 }),
    Error,
    "after restoring a snapshot, the same actions gave another course",
  );
});

for (const [name, env, message] of [...BROKEN, ...MASKED, ...GOALS]) {
  Deno.test(`found: ${name}`, () => {
    const error = assertThrows(() => checkEnv(env), Error, message);
    assertEquals(error.message.split("\n").length, 1);
    assertEquals(error.message.startsWith("The environment is broken: "), true);
  });
}

Deno.test("an unchecked environment's goals are refused where they are used", () => {
  for (const reward of [undefined, Promise.resolve([0]), [NaN], [Infinity]]) {
    const computeReward = () => reward as number[];
    const env = new SyncVecEnv([() => withGoals(() => ({ computeReward }))]);
    const { achieved_goal: goal } = env.reset() as Record<string, BoxArray>;
    assertThrows(
      () => env.computeReward!(goal, goal),
      TypeError,
      `: computeReward of 1 rows gives ${
        reward instanceof Promise ? "a promise" : reward?.[0]
      }`,
    );
  }
});
