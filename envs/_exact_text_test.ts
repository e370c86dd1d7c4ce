import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { exactText } from "./_exact_text.ts";

Deno.test("what JSON makes alike is told apart", () => {
  const pairs: [unknown, unknown][] = [
    [0, -0],
    [NaN, null],
    [Infinity, -Infinity],
    [Infinity, null],
    [1, "1"],
    [Float32Array.of(0), Float32Array.of(-0)],
    [Float32Array.of(1), Float64Array.of(1)],
    [Float32Array.of(1), [1]],
    [Float32Array.of(1), { 0: 1 }],
    [{ a: { b: 1 } }, { a: { b: 2 } }],
  ];
  for (const [a, b] of pairs) assertNotEquals(exactText(a), exactText(b));
});

Deno.test("two numbers have one text only if they are the same", () => {
  fc.assert(fc.property(fc.double(), fc.double(), (a, b) => {
    assertEquals(exactText(a) === exactText(b), Object.is(a, b));
    const [x, y] = [Float64Array.of(a), Float64Array.of(b)];
    assertEquals(exactText(x) === exactText(y), Object.is(a, b));
  }));
});

Deno.test("what is not plain data is refused", () => {
  const cases: [unknown, string][] = [
    [new Map(), "Cannot compare Map: expected plain data"],
    [{ a: () => 1 }, "Cannot compare function: expected plain data"],
    [[undefined], "Cannot compare undefined: expected plain data"],
  ];
  for (const [value, message] of cases) {
    assertThrows(() => exactText(value), TypeError, message);
  }
});
