import * as tf from "@tensorflow/tfjs";
import { run } from "./kernels/kernel.ts";
// Registers the kernel for eager functions, too.
import { rowsOf } from "./kernels/random.ts";
import type { RandomStream } from "./random_stream.ts";

/** Key and counter that random numbers follow from, as tensors of `int32`. */
export interface RandomSource {
  /** Two words, `[2]`: each key has different numbers. */
  readonly key: tf.Tensor;
  /**
   * Number of the call, a scalar: each one has different numbers. With numbers
   * `[n]`, each row of a result `[n, ...]` is that of a call of its own.
   */
  readonly counter: tf.Tensor;
}

/**
 * Draws a key for {@linkcode randomBits}.
 *
 * @param stream Stream to draw from.
 * @returns Two words.
 *
 * @example
 * ```ts
 * import { randomKey, RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(randomKey(new RandomStream(1)), randomKey(new RandomStream(1)));
 * ```
 */
export function randomKey(stream: RandomStream): Int32Array<ArrayBuffer> {
  return Int32Array.from([0, 0], () => stream.integer(2 ** 32));
}

/**
 * Makes random bits of a key and a counter by Threefry: in a compiled function,
 * too, and the same on every engine. A state holds the key and the counter; a
 * step adds 1 to the counter for each call.
 *
 * @param shape Shape of the result.
 * @param source Key and counter.
 * @returns Words of 32 bits as `int32`.
 * @throws {RangeError} If there is another number of counters than of rows.
 *
 * @example
 * ```ts
 * import { randomBits } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const key = tf.tensor1d([0, 0], "int32"), counter = tf.scalar(0, "int32");
 * const bits = randomBits([2], { key, counter }).dataSync();
 * assertEquals(Array.from(bits, (it) => (it >>> 0).toString(16)), [
 *   "6b200159",
 *   "99ba4efe",
 * ]);
 * ```
 */
export function randomBits(
  shape: readonly number[],
  source: RandomSource,
): tf.Tensor {
  return wordsOf(shape, source, 0);
}

/** Makes words without some lower bits. */
function wordsOf(
  shape: readonly number[],
  { key, counter }: RandomSource,
  shift: number,
): tf.Tensor {
  return run("Threefry", { key, counter }, { shape: [...shape], shift });
}

/**
 * Makes uniform random numbers from 0 to below 1, in steps of `2 ** -24`: the
 * same on every engine.
 *
 * @param shape Shape of the result.
 * @param source Key and counter.
 * @returns The numbers as `float32`.
 * @throws {RangeError} If there is another number of counters than of rows.
 *
 * @example
 * ```ts
 * import { randomUniform } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const key = tf.tensor1d([1, 2], "int32"), counter = tf.scalar(3, "int32");
 * const numbers = randomUniform([100], { key, counter }).dataSync();
 * assert(numbers.every((it) => it >= 0 && it < 1));
 * ```
 */
export function randomUniform(
  shape: readonly number[],
  source: RandomSource,
): tf.Tensor {
  return tf.tidy(() =>
    // As many bits as float32 holds.
    tf.mul(tf.cast(wordsOf(shape, source, 8), "float32"), 2 ** -24)
  );
}

/**
 * Makes normal random numbers of mean 0 and deviation 1 by the method of Box and
 * Muller: the same on every engine up to the last bits of its functions.
 *
 * @param shape Shape of the result.
 * @param source Key and counter.
 * @returns The numbers as `float32`.
 * @throws {RangeError} If there is another number of counters than of rows.
 *
 * @example
 * ```ts
 * import { randomNormal } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const key = tf.tensor1d([1, 2], "int32"), counter = tf.scalar(3, "int32");
 * const numbers = randomNormal([1000], { key, counter });
 * assert(Math.abs(tf.mean(numbers).dataSync()[0]) < 0.1);
 * ```
 */
export function randomNormal(
  shape: readonly number[],
  source: RandomSource,
): tf.Tensor {
  return tf.tidy(() => {
    const { rows, size } = rowsOf(shape, source.counter.shape);
    // TensorFlow.js cannot cut what it joined of nothing.
    if (size === 0) return tf.zeros([...shape]);
    const half = Math.ceil(size / 2);
    const pairs = randomUniform([rows, 2 * half], source);
    const [u, angles] = tf.split(pairs, 2, 1);
    // The logarithm takes no 0.
    const lengths = tf.sqrt(tf.mul(tf.log(tf.sub(1, u)), -2));
    const turns = tf.mul(angles, 2 * Math.PI);
    const both = tf.concat([
      tf.mul(lengths, tf.cos(turns)),
      tf.mul(lengths, tf.sin(turns)),
    ], 1);
    const numbers = tf.slice(both, [0, 0], [rows, size]);
    return tf.reshape(numbers, [...shape]);
  });
}
