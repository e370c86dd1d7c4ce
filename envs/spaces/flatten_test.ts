import type { Space, SpaceValue } from "@bellman/types";
import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { SeededRandom } from "../random.ts";
import { anySpace } from "../testdata/arbitrary_space.ts";
import { box, dict, discrete, multiDiscrete, tuple } from "./constructors.ts";
import {
  flatten,
  flattenedParts,
  flattenedSize,
  flattenedSpace,
  unflatten,
} from "./flatten.ts";
import { contains, sample } from "./values.ts";

/** The value with float64 rounded to float32, which vectors hold. */
function rounded(space: Space, value: SpaceValue): SpaceValue {
  if (value instanceof Float64Array) return value.map(Math.fround);
  if (space.type === "tuple") {
    return space.spaces.map((inner, i) =>
      rounded(inner, (value as SpaceValue[])[i])
    );
  }
  if (space.type !== "dict") return value;
  return Object.fromEntries(
    Object.entries(space.spaces).map(([key, inner]) => [
      key,
      rounded(inner, (value as Record<string, SpaceValue>)[key]),
    ]),
  );
}

Deno.test("a value survives flattening", () => {
  fc.assert(fc.property(anySpace, fc.nat(), (space, seed) => {
    const value = sample(space, new SeededRandom(seed));
    const vector = flatten(space, value);
    assertEquals(vector.length, flattenedSize(space));
    assertEquals(unflatten(space, vector), rounded(space, value));
  }));
});

Deno.test("vectors lie in the flattened space", () => {
  fc.assert(fc.property(anySpace, fc.nat(), (space, seed) => {
    const vector = flatten(space, sample(space, new SeededRandom(seed)));
    assert(contains(flattenedSpace(space), vector));
  }));
});

Deno.test("parts stand in the order of their names, discrete ones one-hot", () => {
  const space = dict({
    goal: discrete(3, { start: 1 }),
    at: box({ low: -1, high: 1, shape: [2] }),
    keys: tuple([multiDiscrete([2, 3])]),
  });
  const value = {
    goal: 2,
    at: Float32Array.of(0.5, -1),
    keys: [Int32Array.of(1, 0)],
  };
  assertEquals([...flatten(space, value)], [0.5, -1, 0, 1, 0, 0, 1, 1, 0, 0]);
  assertEquals(flattenedParts(space), [
    { name: "at", offset: 0, size: 2 },
    { name: "goal", offset: 2, size: 3 },
    { name: "keys.0", offset: 5, size: 5 },
  ]);
  assertEquals(flattenedParts(discrete(3)), [{ name: "", offset: 0, size: 3 }]);
});

Deno.test("a vector of another length is refused", () => {
  assertThrows(
    () => unflatten(discrete(3), new Float32Array(2)),
    RangeError,
    "Cannot unflatten 2 numbers: the space has 3",
  );
});
