import { assert, assertFalse } from "@std/assert";
import { contains } from "./contains.ts";
import type { Space } from "@bellman/types";
import {
  box,
  dict,
  discrete,
  multiBinary,
  multiDiscrete,
  tuple,
} from "./space_constructors.ts";

const pair = box({ low: -1, high: 1, shape: [2] });
const nested = dict({ goal: discrete(3), places: tuple([pair, discrete(2)]) });

const MEMBERS: [Space, unknown][] = [
  [discrete(3), 2],
  [discrete(3, { start: -1 }), -1],
  [pair, Float32Array.of(-1, 1)],
  [box({ shape: [1] }), Float32Array.of(Infinity)],
  [multiDiscrete([2, 3]), Int32Array.of(1, 2)],
  [multiBinary(2), Uint8Array.of(0, 1)],
  [nested, { goal: 0, places: [Float32Array.of(0, 0), 1] }],
];

const STRANGERS: [Space, unknown][] = [
  [discrete(3), 3],
  [discrete(3), -1],
  [discrete(3), 0.5],
  [discrete(3), NaN],
  [discrete(3), "1"],
  [discrete(3, { start: -1 }), 2],
  [pair, Float32Array.of(0, 1.5)],
  [pair, Float32Array.of(0, NaN)],
  [pair, Float32Array.of(0)],
  [pair, Float64Array.of(0, 0)],
  [pair, [0, 0]],
  [pair, null],
  [multiDiscrete([2, 3]), Int32Array.of(2, 0)],
  [multiDiscrete([2, 3]), Int32Array.of(0, -1)],
  [multiBinary(2), Uint8Array.of(0, 2)],
  [nested, { goal: 0 }],
  [nested, { goal: 0, places: [Float32Array.of(0, 0), 1], more: 1 }],
  [nested, { goal: 3, places: [Float32Array.of(0, 0), 1] }],
  [nested, null],
];

for (const [space, value] of MEMBERS) {
  Deno.test(`a member of ${space.type}: ${JSON.stringify(value)}`, () => {
    assert(contains(space, value));
  });
}

for (const [space, value] of STRANGERS) {
  Deno.test(`no member of ${space.type}: ${JSON.stringify(value)}`, () => {
    assertFalse(contains(space, value));
  });
}

Deno.test("a bound that float32 has not is its nearest number, and inside", () => {
  for (const bound of [0.1, 0.7, -0.1, -0.7]) {
    const space = box({ low: bound, high: bound, shape: [1] });
    assert(contains(space, Float32Array.of(bound)));
    assertFalse(contains(space, Float32Array.of(bound + 1e-6)));
    assertFalse(contains(space, Float32Array.of(bound - 1e-6)));
  }
});
