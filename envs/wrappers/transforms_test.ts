import type { Batch, BoxSpace, VecEnv, VecStep } from "@bellman/types";
import { assertEquals, assertThrows } from "@std/assert";
import { EnvDataError } from "../env_data_error.ts";
import { make, makeVec } from "../mod.ts";
import { box } from "../spaces/constructors.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { DictEnv } from "../testdata/dict_env.ts";
import { testSnapshot } from "../testdata/wrapper_contract.ts";
import { ChainEnv, IdentityEnv } from "../toy/environments.ts";
import { Wrapper } from "./wrapper.ts";
import {
  ClipAction,
  ClipReward,
  FlattenObservation,
  RescaleAction,
  TransformObservation,
  TransformReward,
} from "./transforms.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

const scalar = box({ low: 0, high: 8, shape: [1] });
const makeDoubled = () =>
  new TransformObservation(
    new ChainEnv({ length: 4 }),
    (it) => Float32Array.of(2 * (it as number)),
    { space: scalar },
  );

Deno.test("first and later observations are transformed", () => {
  const env = makeDoubled();
  assertEquals(env.observationSpace, scalar);
  assertEquals(env.reset({ seed: 0 }), Float32Array.of(0));
  assertEquals(env.step(0).observation, Float32Array.of(2));
});

testSnapshot("TransformObservation", makeDoubled);

const makeFlat = () => new FlattenObservation(new DictEnv());

Deno.test("records become vectors", () => {
  const env = makeFlat();
  assertEquals(env.observationSpace, {
    type: "box",
    shape: [5],
    low: [0, 0, 0, 0, 0],
    high: [1, 1, 1, 1, 2],
    dtype: "float32",
  });
  assertEquals(env.reset(), Float32Array.of(1, 0, 0, 0, 0));
  assertEquals(env.step(0).observation, Float32Array.of(0, 1, 0, 0, 0.5));
});

testSnapshot("FlattenObservation", makeFlat);

const space = box({ low: [-1, -2], high: [1, 2] });
const three = (actionSpace: BoxSpace) =>
  new SyncVecEnv(
    Array.from({ length: 3 }, () => () => new IdentityEnv({ actionSpace })),
  );

/** Keeps the actions that reach the environments. */
class Taken extends Wrapper<VecEnv> {
  taken: Batch | undefined;

  override step(actions: Batch): VecStep {
    this.taken = actions;
    return super.step(actions);
  }
}

const KINDS = { clip: ClipAction, rescale: RescaleAction };

function taken(
  Kind: new (env: VecEnv) => VecEnv,
  actions: Batch,
): Batch | undefined {
  const inner = new Taken(three(space)), env = new Kind(inner);
  env.reset();
  env.step(actions);
  return inner.taken;
}

for (const [verb, Kind] of Object.entries(KINDS)) {
  Deno.test(`to ${verb} too few or too many numbers is refused`, () => {
    for (const count of [0, 2, 5, 7]) {
      assertRefused({
        [`RangeError: Cannot ${verb} ${count} numbers of actions: expected 6`]:
          () => taken(Kind, new Float32Array(count)),
      });
    }
    assertRefused({
      [`RangeError: Cannot ${verb} no numbers of actions: expected 6`]: () =>
        taken(Kind, undefined as never),
    });
    assertEquals(taken(Kind, new Float32Array(6))?.length, 6);
  });
}

Deno.test("whole numbers are not stretched", () => {
  const steps = box({ low: -5, high: 5, shape: [2], dtype: "int32" });
  assertRefused({
    "TypeError: Cannot rescale actions of int32: expected floating-point numbers":
      () => new RescaleAction(three(steps)),
  });
});

Deno.test("each element has its own bounds, in every environment", () => {
  const far = new Float32Array(6).fill(9);
  assertEquals(taken(KINDS.clip, far), Float32Array.of(1, 2, 1, 2, 1, 2));
  const half = new Float32Array(6).fill(0.5);
  assertEquals(
    taken(KINDS.rescale, half),
    Float32Array.of(0.5, 1, 0.5, 1, 0.5, 1),
  );
});

Deno.test("actions beyond the bounds are as those on them", () => {
  const step = (action: number, wrapped: boolean) => {
    const env = wrapped
      ? new ClipAction(make("Pendulum-v1"))
      : make("Pendulum-v1");
    env.reset({ seed: 0 });
    return env.step(Float32Array.of(action));
  };
  assertEquals(step(50, true), step(2, false));
  assertEquals(step(-50, true), step(-2, false));
  assertEquals(step(0.5, true), step(0.5, false));
});

Deno.test("its actions have no bounds", () => {
  const { actionSpace } = new ClipAction(make("Pendulum-v1"));
  assertEquals(actionSpace.type === "box" && actionSpace.high, Infinity);
});

Deno.test("other actions than boxes are refused", () => {
  assertRefused({
    "TypeError: Cannot clip actions of a discrete space: expected a box": () =>
      new ClipAction(new ChainEnv()),
  });
});

function reward(
  action: number,
  scaled?: { low?: number; high?: number },
): number {
  const inner = make("Pendulum-v1");
  const env = scaled === undefined ? inner : new RescaleAction(inner, scaled);
  env.reset({ seed: 0 });
  return env.step(Float32Array.of(action)).reward;
}

Deno.test("the range is stretched to the bounds", () => {
  assertEquals(reward(1, {}), reward(2));
  assertEquals(reward(-0.5, {}), reward(-1));
  assertEquals(reward(0, { low: 0, high: 10 }), reward(-2));
  assertEquals(reward(7.5, { low: 0, high: 10 }), reward(1));
});

Deno.test("a range upside down and unbounded actions are refused", () => {
  assertRefused({
    "RangeError: from 1 to 1": () => reward(0, { low: 1 }),
    "RangeError: whose element 0 lies from -Infinity to Infinity": () =>
      new RescaleAction(new ClipAction(make("Pendulum-v1"))),
  });
});

Deno.test("rewards are transformed, the rest is left", () => {
  const plain = new ChainEnv({ length: 2 });
  const env = new TransformReward(new ChainEnv({ length: 2 }), (it) => 3 - it);
  plain.reset({ seed: 0 });
  env.reset({ seed: 0 });
  assertEquals(env.step(0), { ...plain.step(0), reward: 2 });
});

function clipped(reward: number, range = {}): number {
  const env = new ClipReward(
    new TransformReward(new ChainEnv(), () => reward),
    range,
  );
  env.reset({ seed: 0 });
  return env.step(0).reward;
}

Deno.test("rewards are clipped to the range, -1 to 1 without one", () => {
  assertEquals([-7, -0.5, 0, 7].map((it) => clipped(it)), [-1, -0.5, 0, 1]);
  assertEquals(clipped(7, { low: 0, high: 5 }), 5);
});

Deno.test("a range upside down is refused", () => {
  assertThrows(() => clipped(0, { low: 2 }), RangeError, "from 2 to 1");
});
Deno.test("what is no finite number is not clipped to one", () => {
  const odd = [NaN, Infinity, -Infinity];
  for (const reward of [...odd, "1", undefined, 1n] as number[]) {
    assertThrows(() => clipped(reward), EnvDataError, "the reward");
  }
  for (const reward of odd) {
    const inside = makeVec("CartPole-v1", { numEnvs: 1 });
    const env = new ClipReward(new TransformReward(inside, () => reward));
    env.reset({ seed: 0 });
    assertEquals([...env.step(Int32Array.of(0)).rewards], [reward]);
  }
  const vec = makeVec("CartPole-v1", { numEnvs: 1 });
  const text = new TransformReward(vec, () => "1" as unknown as number);
  text.reset({ seed: 0 });
  assertThrows(() => text.step(Int32Array.of(0)), EnvDataError, "the reward");
});

Deno.test("a function of observations gives those of the space", () => {
  const space = box({ shape: [2] });
  for (const wrong of [(it: Float32Array) => it.slice(0, 1), () => undefined]) {
    const transform = wrong as never;
    const one = new TransformObservation(make("CartPole-v1"), transform, {
      space,
    });
    assertThrows(() => one.reset({ seed: 0 }), EnvDataError, "observation");
    const two = new TransformObservation(
      makeVec("CartPole-v1", { numEnvs: 2 }),
      transform,
      { space },
    );
    assertThrows(() => two.reset({ seed: 0 }), EnvDataError, "observation");
  }
});
