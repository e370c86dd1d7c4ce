// deno-lint-ignore-file no-console -- a program that prints
/**
 * Seconds that the linear algebra of @bellman/compute takes, as lapack.py
 * prints them for LAPACK: JSON with the medians for each size given.
 */
import { cholesky, inverseSpd, symmetricEigen } from "@bellman/linear-algebra";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

const WARMUP = 3;

function medianSeconds(work: () => void, repeats: number): number {
  for (let i = 0; i < WARMUP; i++) work();
  const seconds = Array.from({ length: repeats }, () => {
    const start = performance.now();
    work();
    return (performance.now() - start) / 1000;
  });
  return seconds.sort((a, b) => a - b)[(repeats - 1) / 2];
}

/** B B^T + I for a B of uniform numbers. */
function positiveDefinite(size: number): Float64Array {
  const generator = xoroshiro128plus(size);
  const root = Float64Array.from(
    { length: size * size },
    () => generator.next() / 2 ** 31,
  );
  const matrix = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = i === j ? 1 : 0;
      for (let k = 0; k < size; k++) {
        sum += root[i * size + k] * root[j * size + k];
      }
      matrix[i * size + j] = matrix[j * size + i] = sum;
    }
  }
  return matrix;
}

function measure(size: number): Record<string, number> {
  const matrix = positiveDefinite(size);
  const repeats = size < 256 ? 201 : 15;
  return {
    eigh: medianSeconds(() => symmetricEigen(matrix), repeats),
    cholesky: medianSeconds(() => cholesky(matrix), repeats),
    inverse: medianSeconds(() => inverseSpd(matrix), repeats),
  };
}

const entries = Deno.args.map((it) => [it, measure(Number(it))]);
console.log(JSON.stringify(Object.fromEntries(entries)));
