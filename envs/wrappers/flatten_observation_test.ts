import { assertEquals } from "@std/assert";
import { DictEnv } from "../testdata/dict_env.ts";
import { testSnapshot } from "../testdata/wrapper_contract.ts";
import { FlattenObservation } from "./flatten_observation.ts";

const make = () => new FlattenObservation(new DictEnv());

Deno.test("records become vectors", () => {
  const env = make();
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

testSnapshot("FlattenObservation", make);
