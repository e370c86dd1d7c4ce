import { assertEquals } from "@std/assert";
import { box } from "../space_constructors.ts";
import { ChainEnv } from "../toy/chain_env.ts";
import { testSnapshot } from "../testdata/wrapper_contract.ts";
import { TransformObservation } from "./transform_observation.ts";

const space = box({ low: 0, high: 8, shape: [1] });
const make = () =>
  new TransformObservation(
    new ChainEnv({ length: 4 }),
    (it) => Float32Array.of(2 * (it as number)),
    { space },
  );

Deno.test("first and later observations are transformed", () => {
  const env = make();
  assertEquals(env.observationSpace, space);
  assertEquals(env.reset({ seed: 0 }), Float32Array.of(0));
  assertEquals(env.step(0).observation, Float32Array.of(2));
});

testSnapshot("TransformObservation", make);
