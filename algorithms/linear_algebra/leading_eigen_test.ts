import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { leadingEigen } from "./leading_eigen.ts";
import {
  diagonalMatrix,
  largestDifference,
  withEigenvalues,
} from "./testdata/matrices.ts";

const PRECISIONS = ["double", "single"] as const;

/** Computes V^T V of vectors that are columns. */
function gramOf(vectors: Float64Array, count: number): Float64Array {
  const gram = new Float64Array(count * count), size = vectors.length / count;
  for (let i = 0; i < size; i++) {
    const row = vectors.subarray(i * count, (i + 1) * count);
    gram.forEach((_, at) => {
      gram[at] += row[Math.floor(at / count)] * row[at % count];
    });
  }
  return gram;
}

Deno.test("the leading eigenvalues, their vectors and the mean of the rest are found", () => {
  const settings = fc.record({
    seed: fc.integer({ min: 1, max: 1000 }),
    size: fc.integer({ min: 2, max: 70 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    precision: fc.constantFrom(...PRECISIONS),
  });
  fc.assert(
    fc.property(settings, ({ seed, size, share, precision }) => {
      const count = 1 + Math.floor(share * (size - 1));
      const wanted = Float64Array.from({ length: size }, (_, i) => 0.8 ** i)
        .reverse();
      // A gap, so that few products find the span.
      wanted.subarray(size - count).forEach((it, i, to) => to[i] = it + 2);
      const matrix = withEigenvalues(wanted, seed);
      const made = leadingEigen(matrix, count, { iterations: 25, precision });
      const bound = precision === "single" ? 1e-5 : 1e-6;
      const others = wanted.slice(0, size - count);
      const rest = others.reduce((sum, it) => sum + it, 0) / others.length;
      const leading = wanted.slice(size - count);
      const gap = largestDifference(made.values, leading);
      assert(gap < bound, `values by ${gap}`);
      const gram = gramOf(made.vectors, count);
      const identity = diagonalMatrix(new Float64Array(count).fill(1));
      const skew = largestDifference(gram, identity);
      assert(skew < bound, `orthogonality by ${skew}`);
      const meant = others.length > 0 ? rest : 0;
      assert(Math.abs(made.rest - meant) < bound * size, `rest ${made.rest}`);
    }),
    { seed: 1 },
  );
});

Deno.test("a start of a similar matrix saves products", () => {
  const values = Float64Array.from({ length: 60 }, (_, i) => 2 ** (-i / 2))
    .reverse();
  const matrix = withEigenvalues(values, 1);
  const errorOf = (options: Parameters<typeof leadingEigen>[2]) =>
    largestDifference(
      leadingEigen(matrix, 6, options).values,
      values.slice(54),
    );
  const similar = withEigenvalues(values.map((it) => it * 1.1), 1);
  const { vectors } = leadingEigen(similar, 6, { iterations: 8 });
  assert(errorOf({ start: vectors }) < errorOf({}));
  // Zeros are no start.
  assertEquals(errorOf({ start: new Float64Array(60 * 6) }), errorOf({}));
});

Deno.test("what the rank does not reach is 0, and is found once it does", () => {
  for (const precision of PRECISIONS) {
    const values = new Float64Array(40);
    values[39] = 3;
    const low = leadingEigen(withEigenvalues(values, 2), 4, { precision });
    assertEquals(low.values.slice(0, 3), new Float64Array(3));
    assert(Math.abs(low.values[3] - 3) < 1e-5);
    assertEquals(gramOf(low.vectors, 4).slice(0, 15), new Float64Array(15));
    assert(low.rest < 1e-6);
    values.fill(1, 36, 39);
    const { values: found } = leadingEigen(withEigenvalues(values, 2), 4, {
      precision,
      start: low.vectors,
    });
    assert(largestDifference(found, Float64Array.of(1, 1, 1, 3)) < 1e-5);
  }
  const none = leadingEigen(new Float32Array(9), 2);
  assertEquals(none.values, new Float32Array(2));
  assertEquals(none.vectors, new Float32Array(6));
});

Deno.test("a count, a start or a matrix that does not fit is one line", () => {
  const matrix = diagonalMatrix([1, 2, 3]);
  const cases = [
    [
      () => leadingEigen(matrix, 0),
      "count = 0: expected a whole number from 1 to 3",
    ],
    [() => leadingEigen(matrix, 4), "count = 4"],
    [() => leadingEigen(matrix, 1.5), "count = 1.5"],
    [() => leadingEigen(matrix, 1, { iterations: 0 }), "of at least 1"],
    [
      () => leadingEigen(matrix, 2, { start: new Float64Array(5) }),
      "a start of 5 numbers: expected 3 rows of 2",
    ],
    [() => leadingEigen(matrix.slice(1), 1), "of 8 numbers"],
    [() => leadingEigen(Float64Array.of(1, NaN, 0, 1), 1), "with NaN in row 0"],
    [() => leadingEigen(Float64Array.of(1, 1, 0, 1), 1), "not symmetric"],
  ] as const;
  for (const [make, message] of cases) {
    const { message: line } = assertThrows(make, RangeError);
    assert(line.includes(message), line);
  }
});
