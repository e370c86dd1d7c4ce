import { assertEquals, assertStrictEquals } from "@std/assert";
import type { Batch, VecEnv } from "@bellman/types";
import type { MutableStep } from "../_steps.ts";
import { make, makeVec } from "../mod.ts";
import * as wrappers from "../mod.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";
import { testSnapshot, testVecWrapper } from "../testdata/wrapper_contract.ts";
import { ChainEnv } from "../toy/environments.ts";
import { Wrapper } from "./wrapper.ts";
import { TimeLimit } from "./time_limit.ts";

Deno.test("everything is passed on", () => {
  let closed = false;
  const chain = new ChainEnv({ length: 3 });
  chain.close = () => void (closed = true);
  const inner = new TimeLimit(chain, 2, { spec: { id: "Chain-v9" } });
  const env = new Wrapper(inner);
  assertStrictEquals(env.observationSpace, inner.observationSpace);
  assertStrictEquals(env.actionSpace, inner.actionSpace);
  assertEquals(env.spec?.id, "Chain-v9");
  assertEquals(env.reset({ seed: 0 }), 0);
  assertEquals(env.step(0).observation, 1);
  assertEquals(env.render(), inner.render());
  env.close();
  assertEquals(closed, true);
});

testSnapshot("Wrapper", () => new Wrapper(new ChainEnv({ length: 5 })));

Deno.test("everything is passed on", () => {
  const inner = makeVec("CartPole-v1", { numEnvs: 2 });
  const env = new Wrapper(inner);
  assertEquals(env.numEnvs, 2);
  assertStrictEquals(env.observationSpace, inner.observationSpace);
  assertStrictEquals(env.actionSpace, inner.actionSpace);
  assertEquals(env.spec, inner.spec);
  assertStrictEquals(env.reset({ seed: 0 }), inner.observations());
  env.close();
});

testVecWrapper(
  "Wrapper",
  () => new Wrapper(makeVec("CartPole-v1", { numEnvs: 3 })),
);

class Tenth extends Wrapper<VecEnv> {
  #tenth = (batch: Batch) => (batch as Float32Array).map((it) => it / 10);
  protected override changeReset(observations: Batch): Batch {
    return this.#tenth(observations);
  }
  protected override changeStep(step: MutableStep): void {
    step.observations = this.#tenth(step.observations);
    step.finalObservations = this.#tenth(step.finalObservations);
  }
}

Deno.test("a vector's latest observations are the changed ones, after load too", () => {
  const make = () => new Tenth(makeVec("CartPole-v1", { numEnvs: 2 }));
  const env = make(), other = make();
  assertEquals(env.reset({ seed: 1 }), env.observations());
  const { observations } = env.step(Int32Array.of(0, 1));
  assertEquals(env.observations(), observations);
  other.load(env.save());
  assertEquals(other.observations(), observations);
  assertEquals(
    other.step(Int32Array.of(1, 0)).observations,
    env.step(Int32Array.of(1, 0)).observations,
  );
});

Deno.test("options that wrappers and spaces do not have are refused", () => {
  const env = () => make("Pendulum-v1"), as = (it: unknown) => it as never;
  assertRefused({
    "TypeError: Unknown option 'limit' of a time limit: expected spec": () =>
      new wrappers.TimeLimit(env(), 3, as({ limit: 3 })),
    "TypeError: Unknown option 'clips' of a normalizer: did you mean 'clip'?":
      () => new wrappers.NormalizeObservation(env(), as({ clips: 3 })),
    'TypeError: Cannot make a normalizer with clip "3": expected a number':
      () => new wrappers.NormalizeObservation(env(), as({ clip: "3" })),
    "TypeError: Unknown option 'gama' of a normalizer: did you mean 'gamma'?":
      () => new wrappers.NormalizeReward(env(), as({ gama: 0.9 })),
    "TypeError: Unknown option 'hihg' of a range: did you mean 'high'?": () =>
      new wrappers.ClipReward(env(), as({ hihg: 3 })),
    "TypeError: Unknown option 'lo' of a range: did you mean 'low'?": () =>
      new wrappers.RescaleAction(env(), as({ lo: 3 })),
    'TypeError: Cannot make a range with low "0": expected a number': () =>
      new wrappers.RescaleAction(env(), as({ low: "0" })),
    "TypeError: Cannot use undefined as a space": () =>
      new wrappers.TransformObservation(env(), (it) => it, as({})),
    "TypeError: Unknown option 'spase' of a transform: did you mean 'space'?":
      () =>
        new wrappers.TransformObservation(env(), (it) => it, as({ spase: 1 })),
    "TypeError: Unknown option 'type' of a box: did you mean 'dtype'?": () =>
      wrappers.box(as({ type: "float32" })),
    "TypeError: Unknown option 'first' of a discrete space: expected start":
      () => wrappers.discrete(2, as({ first: 1 })),
    "TypeError: Unknown option 'num' of CartPole: expected one of numEnvs, ":
      () => new wrappers.DynamicsVecEnv(wrappers.CART_POLE, as({ num: 1 })),
    "TypeError: Unknown option 'step' of a check of an environment": () =>
      wrappers.checkEnv(env(), as({ step: 3 })),
  });
});
