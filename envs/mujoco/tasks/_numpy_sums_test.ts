import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  actionCost,
  sumOf,
  sumOfSingleSquares,
  sumOfSquares,
} from "./_numpy_sums.ts";

const numbers = fc.float64Array({
  noNaN: true,
  noDefaultInfinity: true,
  min: -1e3,
  max: 1e3,
  maxLength: 400,
});

Deno.test("sums are those of the plain order but for rounding", () => {
  fc.assert(fc.property(numbers, (values) => {
    const plain = values.reduce((sum, it) => sum + it, 0);
    const size = values.reduce((sum, it) => sum + Math.abs(it), 0);
    assert(Math.abs(sumOf(values) - plain) <= 1e-12 * size);
    const squares = values.map((it) => it * it);
    assertEquals(sumOfSquares(values), sumOf(squares));
    const clipped = values.map((it) => Math.min(Math.max(it, -2), 3) ** 2);
    const wanted = sumOf(clipped);
    assert(Math.abs(sumOfSquares(values, -2, 3) - wanted) <= 1e-12 * wanted);
  }));
});

// Computed by NumPy 2.4: numpy.sum(1 / numpy.arange(1, n + 1)) and its likes.
Deno.test("sums have NumPy's last digits", () => {
  const inverse = (n: number) =>
    Float64Array.from({ length: n }, (_, i) => 1 / (i + 1));
  assertEquals([7, 84, 300].map((n) => sumOf(inverse(n))), [
    2.5928571428571425,
    5.013973034584928,
    6.282663880299504,
  ]);
  const roots = (n: number) =>
    Float32Array.from({ length: n }, (_, i) => Math.sqrt(i + 1) / 3);
  assertEquals(
    [6, 8, 17].map((n) => sumOfSingleSquares(roots(n))),
    [2.3333334922790527, 4, 17],
  );
  assertEquals(
    actionCost(0.1, roots(6)),
    0.23333334922790527,
  );
});
