import { assert, assertEquals, assertThrows } from "@std/assert";
import { contains } from "../../spaces/values.ts";
import { SeededRandom } from "../../random.ts";
import type { BoxSpace } from "@bellman/types";
import { box } from "../../spaces/constructors.ts";
import { ChainEnv } from "../../toy/chain_env.ts";
import { testSnapshot } from "../../testdata/wrapper_contract.ts";
import { TransformObservation } from "../../wrappers/transform_observation.ts";
import { AreaResizer } from "../preprocess/area_resizer.ts";
import { toGray } from "../preprocess/gray.ts";
import { PreprocessFrame } from "./preprocess_frame.ts";

const SCREEN = { width: 160, height: 210 };

/** A chain that shows noise: another screen at each place. */
function screens(...shape: number[]): TransformObservation {
  const space = box({ low: 0, high: 255, shape, dtype: "uint8" });
  return new TransformObservation(new ChainEnv({ length: 5 }), (place) => {
    const random = new SeededRandom(place as number);
    const size = shape.reduce((product, it) => product * it, 1);
    return new Uint8Array(size).map(() => random.integer(256));
  }, { space });
}

for (const shape of [[210, 160, 3], [210, 160], [210, 160, 1]]) {
  Deno.test(`screens of shape [${shape}] become small and gray`, () => {
    const inner = screens(...shape),
      env = new PreprocessFrame(screens(...shape));
    const expected = (pixels: unknown) =>
      new AreaResizer(SCREEN, { width: 84, height: 84 }).resize(
        shape[2] === 3 ? toGray(pixels as Uint8Array) : pixels as Uint8Array,
      );
    assertEquals((env.observationSpace as BoxSpace).shape, [84, 84, 1]);
    const first = env.reset({ seed: 0 });
    assertEquals(first, expected(inner.reset({ seed: 0 })));
    const { observation } = env.step(0);
    assertEquals(observation, expected(inner.step(0).observation));
    assert(contains(env.observationSpace, observation));
    // What was returned belongs to the caller.
    assertEquals(first, expected(inner.reset({ seed: 0 })));
  });
}

Deno.test("frames may have any size", () => {
  const env = new PreprocessFrame(screens(20, 30, 3), {
    size: { width: 7, height: 5 },
  });
  assertEquals((env.observationSpace as BoxSpace).shape, [5, 7, 1]);
  assertEquals((env.reset({ seed: 0 }) as Uint8Array).length, 35);
});

Deno.test("what is no picture is refused", () => {
  for (const env of [new ChainEnv(), screens(4), screens(2, 2, 4)]) {
    assertThrows(
      () => new PreprocessFrame(env),
      TypeError,
      "Cannot preprocess frames of",
    );
  }
});

testSnapshot("PreprocessFrame", () => new PreprocessFrame(screens(9, 8, 3)));
