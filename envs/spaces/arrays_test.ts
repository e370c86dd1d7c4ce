import { assertEquals, assertThrows } from "@std/assert";
import { allocateArray, boundAt, elementCount } from "./arrays.ts";
import {
  box,
  dict,
  discrete,
  multiBinary,
  multiDiscrete,
} from "./constructors.ts";

Deno.test("each leaf space has its array and its count", () => {
  assertEquals(allocateArray(discrete(2), 1), new Int32Array(1));
  assertEquals(allocateArray(multiDiscrete([2, 2]), 2), new Int32Array(2));
  assertEquals(allocateArray(multiBinary(3), 3), new Uint8Array(3));
  const image = box({ low: 0, high: 255, shape: [2, 3], dtype: "uint8" });
  assertEquals(allocateArray(image, elementCount(image)), new Uint8Array(6));
  assertEquals(
    allocateArray(box({ dtype: "float64" }), 1),
    new Float64Array(1),
  );
  assertEquals(elementCount(box()), 1);
});

Deno.test("nested spaces have neither", () => {
  const nested = dict({ goal: discrete(2) });
  assertThrows(() => elementCount(nested), TypeError, "flatten it first");
  assertThrows(() => allocateArray(nested, 1), TypeError, "dict space");
});

Deno.test("a bound is one for all or one each", () => {
  assertEquals(boundAt(-1, 5), -1);
  assertEquals(boundAt([3, 4], 1), 4);
});
