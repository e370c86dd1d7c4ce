import { assert, assertEquals, assertThrows } from "@std/assert";
import { contains } from "../contains.ts";
import { box } from "../space_constructors.ts";
import { testSnapshot } from "../testdata/wrapper_contract.ts";
import { ChainEnv } from "../toy/chain_env.ts";
import { FrameStack } from "./frame_stack.ts";
import { TransformObservation } from "./transform_observation.ts";

/** Pictures of 1 by 2 pixels and 2 channels that tell the position. */
function pictures(length: number): TransformObservation {
  const space = box({ low: 0, high: 99, shape: [1, 2, 2], dtype: "uint8" });
  return new TransformObservation(new ChainEnv({ length }), (it) => {
    const n = it as number;
    return Uint8Array.of(n, 10 + n, 20 + n, 30 + n);
  }, { space });
}

const make = () => new FrameStack(pictures(6), { size: 3 });

Deno.test("frames are stacked along the channels, oldest first", () => {
  const env = make();
  const { observationSpace } = env;
  assertEquals(
    observationSpace.type === "box" && observationSpace.shape,
    [1, 2, 6],
  );
  env.reset({ seed: 0 });
  env.step(0);
  const { observation } = env.step(0);
  assertEquals(
    observation,
    Uint8Array.of(0, 10, 1, 11, 2, 12, 20, 30, 21, 31, 22, 32),
  );
  assert(contains(observationSpace, observation));
});

Deno.test("before the first frame stands the first one, or zeros", () => {
  const repeated = Uint8Array.of(0, 10, 0, 10, 20, 30, 20, 30);
  const zeros = Uint8Array.of(0, 0, 0, 10, 0, 0, 20, 30);
  for (
    const [padding, first] of [["reset", repeated], ["zero", zeros]] as const
  ) {
    const env = new FrameStack(pictures(6), { size: 2, padding });
    env.reset({ seed: 0 });
    env.step(0);
    assertEquals(env.reset(), first);
  }
});

Deno.test("zeros before the first frame lie in the space", () => {
  const space = box({ low: 2, high: 4, shape: [1] });
  const inner = () =>
    new TransformObservation(new ChainEnv(), () => Float32Array.of(3), {
      space,
    });
  for (const padding of ["reset", "zero"] as const) {
    const env = new FrameStack(inner(), { size: 2, padding });
    assert(contains(env.observationSpace, env.reset({ seed: 0 })));
  }
  const { observationSpace } = new FrameStack(inner(), { size: 2 });
  assertEquals(observationSpace.type === "box" && observationSpace.low, 2);
});

Deno.test("what cannot be stacked is refused", () => {
  assertThrows(
    () => new FrameStack(new ChainEnv()),
    TypeError,
    "Cannot stack observations of a discrete space",
  );
  assertThrows(
    () => new FrameStack(pictures(2), { size: 0 }),
    RangeError,
    "Cannot stack 0 observations",
  );
});

testSnapshot("FrameStack", make);
