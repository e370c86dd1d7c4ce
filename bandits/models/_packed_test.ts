import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  addOuter,
  diagonal,
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
  for (const i of diagonal(d)) packed[i] = 1;
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
    const product = timesVector(packed, x);
    const expected = whole.map((row) => dot(row, x));
    expected.forEach((it, i) => assertAlmostEquals(product[i], it, 1e-10));
    assertAlmostEquals(quadratic(packed, x), dot(expected, x), 1e-9);
  }));
});

Deno.test("an inverse times its matrix is the identity", () => {
  fc.assert(fc.property(vectors, (rows) => {
    const { packed, whole } = matrixOf(rows);
    const found = inverse(packed, rows[0].length, 0);
    whole.forEach((row, i) => {
      const product = timesVector(found, row);
      product.forEach((it, j) => assertAlmostEquals(it, Number(i === j), 1e-9));
    });
  }));
});

Deno.test("a matrix that is not positive definite is made so", () => {
  for (const m of [[1, 2, 4], [1e-30, 1e90, 1e-30], [0, 1e-9, 0]]) {
    const found = inverse(Float64Array.from(m), 2, 1e-30);
    assert(found.every(Number.isFinite) && found[0] > 0 && found[2] > 0);
  }
  assertEquals(inverse(Float64Array.of(1), 1, 3), Float64Array.of(0.25));
});
