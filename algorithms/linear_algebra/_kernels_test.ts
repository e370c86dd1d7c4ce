import { assert, assertEquals } from "@std/assert";
import {
  chooseKernels,
  compileKernels,
  openWorkspace,
  type Precision,
  rowStride,
} from "./_kernels.ts";
import { inverseSpd } from "./cholesky.ts";
import { symmetricEigen } from "./symmetric_eigen.ts";
import {
  largestDifference,
  product,
  randomPositive,
  randomSymmetric,
  transposed,
  uniformNumbers,
} from "./testdata/matrices.ts";

Deno.test("both builds export the same, and import nothing", () => {
  const names = (fused: boolean) =>
    WebAssembly.Module.exports(compileKernels({ fused })).map((it) => it.name);
  assertEquals(names(true), names(false));
  assertEquals(WebAssembly.Module.imports(compileKernels()), []);
});

Deno.test("the build without fused operations gives the same to rounding", () => {
  const symmetric = randomSymmetric(1, 70), positive = randomPositive(2, 70);
  const { values } = symmetricEigen(symmetric);
  const inverse = inverseSpd(positive);
  chooseKernels({ fused: false });
  try {
    const plain = symmetricEigen(symmetric).values;
    assert(largestDifference(plain, values) < 1e-13);
    const other = inverseSpd(positive);
    const bound = 1e-11 * largestDifference(inverse);
    assert(largestDifference(other, inverse) < bound);
  } finally {
    chooseKernels({ fused: true });
  }
});

for (const precision of ["double", "single"] as const) {
  Deno.test(`products of all shapes at the edges of tiles: ${precision}`, () => {
    for (const isTransposed of [false, true]) {
      assertMultiplies(precision, { isTransposed });
    }
  });
}

/** Checks all products of up to 17 rows and columns; A may be given as A^T. */
function assertMultiplies(
  precision: Precision,
  { isTransposed }: { isTransposed: boolean },
): void {
  const tolerance = precision === "single" ? 1e-5 : 1e-14;
  const size = 17, stride = rowStride(size);
  const a = uniformNumbers(1, size * size), b = uniformNumbers(2, size * size);
  const expected = product(a, b, size);
  const { kernels, work, blocks } = openWorkspace(
    new Array(3).fill(size * stride),
    precision,
  );
  const [left, right, target] = blocks;
  const given = isTransposed ? transposed(a, size) : a;
  const steps = isTransposed ? [1, stride] : [stride, 1];
  for (let i = 0; i < size; i++) {
    left.numbers.set(given.subarray(i * size, (i + 1) * size), i * stride);
    right.numbers.set(b.subarray(i * size, (i + 1) * size), i * stride);
  }
  for (let m = 1; m <= size; m++) {
    for (let n = 1; n <= size; n++) {
      target.numbers.fill(NaN);
      // deno-fmt-ignore -- an operand a line
      kernels.multiply(
        m, n, size,
        left.at, steps[0], steps[1],
        right.at, stride, 1,
        target.at, stride,
        2, 0, 0, work,
      );
      for (let i = 0; i < size; i++) {
        for (let j = 0; j < size; j++) {
          const found = target.numbers[i * stride + j];
          // Nothing outside the product may be written.
          if (i >= m || j >= n) assert(Number.isNaN(found));
          else assert(Math.abs(found - 2 * expected[i * size + j]) < tolerance);
        }
      }
    }
  }
}

Deno.test("a product over nothing is zero", () => {
  const { kernels, work, blocks: [target] } = openWorkspace([4]);
  target.numbers.fill(7);
  const { at } = target;
  kernels.multiply(2, 2, 0, at, 2, 1, at, 2, 1, at, 2, 1, 0, 0, work);
  assertEquals([...target.numbers], [0, 0, 0, 0]);
});
