import type { RandomSource } from "@bellman/types";
import { sizeOf } from "./_layers.ts";
import type { BiasInitializer, Initializer } from "./network.ts";

/** Length below which the rest of a vector is only rounding error. */
const SMALLEST_LENGTH = 1e-6;

function dot(matrix: Float64Array, i: number, j: number, n: number): number {
  let sum = 0;
  for (let k = 0; k < n; k++) sum += matrix[i + k] * matrix[j + k];
  return sum;
}

/** Removes from the vector at `j` its component along the unit vector at `i`. */
function project(matrix: Float64Array, i: number, j: number, n: number): void {
  const length = dot(matrix, i, j, n);
  for (let k = 0; k < n; k++) matrix[j + k] -= length * matrix[i + k];
}

/** Samples the vector at `j` and makes it orthogonal to those before it. */
function drawOrthogonal(
  vectors: Float64Array,
  j: number,
  n: number,
  random: RandomSource,
): void {
  for (let attempt = 0; attempt < 100; attempt++) {
    for (let k = 0; k < n; k++) vectors[j + k] = random.normal();
    for (let i = 0; i < j; i += n) project(vectors, i, j, n);
    const length = Math.sqrt(dot(vectors, j, j, n));
    if (length > SMALLEST_LENGTH) {
      for (let k = 0; k < n; k++) vectors[j + k] /= length;
      return;
    }
  }
  throw new RangeError(
    "Cannot make an orthogonal matrix as the random source repeats itself",
  );
}

/**
 * Samples a random matrix `[rows, columns]`, row-major, whose rows or columns,
 * whichever are fewer, are orthogonal and of length `scale`. Gram-Schmidt in float64 on
 * normal vectors, which makes it uniform over such matrices.
 */
function orthogonalMatrix(
  rows: number,
  columns: number,
  scale: number,
  random: RandomSource,
): Float32Array<ArrayBuffer> {
  const tall = rows >= columns;
  const count = tall ? columns : rows;
  const n = tall ? rows : columns;
  const vectors = new Float64Array(count * n);
  for (let j = 0; j < vectors.length; j += n) {
    drawOrthogonal(vectors, j, n, random);
  }
  const matrix = new Float32Array(rows * columns);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < n; k++) {
      matrix[tall ? k * columns + i : i * columns + k] = scale *
        vectors[i * n + k];
    }
  }
  return matrix;
}

/** Returns fan-in and fan-out of a kernel. */
function fans(shape: readonly number[]): [fanIn: number, fanOut: number] {
  if (shape.length < 2) return [sizeOf(shape), sizeOf(shape)];
  const receptiveField = sizeOf(shape.slice(0, -2));
  const [inputs, outputs] = shape.slice(-2);
  return [receptiveField * inputs, receptiveField * outputs];
}

/**
 * Initializes with 0.
 *
 * @returns The initialiser.
 *
 * @example
 * ```ts
 * import { zeros } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * const values = zeros()([2, 2], new RandomStream(1));
 * assertEquals(values, new Float32Array(4));
 * ```
 */
export function zeros(): Initializer {
  return constant(0);
}

/**
 * Initializes with a constant.
 *
 * @param value The constant.
 * @returns The initialiser.
 *
 * @example
 * ```ts
 * import { constant } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * const values = constant(-2)([2], new RandomStream(1));
 * assertEquals(values, new Float32Array([-2, -2]));
 * ```
 */
export function constant(value: number): Initializer {
  return (shape) => new Float32Array(sizeOf(shape)).fill(value);
}

/**
 * Initializes with a random orthogonal matrix times a gain (Saxe, McClelland and
 * Ganguli 2013, https://arxiv.org/abs/1312.6120): the kernel is taken as a matrix `[all
 * axes but the last, last]`, and its rows or columns, whichever are fewer, are
 * orthogonal and of length `scale`.
 *
 * @param scale Length of the orthogonal vectors. @default 1
 * @returns The initialiser.
 *
 * @example
 * ```ts
 * import { orthogonal } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const [a, b, c, d] = orthogonal(2)([2, 2], new RandomStream(1));
 * assertAlmostEquals(a * b + c * d, 0, 1e-6);
 * assertAlmostEquals(Math.hypot(a, c), 2, 1e-6);
 * ```
 */
export function orthogonal(scale: number = 1): Initializer {
  return (shape, random) => {
    const columns = shape.length === 0 ? 1 : shape[shape.length - 1];
    return orthogonalMatrix(sizeOf(shape) / columns, columns, scale, random);
  };
}

/**
 * Initializes uniformly on `[-limit, limit)`.
 *
 * @param limit Largest magnitude.
 * @returns The initialiser.
 *
 * @example
 * ```ts
 * import { uniform } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assert } from "@std/assert";
 *
 * const values = uniform(0.1)([10], new RandomStream(1));
 * assert(values.every((value) => Math.abs(value) <= 0.1));
 * ```
 */
export function uniform(limit: number): Initializer {
  return (shape, random) =>
    new Float32Array(sizeOf(shape))
      .map(() => limit * (2 * random.uniform() - 1));
}

/**
 * Initializes uniformly with variance `2 / (fanIn + fanOut)` (Glorot and Bengio 2010),
 * for tanh layers.
 *
 * @returns The initialiser.
 *
 * @example
 * ```ts
 * import { glorotUniform } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assert } from "@std/assert";
 *
 * const values = glorotUniform()([3, 3], new RandomStream(1));
 * assert(values.every((value) => Math.abs(value) <= 1));
 * ```
 */
export function glorotUniform(): Initializer {
  return (shape, random) => {
    const [fanIn, fanOut] = fans(shape);
    return uniform(Math.sqrt(3 * (2 / (fanIn + fanOut))))(shape, random);
  };
}

/** Samples uniformly from ±1/sqrt(fanIn) of a kernel's shape. */
function uniformByFanIn(kernelShape: readonly number[]): Initializer {
  return uniform(1 / Math.sqrt(sizeOf(kernelShape.slice(0, -1))));
}

/**
 * Initializes uniformly on ±1/sqrt(fanIn), as PyTorch's `Linear` and `Conv2d` do, and
 * so the usual choice for soft actor-critic.
 *
 * @returns The initialiser.
 *
 * @example
 * ```ts
 * import { fanInUniform } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assert } from "@std/assert";
 *
 * const values = fanInUniform()([4, 3], new RandomStream(1));
 * assert(values.every((value) => Math.abs(value) <= 0.5));
 * ```
 */
export function fanInUniform(): Initializer {
  return (shape, random) => uniformByFanIn(shape)(shape, random);
}

/**
 * Initializes a bias as {@link fanInUniform} does the kernel, as in PyTorch.
 *
 * @returns The initialiser.
 *
 * @example
 * ```ts
 * import { fanInUniformBias } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const values = fanInUniformBias()([4, 3], new RandomStream(1));
 * assertEquals(values.length, 3);
 * assert(values.every((value) => Math.abs(value) <= 0.5));
 * ```
 */
export function fanInUniformBias(): BiasInitializer {
  return (kernelShape, random) =>
    uniformByFanIn(kernelShape)(kernelShape.slice(-1), random);
}
