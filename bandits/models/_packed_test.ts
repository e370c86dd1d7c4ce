import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  addDiagonal,
  addOuter,
  dot,
  inverse,
  packedLength,
  quadratic,
  timesVector,
} from "./_packed.ts";

const number = fc.double({ min: -3, max: 3, noNaN: true });
/** Some vectors of one length. */
const vectors = fc.integer({ min: 1, max: 7 }).chain((d) =>
  fc.array(fc.array(number, { minLength: d, maxLength: d }), {
    minLength: 2,
    maxLength: 10,
  })
);

/** The identity and outer products of vectors: packed, and whole. */
function matrixOf(
  rows: number[][],
): { packed: Float64Array; whole: number[][] } {
  const d = rows[0].length, packed = new Float64Array(packedLength(d));
  addDiagonal(packed, d, 1);
  for (const x of rows) addOuter(packed, x, 1);
  const whole = Array.from({ length: d }, (_, i) =>
    Array.from(
      { length: d },
      (_, j) => rows.reduce((sum, x) => sum + x[i] * x[j], Number(i === j)),
    ));
  return { packed, whole };
}

Deno.test("products of packed matrices are those of whole ones", () => {
  fc.assert(fc.property(vectors, ([x, ...rows]) => {
    const { packed, whole } = matrixOf(rows);
    const product = timesVector(packed, x, new Float64Array(x.length));
    const expected = whole.map((row) => dot(row, x));
    expected.forEach((it, i) => assertAlmostEquals(product[i], it, 1e-10));
    assertAlmostEquals(quadratic(packed, x), dot(expected, x), 1e-9);
  }));
});

Deno.test("an inverse times its matrix is the identity", () => {
  fc.assert(fc.property(vectors, (rows) => {
    const { packed, whole } = matrixOf(rows);
    const found = inverse(packed, rows[0].length)!;
    whole.forEach((row, i) => {
      const product = timesVector(found, row, new Float64Array(row.length));
      product.forEach((it, j) => assertAlmostEquals(it, Number(i === j), 1e-9));
    });
  }));
});

Deno.test("a matrix that is not positive definite has no inverse", () => {
  assertEquals(inverse(Float64Array.of(1, 2, 4), 2), undefined);
  assertEquals(inverse(Float64Array.of(-1), 1), undefined);
  assert(inverse(Float64Array.of(1, 1, 4), 2) !== undefined);
});
