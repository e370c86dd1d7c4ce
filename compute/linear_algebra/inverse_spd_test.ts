import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  diagonalMatrix,
  EPSILON,
  frobenius,
  largestDifference,
  matrixOf,
  product,
  randomPositive,
  transposed,
  withEigenvalues,
} from "./_testing.ts";
import { inverseSpd } from "./inverse_spd.ts";
import golden from "./testdata/golden.json" with { type: "json" };

/** Checks A X = I up to rounding times the condition number, and symmetry. */
function assertInverts(matrix: Float64Array, size: number): Float64Array {
  const inverse = inverseSpd(matrix, { size });
  assertEquals(inverse, transposed(inverse, size));
  const identity = diagonalMatrix(new Float64Array(size).fill(1));
  const residual = largestDifference(
    product(matrix, inverse, size),
    identity,
  );
  const condition = frobenius(matrix) * frobenius(inverse);
  const bound = (4 + size) * EPSILON * condition;
  assert(residual <= bound, `residual ${residual} above ${bound}`);
  return inverse;
}

const sizes = fc.integer({ min: 1, max: 40 });
const seeds = fc.integer({ min: 1, max: 2 ** 30 });

Deno.test("a matrix times its inverse is the identity", () => {
  fc.assert(
    fc.property(sizes, seeds, (size, seed) => {
      assertInverts(randomPositive(seed, size), size);
    }),
    { seed: 1, numRuns: 150 },
  );
  for (const size of [63, 64, 65, 96, 130, 257]) {
    assertInverts(randomPositive(size, size), size);
  }
});

Deno.test("residuals follow the condition number, up to 1e14", () => {
  for (const power of [2, 6, 10, 14]) {
    const values = Float64Array.from(
      { length: 50 },
      (_, i) => 10 ** (-power * i / 49),
    );
    assertInverts(withEigenvalues(values, power), 50);
  }
  assertInverts(matrixOf(10, (i, j) => 1 / (i + j + 1)), 10);
});

Deno.test("graded matrices keep each number's digits", () => {
  const grades = Float64Array.from(
    { length: 30 },
    (_, i) => 2 ** (-40 + Math.floor(80 * i / 29)),
  );
  const base = randomPositive(3, 30, { shift: 1 });
  const scale = (at: number) => grades[at % 30] * grades[Math.floor(at / 30)];
  const graded = inverseSpd(base.map((it, at) => it * scale(at)));
  const error = largestDifference(
    graded.map((it, at) => it * scale(at)),
    inverseSpd(base),
  );
  assert(error < 1e-12, `${error}`);
});

Deno.test("numpy's inverses are found", () => {
  for (const { size, matrix, inverse } of golden.cases) {
    const expected = new Float64Array(inverse);
    const error = largestDifference(
      inverseSpd(new Float64Array(matrix), { size }),
      expected,
    );
    const bound = 1e-12 * largestDifference(expected);
    assert(error <= bound, `size ${size} is off by ${error}`);
  }
});

Deno.test("single precision is read and returned, and worked on in double", () => {
  const matrix = Float32Array.from(randomPositive(9, 30));
  const exact = inverseSpd(Float64Array.from(matrix));
  assertEquals(inverseSpd(matrix), Float32Array.from(exact));
});

Deno.test("the input stays, the same input gives the same result", () => {
  const matrix = randomPositive(4, 70);
  const copy = matrix.slice();
  const first = inverseSpd(matrix);
  inverseSpd(randomPositive(5, 90));
  assertEquals(matrix, copy);
  assertEquals(inverseSpd(matrix), first);
});

Deno.test("bad inputs are refused in one line", () => {
  const refused = (matrix: Float64Array, text: string) =>
    assertThrows(
      () => inverseSpd(matrix),
      RangeError,
      `Cannot invert a matrix ${text}`,
    );
  refused(
    new Float64Array([1, 2, 2, 1]),
    "that is not positive definite: pivot 1 is -3",
  );
  refused(new Float64Array(4), "that is not positive definite: pivot 0 is 0");
  refused(new Float64Array([1, 0.5, 0, 1]), "that is not symmetric");
  refused(new Float64Array(7), "of 7 numbers");
  refused(new Float64Array([NaN]), "with NaN in row 0, column 0");
});
