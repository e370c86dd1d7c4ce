// deno-lint-ignore-file no-console -- a program that prints
/**
 * Seconds that @bellman/linear-algebra takes, as lapack.py prints them for numpy
 * and scipy: JSON with the medians for each size given. They are of the
 * processor's time, which other programs on the machine lengthen little.
 */
import { cholesky, inverseSpd, symmetricEigen } from "@bellman/linear-algebra";
import process from "node:process";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** Seconds that a measurement takes, before and while it counts. */
const WARMUP = 0.2, MEASURED = 0.6;
/** Measurements, an odd number; one where each takes longer than all of them. */
const COUNT = 11;

function seconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function medianSeconds(work: () => void): number {
  const start = seconds();
  let calls = 0;
  while (seconds() - start < WARMUP) {
    work();
    calls++;
  }
  const each = (seconds() - start) / calls;
  const repeats = Math.max(1, Math.round(MEASURED / COUNT / each));
  const measured = Array.from({ length: each > MEASURED ? 1 : COUNT }, () => {
    const start = seconds();
    for (let i = 0; i < repeats; i++) work();
    return (seconds() - start) / repeats;
  });
  return measured.sort((a, b) => a - b)[(measured.length - 1) / 2];
}

/** B B^T / size + I for a B of uniform numbers, in single precision. */
function positiveDefinite(size: number): Float32Array {
  const generator = xoroshiro128plus(size);
  const root = Float64Array.from(
    { length: size * size },
    () => generator.next() / 2 ** 31,
  );
  const matrix = new Float32Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let k = 0; k < size; k++) {
        sum += root[i * size + k] * root[j * size + k];
      }
      sum = sum / size + (i === j ? 1 : 0);
      matrix[i * size + j] = matrix[j * size + i] = sum;
    }
  }
  return matrix;
}

function measure(size: number): Record<string, number> {
  const single = positiveDefinite(size), matrix = Float64Array.from(single);
  return {
    eigh: medianSeconds(() => symmetricEigen(matrix)),
    eigh_single: medianSeconds(() =>
      symmetricEigen(single, { precision: "single" })
    ),
    cholesky: medianSeconds(() => cholesky(matrix)),
    inverse: medianSeconds(() => inverseSpd(matrix)),
  };
}

const sizes: number[] = JSON.parse(Deno.args[0]);
const entries = sizes.map((it) => [it, measure(it)]);
console.log(JSON.stringify(Object.fromEntries(entries)));
