import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Space } from "@bellman/types";
import {
  box,
  dict,
  discrete,
  multiBinary,
  multiDiscrete,
  tuple,
} from "./space_constructors.ts";
import { spacesEqual } from "./spaces_equal.ts";
import { anySpace } from "./testdata/arbitrary_space.ts";

Deno.test("a space equals its copy", () => {
  fc.assert(fc.property(anySpace, (space) => {
    assert(spacesEqual(space, structuredClone(space)));
  }));
});

Deno.test("equality is symmetric", () => {
  fc.assert(fc.property(anySpace, anySpace, (a, b) => {
    assertEquals(spacesEqual(a, b), spacesEqual(b, a));
  }));
});

const DIFFERENT: [string, Space, Space][] = [
  ["kind", discrete(2), multiBinary(2)],
  ["count", discrete(2), discrete(3)],
  ["start", discrete(2), discrete(2, { start: 1 })],
  ["bits", multiBinary(2), multiBinary(3)],
  ["counts", multiDiscrete([2, 3]), multiDiscrete([2, 4])],
  ["shape", box({ shape: [2, 1] }), box({ shape: [1, 2] })],
  ["type", box({ shape: [1] }), box({ shape: [1], dtype: "float64" })],
  ["lower bound", box({ low: [0, 0] }), box({ low: [0, -1] })],
  ["upper bound", box({ high: [0, 0] }), box({ high: [0, 1] })],
  ["name", dict({ a: discrete(2) }), dict({ b: discrete(2) })],
  ["inherited name", dict({ toString: discrete(2) }), dict({})],
  ["part", dict({ a: discrete(2) }), dict({ a: discrete(3) })],
  ["length", tuple([discrete(2)]), tuple([discrete(2), discrete(2)])],
];

for (const [what, a, b] of DIFFERENT) {
  Deno.test(`spaces of another ${what} differ`, () => {
    assertEquals([spacesEqual(a, b), spacesEqual(b, a)], [false, false]);
  });
}

Deno.test("one bound equals a list of it, names stand in any order", () => {
  assert(spacesEqual(box({ low: [1, 1] }), box({ low: 1, shape: [2] })));
  const a = { type: "dict", spaces: { x: discrete(1), y: discrete(2) } };
  const b = { type: "dict", spaces: { y: discrete(2), x: discrete(1) } };
  assert(spacesEqual(a as Space, b as Space));
});
