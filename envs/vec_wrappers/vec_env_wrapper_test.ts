import { assertEquals, assertStrictEquals } from "@std/assert";
import { makeVec } from "../mod.ts";
import { testVecWrapper } from "../testdata/wrapper_contract.ts";
import { VecEnvWrapper } from "./vec_env_wrapper.ts";

Deno.test("everything is passed on", () => {
  const inner = makeVec("CartPole-v1", { numEnvs: 2 });
  const env = new VecEnvWrapper(inner);
  assertEquals(env.numEnvs, 2);
  assertStrictEquals(env.observationSpace, inner.observationSpace);
  assertStrictEquals(env.actionSpace, inner.actionSpace);
  assertEquals(env.spec, inner.spec);
  assertStrictEquals(env.reset({ seed: 0 }), inner.observations());
  env.close();
});

testVecWrapper(
  "VecEnvWrapper",
  () => new VecEnvWrapper(makeVec("CartPole-v1", { numEnvs: 3 })),
);
