import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  constant,
  fanInUniform,
  fanInUniformBias,
  glorotUniform,
  orthogonal,
  uniform,
  zeros,
} from "./initializers.ts";
import type { Initializer } from "./network.ts";
import { seededRandom } from "../testdata/random.ts";

interface OrthoCase {
  shape: number[];
  scale: number;
  gram: "QtQ" | "QQt";
  gram_size: number;
  diag: number;
  frobenius_sq: number;
}

const reference = JSON.parse(
  await Deno.readTextFile(
    new URL("../../tests/reference/lstm_entropy_ortho.json", import.meta.url),
  ),
);

/** Products of all columns (or rows) with each other. */
function gram(matrix: Float32Array, columns: number, ofColumns: boolean) {
  const rows = matrix.length / columns;
  const [count, length] = ofColumns ? [columns, rows] : [rows, columns];
  const at = (i: number, k: number) =>
    ofColumns ? matrix[k * columns + i] : matrix[i * columns + k];
  return Array.from(
    { length: count },
    (_, i) =>
      Array.from({ length: count }, (_, j) => {
        let sum = 0;
        for (let k = 0; k < length; k++) sum += at(i, k) * at(j, k);
        return sum;
      }),
  );
}

for (const example of reference.ortho as OrthoCase[]) {
  const { shape, scale } = example;
  Deno.test(`orthogonal(${scale}) of [${shape}] has the reference Gram matrix`, () => {
    const matrix = orthogonal(scale)(shape, seededRandom(3));
    const columns = shape[shape.length - 1];
    const products = gram(matrix, columns, example.gram === "QtQ");
    assertEquals(products.length, example.gram_size);
    products.forEach((row, i) =>
      row.forEach((value, j) => {
        const wanted = i === j ? example.diag : 0;
        assert(Math.abs(value - wanted) < 1e-6 * (1 + scale * scale));
      })
    );
    const squares = matrix.reduce((sum, x) => sum + x * x, 0);
    assert(Math.abs(squares / example.frobenius_sq - 1) < 1e-5);
  });
}

Deno.test("orthogonal matrices have no preferred sign", () => {
  const random = seededRandom(1);
  let positive = 0;
  for (let i = 0; i < 400; i++) {
    if (orthogonal()([3, 3], random)[0] > 0) positive++;
  }
  assert(Math.abs(positive - 200) < 60, `${positive} of 400`);
});

Deno.test("the same seed gives the same values and another one others", () => {
  const [a, b, c] = [5, 5, 6].map((seed) =>
    orthogonal()([4, 3], seededRandom(seed))
  );
  assertEquals(a, b);
  assert(a.some((value, i) => value !== c[i]));
});

Deno.test("orthogonal gives up on a random source that repeats itself", () => {
  const stuck = { uniform: () => 0.5, normal: () => 1, integer: () => 0 };
  assertThrows(() => orthogonal()([3, 3], stuck), RangeError, "repeats");
});

Deno.test("zeros and constant fill", () => {
  assertEquals(zeros()([2, 3], seededRandom(1)), new Float32Array(6));
  assertEquals(constant(4)([2], seededRandom(1)), new Float32Array([4, 4]));
});

// [3, 3, 4, 16] has 3 * 3 * 4 inputs and 3 * 3 * 16 outputs a unit.
const VARIANCES: [string, Initializer, number][] = [
  ["uniform", uniform(0.6), 0.12],
  ["glorotUniform", glorotUniform(), 2 / (36 + 144)],
];

for (const [name, initializer, variance] of VARIANCES) {
  Deno.test(`${name} has mean 0 and the variance of its fans`, () => {
    const random = seededRandom(8);
    const draws = Array.from(
      { length: 40 },
      () => [...initializer([3, 3, 4, 16], random)],
    ).flat();
    const mean = draws.reduce((sum, x) => sum + x, 0) / draws.length;
    const square = draws.reduce((sum, x) => sum + x * x, 0) / draws.length;
    assert(Math.abs(mean) < 5 * Math.sqrt(variance / draws.length));
    assert(Math.abs(square / variance - 1) < 0.05, `${square}`);
    const limit = Math.sqrt(3 * variance) + 1e-6;
    assert(draws.every((x) => Math.abs(x) <= limit));
  });
}

Deno.test("a matrix takes its fans from its two sides", () => {
  const limit = Math.sqrt(6 / (2 + 4));
  const draws = glorotUniform()([2, 4], seededRandom(2));
  const largest = Math.max(...draws.map(Math.abs));
  assert(largest <= limit && largest > 0.6 * limit);
});

/** Asserts a uniform spread over ±limit. */
function assertSpread(values: Float32Array, limit: number): void {
  assert(values.every((it) => Math.abs(it) <= limit));
  const variance = values.reduce((sum, it) => sum + it * it, 0) / values.length;
  const expected = limit * limit / 3;
  assert(Math.abs(variance / expected - 1) < 0.1, `variance ${variance}`);
  const mean = values.reduce((sum, it) => sum + it, 0) / values.length;
  assert(Math.abs(mean) < 0.05 * limit, `mean ${mean}`);
}

Deno.test("kernels and biases are spread by the inputs of a unit", () => {
  for (const [shape, fanIn] of [[[16, 500], 16], [[3, 3, 4, 300], 36]]) {
    const kernelShape = shape as number[];
    const limit = 1 / Math.sqrt(fanIn as number);
    const kernel = fanInUniform()(kernelShape, seededRandom(1));
    assertEquals(kernel.length, kernelShape.reduce((a, b) => a * b));
    assertSpread(kernel, limit);
  }
  const bias = fanInUniformBias()([25, 5000], seededRandom(2));
  assertEquals(bias.length, 5000);
  assertSpread(bias, 0.2);
});
