import { assertEquals } from "@std/assert";
import { box } from "../spaces/constructors.ts";
import { DictEnv } from "../testdata/dict_env.ts";
import { testSnapshot } from "../testdata/wrapper_contract.ts";
import { ChainEnv } from "../toy/chain_env.ts";
import {
  FlattenObservation,
  TransformObservation,
} from "./transform_observation.ts";

const space = box({ low: 0, high: 8, shape: [1] });
const makeDoubled = () =>
  new TransformObservation(
    new ChainEnv({ length: 4 }),
    (it) => Float32Array.of(2 * (it as number)),
    { space },
  );

Deno.test("first and later observations are transformed", () => {
  const env = makeDoubled();
  assertEquals(env.observationSpace, space);
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
