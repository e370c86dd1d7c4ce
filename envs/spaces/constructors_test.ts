import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { anySpace } from "../testdata/arbitrary_space.ts";
import {
  box,
  dict,
  discrete,
  multiBinary,
  multiDiscrete,
  tuple,
} from "./constructors.ts";

Deno.test("spaces are plain data that survives JSON", () => {
  fc.assert(fc.property(anySpace, (space) => {
    const finite = JSON.stringify(space);
    if (finite.includes("null")) return; // Infinity has no form in JSON.
    assertEquals(JSON.parse(finite), space);
  }));
});

Deno.test("a box takes its shape from its bounds", () => {
  assertEquals(box({ low: [0, 0, 0], high: 1 }).shape, [3]);
  assertEquals(box({ low: 0, high: 1 }).shape, []);
});

Deno.test("spaces do not change with what they were made from", () => {
  const shape = [2];
  const spaces = { goal: discrete(2) };
  const made = [box({ shape }), dict(spaces), tuple([discrete(2)])];
  const low = [0, 0];
  const bounded = box({ low, high: 1 });
  low[0] = 1;
  assertEquals(bounded.low, [0, 0]);
  shape[0] = 9;
  assertEquals(made[0].type === "box" && made[0].shape, [2]);
});

Deno.test("what makes no space is one clear line", () => {
  const cases: [() => unknown, string][] = [
    [() => discrete(0), "Cannot make a discrete space of 0"],
    [() => discrete(1.5), "Cannot make a discrete space of 1.5"],
    [() => multiDiscrete([2, 0]), "Cannot make a multi-discrete space of 0"],
    [() => multiBinary(-1), "Cannot make a multi-binary space of -1"],
    [() => box({ low: [0, 0], shape: [3] }), "with 2 bounds: expected 3"],
    [() => box({ low: 1, high: 0, shape: [1] }), "lies from 1 to 0"],
    [() => box({ low: NaN, shape: [1] }), "lies from NaN to Infinity"],
  ];
  for (const [make, message] of cases) {
    assertThrows(make, RangeError, message);
  }
});
