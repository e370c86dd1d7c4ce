import { assertEquals, assertStrictEquals } from "@std/assert";
import type { Batch, VecEnv } from "@bellman/types";
import type { MutableStep } from "../_steps.ts";
import { makeVec } from "../mod.ts";
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
