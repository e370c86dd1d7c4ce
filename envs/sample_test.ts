import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { contains } from "./contains.ts";
import { SeededRandom } from "./random.ts";
import { sample } from "./sample.ts";
import type { BoxArray } from "@bellman/types";
import { box, discrete } from "./space_constructors.ts";
import { anySpace } from "./testdata/arbitrary_space.ts";

Deno.test("a sample of any space lies in it", () => {
  fc.assert(fc.property(anySpace, fc.nat(), (space, seed) => {
    const random = new SeededRandom(seed);
    for (let i = 0; i < 5; i++) {
      const value = sample(space, random);
      assert(contains(space, value), JSON.stringify({ space, value }));
    }
  }));
});

Deno.test("the same seed samples the same values", () => {
  fc.assert(fc.property(anySpace, fc.nat(), (space, seed) => {
    const draw = () => sample(space, new SeededRandom(seed));
    assertEquals(draw(), draw());
  }));
});

Deno.test("discrete values are equally likely, boxes flat", () => {
  const random = new SeededRandom(1);
  const counts = [0, 0, 0];
  let sum = 0;
  for (let i = 0; i < 30_000; i++) {
    counts[sample(discrete(3), random) as number]++;
    sum +=
      (sample(box({ low: 2, high: 4, shape: [1] }), random) as BoxArray)[0];
  }
  for (const count of counts) assertAlmostEquals(count, 10_000, 400);
  assertAlmostEquals(sum / 30_000, 3, 0.02);
});

Deno.test("whole numbers of a box reach both bounds", () => {
  const space = box({ low: 0, high: 2, shape: [1], dtype: "uint8" });
  const random = new SeededRandom(0);
  const seen = new Set<number>();
  for (let i = 0; i < 200; i++) {
    seen.add((sample(space, random) as BoxArray)[0]);
  }
  assertEquals([...seen].sort(), [0, 1, 2]);
});

Deno.test("samples at the very bounds lie in the space", () => {
  const ends = [-3.3, -0.7, -0.1, 0, 0.1, 0.7, 3.3];
  for (const uniform of [0, 0.5, 1 - 2 ** -53]) {
    const random = {
      uniform: () => uniform,
      normal: () => 0,
      integer: () => 0,
    };
    for (const low of ends) {
      for (const high of ends.filter((it) => it >= low)) {
        for (const range of [{ low, high }, { low }, { high }]) {
          const space = box({ ...range, shape: [1] });
          const value = sample(space, random);
          assert(contains(space, value), `${low} to ${high}: ${value}`);
        }
      }
    }
  }
});
