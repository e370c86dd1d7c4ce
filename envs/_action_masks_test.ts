import type { Env, Space, SpaceValue } from "@bellman/types";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { make, makeVec } from "./mod.ts";
import { deriveSeed, SeededRandom } from "./random.ts";
import { actionChoices } from "./spaces/choices.ts";
import { readRow } from "./spaces/batch.ts";
import {
  box,
  dict,
  discrete,
  multiBinary,
  multiDiscrete,
} from "./spaces/constructors.ts";
import { sample } from "./spaces/values.ts";
import { SyncVecEnv } from "./sync_vec_env.ts";
import { leafSpace } from "./testdata/arbitrary_space.ts";
import { MaskedBy } from "./testdata/masked_by.ts";
import { randomActions } from "./testdata/play.ts";
import { testVecWrapper } from "./testdata/wrapper_contract.ts";
import { ChainEnv, IdentityEnv } from "./toy/environments.ts";
import { TimeLimit } from "./wrappers/time_limit.ts";
import { assertRefused } from "../tests/testdata/refused.ts";

/** Masks other actions than those of the environment inside. */
class Spaced extends MaskedBy {
  #space: Space;

  constructor(env: Env, space: Space) {
    super(env, ALL);
    this.#space = space;
  }

  override get actionSpace(): Space {
    return this.#space;
  }
}

const maskedSpace = leafSpace.filter((it) => it.type !== "box");
const options = (actionSpace: Space) => ({
  numEnvs: 3,
  maxEpisodeSteps: 4,
  kwargs: { actionSpace, masked: true },
});

Deno.test("rows are those of the single environments, final ones too", () => {
  fc.assert(fc.property(maskedSpace, fc.nat(99), (actionSpace, seed) => {
    const vec = makeVec("Identity-v0", options(actionSpace));
    const { numEnvs: _, ...single } = options(actionSpace);
    const envs = [0, 1, 2].map(() => make("Identity-v0", single));
    const size = actionChoices(actionSpace)!.reduce((a, b) => a + b);
    assertEquals(vec.actionMasks, new Uint8Array(3 * size).fill(1));
    const row = (masks: Uint8Array, i: number) =>
      masks.slice(i * size, (i + 1) * size);
    vec.reset({ seed });
    envs.forEach((env, i) => {
      env.reset({ seed: deriveSeed(seed, i) });
      assertEquals(row(vec.actionMasks!, i), env.actionMasks!());
    });
    const random = new SeededRandom(seed);
    for (let t = 0; t < 10; t++) {
      const batch = randomActions(vec, random), step = vec.step(batch);
      envs.forEach((env, i) => {
        const action = readRow(actionSpace, { batch, row: i });
        const { reward, truncated } = env.step(action);
        assert(reward >= 0, "a forbidden action was drawn");
        assertEquals(truncated, t % 4 === 3);
        if (truncated) {
          const final = row(step.finalActionMasks!, i);
          assertEquals(final, env.actionMasks!());
          env.reset();
        }
        assertEquals(row(step.actionMasks!, i), env.actionMasks!());
      });
      assertEquals(vec.actionMasks, step.actionMasks);
    }
  }));
});

Deno.test("bits have the choice of 0, then that of 1; numbers all of theirs", () => {
  const cases: [Space, masks: number[], only: SpaceValue][] = [
    [multiBinary(2), [1, 0, 0, 1], Uint8Array.of(0, 1)],
    [multiDiscrete([2, 3]), [0, 1, 0, 0, 1], Int32Array.of(1, 2)],
    [discrete(3, { start: -1 }), [0, 0, 1], 1],
  ];
  for (const [space, masks, only] of cases) {
    const random = new SeededRandom(0);
    for (let i = 0; i < 20; i++) {
      assertEquals(sample(space, random, Uint8Array.from(masks)), only);
    }
  }
});

Deno.test("allowed choices are drawn uniformly, and unmasked ones as before", () => {
  fc.assert(fc.property(maskedSpace, fc.nat(), (space, seed) => {
    const size = actionChoices(space)!.reduce((a, b) => a + b);
    assertEquals(
      sample(space, new SeededRandom(seed), new Uint8Array(size).fill(1)),
      sample(space, new SeededRandom(seed)),
    );
  }));
  const random = new SeededRandom(3), counts = [0, 0, 0, 0];
  for (let i = 0; i < 30_000; i++) {
    counts[sample(discrete(4), random, Uint8Array.of(1, 0, 1, 1)) as number]++;
  }
  assertEquals(counts[1], 0);
  // Five standard errors.
  for (const i of [0, 2, 3]) assert(Math.abs(counts[i] - 10_000) < 410);
});

Deno.test("nothing masked has no masks, alone or wrapped", () => {
  const vec = makeVec("Identity-v0", { numEnvs: 2 });
  vec.reset({ seed: 0 });
  const step = vec.step(new Int32Array(2));
  assertEquals(
    [vec.actionMasks, step.actionMasks, step.finalActionMasks],
    [undefined, undefined, undefined],
  );
  assertEquals(make("Identity-v0").actionMasks, undefined);
});

Deno.test("a restored vector environment has the masks of its observations", () => {
  for (const steps of [0, 2, 3, 4]) {
    const vec = makeVec("Identity-v0", options(discrete(5)));
    const before = vec.save();
    vec.reset({ seed: 1 });
    const random = new SeededRandom(1);
    for (let t = 0; t < steps; t++) vec.step(randomActions(vec, random));
    const snapshot = vec.save(), masks = vec.actionMasks!.slice();
    const other = makeVec("Identity-v0", options(discrete(5)));
    other.load(snapshot);
    assertEquals(other.actionMasks, masks);
    other.load(before);
    assertEquals(other.actionMasks, new Uint8Array(15).fill(1));
  }
});

function chains(...masks: ((step: number) => unknown)[]): SyncVecEnv {
  return new SyncVecEnv(masks.map((it) => () =>
    new MaskedBy(
      new TimeLimit(new ChainEnv({ length: 3 }), 5, {
        spec: { id: "Walk-v0" },
      }),
      it,
    )
  ));
}

const ALL = () => Uint8Array.of(1, 1);
const NONE = () => new Uint8Array(2);

Deno.test("a wrapper may mask by itself, whatever is inside", () => {
  const vec = chains(ALL, (step) => Uint8Array.of(1, step === 1 ? 0 : 1));
  vec.reset({ seed: 0 });
  assertEquals([...vec.step(Int32Array.of(0, 0)).actionMasks!], [1, 1, 1, 0]);
  const inside = new IdentityEnv({ masked: true });
  assertEquals(new MaskedBy(inside, NONE).actionMasks(), NONE());
});

Deno.test("an end state may allow nothing, as nothing follows it", () => {
  const vec = chains((step) => step === 3 ? NONE() : Uint8Array.of(0, 1));
  vec.reset({ seed: 0 });
  for (const ends of [false, false, true]) {
    const step = vec.step(Int32Array.of(1));
    assertEquals(step.terminated[0] === 1, ends);
    assertEquals([...step.actionMasks!], [0, 1]);
    if (ends) assertEquals([...step.finalActionMasks!], [1, 1]);
  }
});

const AT_2 = "Walk-v0, copy 1, at step 2 of its episode: it is";

Deno.test("masks that cannot be used name environment, copy and step", () => {
  const at = (step: number, masks: unknown) => () => {
    const vec = chains(ALL, (it) => it === step ? masks : ALL());
    vec.reset({ seed: 0 });
    vec.step(Int32Array.of(0, 0));
    vec.step(Int32Array.of(0, 0));
  };
  assertRefused({
    [`EnvDataError: Cannot use the action mask of ${AT_2} 0 for all 2 choices, expected 1 for at least one`]:
      at(2, NONE()),
    [`EnvDataError: the action mask of ${AT_2} a Uint8Array of 3, expected a Uint8Array of 2`]:
      at(2, new Uint8Array(3)),
    [`EnvDataError: the action mask of ${AT_2} a list of 2, expected a Uint8Array of 2`]:
      at(2, [true, false]),
    [`EnvDataError: the action mask of ${AT_2} undefined, expected a Uint8Array of 2`]:
      at(2, undefined),
    [`EnvDataError: Cannot use actionMasks[1] of ${AT_2} 255, expected 0 or 1`]:
      at(2, Uint8Array.of(1, 255)),
    "EnvDataError: the action mask of Walk-v0, copy 1, at the start of its episode: it is 0 for all 2 choices":
      at(0, NONE()),
  });
});

Deno.test("each part, and each bit, needs a choice; a truncated end as well", () => {
  const step = (actionSpace: Space, ...masks: number[]) => () => {
    const env = new TimeLimit(new IdentityEnv({ actionSpace }), 1);
    const all = Uint8Array.from(masks, () => 1);
    const masked = new MaskedBy(
      env,
      (at) => at === 1 ? Uint8Array.from(masks) : all,
    );
    const vec = new SyncVecEnv([() => masked]);
    vec.reset({ seed: 0 });
    vec.step(
      actionSpace.type === "multiBinary"
        ? new Uint8Array(2)
        : new Int32Array(2),
    );
  };
  assertRefused({
    "EnvDataError: Cannot use part 1 of the action mask of an environment, copy 0, at step 1 of its episode: it is 0 for all 3 choices, expected 1 for at least one":
      step(multiDiscrete([2, 3]), 1, 1, 0, 0, 0),
    "EnvDataError: Cannot use part 0 of the action mask": step(
      multiBinary(2),
      ...[0, 0, 1, 1],
    ),
  });
});

Deno.test("masks of boxes, of nested actions, or of some copies are refused", () => {
  const masked = (actionSpace: Space) => () =>
    new SyncVecEnv([() => new Spaced(new ChainEnv(), actionSpace)]);
  assertRefused({
    "TypeError: Cannot mask the actions of an environment, which are a box: expected discrete, multiDiscrete or multiBinary ones":
      masked(box({ shape: [1] })),
    "TypeError: Cannot mask the actions of an environment, which are a dict":
      masked(dict({ a: discrete(2) })),
    "TypeError: Cannot mask the actions of an identity environment, which are a box":
      () =>
        makeVec("Identity-v0", options(box({ low: 0, high: 1, shape: [2] }))),
    "RangeError: Cannot step copies together of which only some mask their actions: copy 1 does, copy 0 does not":
      () =>
        new SyncVecEnv([
          () => new IdentityEnv(),
          () => new IdentityEnv({ masked: true }),
        ]),
  });
});

testVecWrapper(
  "masks",
  () => makeVec("Identity-v0", options(multiDiscrete([2, 3]))),
);
