import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { symmetricEigen } from "./symmetric_eigen.ts";
import type { Precision } from "./_kernels.ts";
import golden from "./testdata/golden.json" with { type: "json" };
import {
  diagonalMatrix,
  EPSILON,
  frobenius,
  largestDifference,
  matrixOf,
  product,
  randomSymmetric,
  transposed,
  uniformNumbers,
  withEigenvalues,
} from "./testdata/matrices.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

/**
 * What LAPACK's own results keep to: rounding times the size, and some more
 * for small sizes.
 */
function tolerance(size: number): number {
  return (16 + size) * EPSILON;
}

/**
 * Checks ascending order, A V = V D and V^T V = I in both precisions; returns
 * the values.
 */
function assertDecomposes(matrix: Float64Array): Float64Array {
  assertPrecise(matrix, "single");
  return assertPrecise(matrix, "double");
}

function assertPrecise(
  matrix: Float64Array,
  precision: Precision,
): Float64Array {
  const size = Math.sqrt(matrix.length);
  const ratio = precision === "single" ? 2 ** 29 : 1;
  const { values, vectors } = symmetricEigen(matrix, { precision });
  for (let j = 1; j < size; j++) assert(values[j] >= values[j - 1]);
  const gram = product(transposed(vectors, size), vectors, size);
  const identity = diagonalMatrix(new Float64Array(size).fill(1));
  const skew = largestDifference(gram, identity);
  assert(skew <= ratio * tolerance(size), `orthogonality ${skew}`);
  const left = product(matrix, vectors, size);
  const right = vectors.map((it, at) => it * values[at % size]);
  const residual = largestDifference(left, right);
  const bound = ratio * tolerance(size) * frobenius(matrix);
  assert(residual <= bound, `residual ${residual} above ${bound}`);
  return values;
}

/** The largest difference of eigenvalues, over the largest value. */
function assertValues(actual: Float64Array, expected: ArrayLike<number>): void {
  const wanted = Float64Array.from(expected).sort();
  const error = largestDifference(actual, wanted);
  const bound = tolerance(wanted.length) * largestDifference(wanted);
  assert(error <= bound, `eigenvalues off by ${error}, above ${bound}`);
}

const seeds = fc.integer({ min: 1, max: 2 ** 30 });

Deno.test("random matrices of all small sizes are decomposed", () => {
  const sizes = fc.integer({ min: 1, max: 40 });
  fc.assert(
    fc.property(sizes, seeds, (size, seed) => {
      assertDecomposes(randomSymmetric(seed, size));
    }),
    { seed: 1, numRuns: 150 },
  );
});

Deno.test("larger matrices are decomposed", () => {
  for (const size of [63, 64, 65, 96, 130, 257]) {
    assertDecomposes(randomSymmetric(size, size));
  }
});

Deno.test("whole numbers with many ties are decomposed", () => {
  const sizes = fc.integer({ min: 2, max: 24 });
  fc.assert(
    fc.property(sizes, seeds, (size, seed) => {
      const matrix = randomSymmetric(seed, size).map((it) => Math.round(it));
      assertDecomposes(matrix);
    }),
    { seed: 2, numRuns: 100 },
  );
});

Deno.test("given eigenvalues are found: repeated, clustered, graded", () => {
  for (const size of [17, 60, 101]) {
    for (const value of spectra(size)) {
      const expected = Float64Array.from({ length: size }, (_, i) => value(i));
      const matrix = withEigenvalues(expected, size);
      assertValues(assertDecomposes(matrix), expected);
    }
  }
});

/** Kinds of eigenvalues that are hard to separate. */
function spectra(size: number): ((i: number) => number)[] {
  const kinds: Record<string, (i: number) => number> = {
    repeated: (i) => i % 3,
    "one apart from the rest": (i) => i === 0 ? 5 : 1,
    clustered: (i) => 1 + i * 1e-15 + (i % 4) * 1e-9,
    graded: (i) => 10 ** (-12 + 24 * i / (size - 1)),
    "of both signs": (i) => (i % 2 === 0 ? 1 : -1) * 2 ** (-i),
    "rank one": (i) => i === 0 ? 3 : 0,
    "rank deficient": (i) => Math.max(0, i - size / 2),
    close: (i) => 1 + i * 1e-12,
  };
  return Object.values(kinds);
}

Deno.test("products of any low rank are decomposed", () => {
  const sizes = fc.integer({ min: 2, max: 60 });
  fc.assert(
    fc.property(
      sizes,
      fc.integer({ min: 0, max: 3 }),
      seeds,
      (size, rank, seed) => {
        const root = uniformNumbers(seed, size * rank).map((it) =>
          Math.max(0, it)
        );
        const matrix = matrixOf(size, (i, j) => {
          let sum = 0;
          for (let k = 0; k < rank; k++) {
            sum += root[i * rank + k] * root[j * rank + k];
          }
          return sum;
        });
        assertDecomposes(matrix);
      },
    ),
    { seed: 4, numRuns: 200 },
  );
  // Here a merge leaves nothing of one half but the other's rows.
  assertDecomposes(matrixOf(257, () => 1));
});

Deno.test("diagonal and zero matrices are exact", () => {
  const diagonal = [3, -1, 0, 3, 1e-12, 1e12, -1, 0.5];
  const { values, vectors } = symmetricEigen(diagonalMatrix(diagonal));
  assertEquals([...values], diagonal.toSorted((a, b) => a - b));
  assertEquals(
    [...vectors].filter((it) => it !== 0).map(Math.abs),
    new Array(8).fill(1),
  );
  const zero = symmetricEigen(new Float64Array(25));
  assertEquals([...zero.values], new Array(5).fill(0));
  assertDecomposes(new Float64Array(25));
});

Deno.test("tridiagonal matrices with known values are solved", () => {
  const size = 101;
  const laplacian = matrixOf(
    size,
    (i, j) => i === j ? 2 : Math.abs(i - j) === 1 ? -1 : 0,
  );
  const expected = Array.from(
    { length: size },
    (_, k) => 2 - 2 * Math.cos((k + 1) * Math.PI / (size + 1)),
  );
  assertValues(assertDecomposes(laplacian), expected);
  // Wilkinson's matrix: its larger values come in pairs equal to rounding.
  const wilkinson = matrixOf(
    size,
    (i, j) => i === j ? Math.abs(i - 50) : Math.abs(i - j) === 1 ? 1 : 0,
  );
  assertDecomposes(wilkinson);
});

Deno.test("Hilbert's matrix has numpy's eigenvalues", () => {
  const hilbert = matrixOf(10, (i, j) => 1 / (i + j + 1));
  assertValues(assertDecomposes(hilbert), golden.hilbertValues);
});

Deno.test("entries that differ by many magnitudes keep the vectors orthogonal", () => {
  const exponents = fc.array(fc.integer({ min: -300, max: 300 }), {
    minLength: 3,
    maxLength: 12,
  });
  fc.assert(
    fc.property(exponents, seeds, (powers, seed) => {
      const size = powers.length;
      const numbers = randomSymmetric(seed, size);
      const matrix = numbers.map((it, at) =>
        it * 10 ** ((powers[at % size] + powers[Math.floor(at / size)]) / 2)
      );
      assertDecomposes(matrix);
    }),
    { seed: 3, numRuns: 200 },
  );
});

Deno.test("very large and very small matrices are scaled", () => {
  const matrix = randomSymmetric(5, 20);
  const { values } = symmetricEigen(matrix);
  for (const scale of [2 ** 1020, 2 ** -1000, 2 ** -1040]) {
    const scaled = symmetricEigen(matrix.map((it) => it * scale));
    const error = largestDifference(
      scaled.values.map((it) => it / scale),
      values,
    );
    // Below 2 ** -1022 a number has fewer digits.
    assert(error <= (scale < 2 ** -1022 ? 1e-9 : 1e-14), `${scale}: ${error}`);
  }
});

Deno.test("numpy's eigenvalues and eigenvectors are found", () => {
  for (const { size, matrix, values, vectors } of golden.cases) {
    const actual = symmetricEigen(new Float64Array(matrix));
    assertValues(actual.values, values);
    for (let j = 0; j < size; j++) {
      const column = (it: ArrayLike<number>) =>
        Float64Array.from({ length: size }, (_, i) => it[i * size + j]);
      const wanted = column(vectors), found = column(actual.vectors);
      const dot = found.reduce((sum, it, i) => sum + it * wanted[i], 0);
      const error = largestDifference(
        found.map((it) => it * Math.sign(dot)),
        wanted,
      );
      assert(error < 1e-12, `column ${j} of size ${size} is off by ${error}`);
    }
  }
  const { matrix, values } = golden.large;
  assertValues(symmetricEigen(new Float64Array(matrix)).values, values);
});

Deno.test("arrays in single precision are worked on in double", () => {
  const matrix = Float32Array.from(randomSymmetric(9, 30));
  const { values, vectors } = symmetricEigen(matrix);
  const exact = symmetricEigen(Float64Array.from(matrix));
  assertEquals(values, Float32Array.from(exact.values));
  assertEquals(vectors, Float32Array.from(exact.vectors));
});

Deno.test("the input stays, the same input gives the same result", () => {
  const matrix = randomSymmetric(11, 70);
  const copy = matrix.slice();
  const first = symmetricEigen(matrix);
  symmetricEigen(randomSymmetric(12, 90));
  assertEquals(matrix, copy);
  assertEquals(symmetricEigen(matrix), first);
});

Deno.test("rounding in one triangle is averaged out, more is refused", () => {
  const { values } = symmetricEigen(new Float64Array([1, 1e-7, 0, 1]));
  assert(Math.abs(values[1] - (1 + 5e-8)) < 1e-15);
  assertRefused({
    "RangeError: Cannot find the eigenvalues of a matrix that is not symmetric: row 0, column 1 holds 2 and its mirror 3":
      () => symmetricEigen(new Float64Array([1, 2, 3, 1])),
  });
});

Deno.test("bad inputs are refused in one line", () => {
  const action = "Cannot find the eigenvalues of a matrix";
  assertRefused({
    [`RangeError: ${action} of 5 numbers: expected the square of a size above 0`]:
      () => symmetricEigen(new Float64Array(5)),
  });
  assertThrows(() => symmetricEigen(new Float64Array()), RangeError, action);
  assertRefused({
    [`TypeError: ${action}: expected the matrix to be a Float64Array or Float32Array, got Array`]:
      () => symmetricEigen([1] as unknown as Float64Array),
  });
  for (const bad of [NaN, Infinity, -Infinity]) {
    assertRefused({
      [`RangeError: ${action} with ${bad} in row 0, column 1: expected finite numbers`]:
        () => symmetricEigen(new Float64Array([1, bad, bad, 1])),
    });
  }
});
