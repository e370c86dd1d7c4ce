import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { cholesky, inverseSpd } from "./cholesky.ts";
import type { Precision } from "./_kernels.ts";
import golden from "./testdata/golden.json" with { type: "json" };
import {
  diagonalMatrix,
  EPSILON,
  frobenius,
  largestDifference,
  matrixOf,
  product,
  randomPositive,
  randomSymmetric,
  transposed,
  withEigenvalues,
} from "./testdata/matrices.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

/** Checks L L^T = A number by number, and the zeros above the diagonal. */
function assertFactors(matrix: Float64Array, size: number): Float64Array {
  const factor = cholesky(matrix);
  const back = product(factor, transposed(factor, size), size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) {
      const at = i * size + j;
      if (j > i) assertEquals(factor[at], 0);
      const diagonals = matrix[i * size + i] * matrix[j * size + j];
      const bound = (4 + size) * EPSILON * Math.sqrt(diagonals);
      assert(Math.abs(back[at] - matrix[at]) <= bound);
    }
  }
  return factor;
}

const sizes = fc.integer({ min: 1, max: 40 });
const seeds = fc.integer({ min: 1, max: 2 ** 30 });

Deno.test("the factor times its transpose is the matrix", () => {
  fc.assert(
    fc.property(sizes, seeds, (size, seed) => {
      assertFactors(randomPositive(seed, size), size);
    }),
    { seed: 1, numRuns: 150 },
  );
  for (const size of [63, 64, 65, 96, 130, 257]) {
    assertFactors(randomPositive(size, size), size);
  }
});

Deno.test("ill-conditioned and graded matrices are factored", () => {
  assertFactors(matrixOf(10, (i, j) => 1 / (i + j + 1)), 10);
  const grades = (i: number) => 10 ** (-12 + 24 * i / 39);
  const base = randomPositive(3, 40);
  assertFactors(
    base.map((it, at) => it * grades(at % 40) * grades(Math.floor(at / 40))),
    40,
  );
  assertEquals(
    cholesky(diagonalMatrix([1e-300, 4, 1e300])),
    diagonalMatrix([Math.sqrt(1e-300), 2, Math.sqrt(1e300)]),
  );
});

Deno.test("numpy's factors are found", () => {
  for (const { size, matrix, factor } of golden.cases) {
    const error = largestDifference(
      cholesky(new Float64Array(matrix)),
      new Float64Array(factor),
    );
    assert(error < 1e-13, `size ${size} is off by ${error}`);
  }
});

Deno.test("a matrix that is not positive definite is refused by its pivot", () => {
  const refused = (matrix: Float64Array, text: string) =>
    assertRefused({
      [`RangeError: Cannot factor a matrix that is not positive definite: ${text}`]:
        () => cholesky(matrix),
    });
  refused(new Float64Array([1, 2, 2, 1]), "pivot 1 is -3");
  refused(new Float64Array(9), "pivot 0 is 0");
  refused(matrixOf(3, () => 1), "pivot 1 is 0");
  const late = diagonalMatrix(new Float64Array(100).fill(2));
  late[90 * 100 + 90] = -5;
  refused(late, "pivot 90 is -5");
  fc.assert(
    fc.property(sizes, seeds, (size, seed) => {
      const matrix = randomSymmetric(seed, size);
      matrix[size * size - 1] = -1;
      assertThrows(() => cholesky(matrix), RangeError, "pivot");
    }),
    { seed: 3, numRuns: 50 },
  );
});

Deno.test("bad inputs are refused in one line", () => {
  assertRefused({
    "RangeError: Cannot factor a matrix of 3 numbers: expected the square of a size above 0":
      () => cholesky(new Float64Array(3)),
    "RangeError: Cannot factor a matrix that is not symmetric": () =>
      cholesky(new Float64Array([1, 0.5, 0.25, 1])),
    "RangeError: Cannot factor a matrix with NaN in row 1, column 1: expected finite numbers":
      () => cholesky(new Float64Array([1, 0, 0, NaN])),
    "TypeError: Cannot factor a matrix: expected the matrix to be a Float64Array or Float32Array, got Array":
      () => cholesky([1, 2] as unknown as Float64Array),
  });
});

/** Checks A X = I up to rounding times the condition number, and symmetry. */
function assertInverts(
  matrix: Float64Array,
  size: number,
  precision: Precision = "double",
): Float64Array {
  const inverse = inverseSpd(matrix, { precision });
  assertEquals(inverse, transposed(inverse, size));
  const identity = diagonalMatrix(new Float64Array(size).fill(1));
  const residual = largestDifference(product(matrix, inverse, size), identity);
  const condition = frobenius(matrix) * frobenius(inverse);
  const epsilon = precision === "single" ? 2 ** -23 : EPSILON;
  const bound = (4 + size) * epsilon * condition;
  assert(residual <= bound, `residual ${residual} above ${bound}`);
  return inverse;
}

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

Deno.test("single precision rounds as such, and refuses what is not positive", () => {
  fc.assert(
    fc.property(sizes, seeds, (size, seed) => {
      assertInverts(randomPositive(seed, size, { shift: 1 }), size, "single");
    }),
    { seed: 1, numRuns: 150 },
  );
  for (const size of [63, 64, 65, 96, 130, 257]) {
    const matrix = randomPositive(size, size, { shift: 1 });
    assertInverts(matrix, size, "single");
  }
  assertRefused({
    "RangeError: not positive definite: pivot 1 is -3": () =>
      inverseSpd(Float64Array.of(1, 2, 2, 1), { precision: "single" }),
  });
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
      inverseSpd(new Float64Array(matrix)),
      expected,
    );
    const bound = 1e-12 * largestDifference(expected);
    assert(error <= bound, `size ${size} is off by ${error}`);
  }
});

for (const solve of [cholesky, inverseSpd]) {
  Deno.test(`${solve.name}: single precision is worked on in double`, () => {
    const matrix = Float32Array.from(randomPositive(9, 30));
    const exact = solve(Float64Array.from(matrix));
    assertEquals(solve(matrix), Float32Array.from(exact));
  });

  Deno.test(`${solve.name}: the input stays, and gives the same again`, () => {
    const matrix = randomPositive(4, 70);
    const copy = matrix.slice();
    const first = solve(matrix);
    solve(randomPositive(5, 90));
    assertEquals(matrix, copy);
    assertEquals(solve(matrix), first);
  });
}

Deno.test("bad inputs are refused in one line", () => {
  const refused = (matrix: Float64Array, text: string) =>
    assertRefused({
      [`RangeError: Cannot invert a matrix ${text}`]: () => inverseSpd(matrix),
    });
  refused(
    new Float64Array([1, 2, 2, 1]),
    "that is not positive definite: pivot 1 is -3",
  );
  refused(new Float64Array(4), "that is not positive definite: pivot 0 is 0");
  refused(new Float64Array([1, 0.5, 0, 1]), "that is not symmetric");
  refused(new Float64Array(7), "of 7 numbers");
  refused(new Float64Array([NaN]), "with NaN in row 0, column 0");
});
