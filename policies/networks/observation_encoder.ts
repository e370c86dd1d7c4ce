import * as tf from "@tensorflow/tfjs";
import type { BoxSpace, Space } from "@bellman/types";
import { ARRAYS, sizeOf } from "./_layers.ts";

/** Arrays that observations come in. */
export type ObservationArray =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | Uint8Array
  | readonly number[];

/**
 * Form of observations as a network takes them: their numbers, before encoding.
 */
export interface ObservationInput {
  /** Shape of one observation. */
  readonly shape: readonly number[];
  /** Type of its numbers. */
  readonly dtype: "float32" | "int32" | "uint8";
}

/** Turns observations, as environments give them, into inputs of networks. */
export interface ObservationEncoder {
  /** Shape of one encoded observation. */
  readonly observationShape: readonly number[];
  /** Numbers in one observation, as the environment gives it. */
  readonly observationSize: number;
  /** Shape and type of one observation before {@linkcode encode}. */
  readonly observationInput: ObservationInput;
  /** Divisor of {@linkcode encode}: 255 for bytes from 0 to 255, else 1. */
  readonly observationDivisor: number;
  /**
   * Copies observations into an array of {@linkcode observationInput}'s type.
   *
   * @param batch Observations `[batchSize, ...]`, row-major.
   * @param into Where to; a new array if none is given.
   * @returns The array.
   * @throws {RangeError} If the batch has another length than the array, or
   * holds a number that is not in a discrete space or not finite in 32 bits.
   */
  observationArray(
    batch: ObservationArray,
    into?: ObservationInputArray,
  ): ObservationInputArray;
  /**
   * Encodes observations, as a pure function of tensors.
   *
   * @param batch Observations `[batchSize, ...observationInput.shape]`.
   * @returns Encoded observations, float32 `[batchSize, ...observationShape]`.
   */
  encode(batch: tf.Tensor): tf.Tensor;
  /**
   * Encodes observations: box as float32 (images from 0 to 1), discrete ones
   * one-hot, multi-binary as float32. The array is copied, so it may be used
   * again.
   *
   * @param batch Observations `[batchSize, ...]`, row-major.
   * @param batchSize Number of rows.
   * @returns Encoded observations, float32 `[batchSize, ...observationShape]`.
   * @throws {RangeError} If the array has another length, or holds a number
   * that is not in a discrete space or not finite in 32 bits.
   */
  observationTensor(batch: ObservationArray, batchSize: number): tf.Tensor;
}

/** Arrays of observations as networks take them. */
export type ObservationInputArray = Float32Array | Int32Array | Uint8Array;

/**
 * Makes the encoder for an observation space. Box observations become float32,
 * and bytes from 0 to 255 (images) are scaled to 0 to 1; discrete and
 * multi-discrete ones become one-hot vectors; multi-binary ones float32.
 *
 * @param space Space of one observation.
 * @returns The encoder.
 * @throws {TypeError} If it is a dict or tuple space.
 *
 * @example
 * ```ts
 * import { observationEncoder } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const encoder = observationEncoder({ type: "discrete", n: 3 });
 * const inputs = encoder.observationTensor(new Int32Array([2, 0]), 2);
 * assertEquals(inputs.arraySync(), [[0, 0, 1], [1, 0, 0]]);
 * ```
 */
export function observationEncoder(space: Space): ObservationEncoder {
  switch (space.type) {
    case "box":
      return boxEncoder(space);
    case "discrete":
      return oneHotEncoder([space.n], space.start ?? 0);
    case "multiDiscrete":
      return oneHotEncoder(space.nvec, 0);
    case "multiBinary":
      return numberEncoder({ shape: [space.n], dtype: "uint8" }, 1);
    default:
      throw new TypeError(
        `Cannot use ${space.type} observations as inputs: wrap the environment in VecFlattenObservation, a single one in FlattenObservation`,
      );
  }
}

function boxEncoder(space: BoxSpace): ObservationEncoder {
  const { shape } = space;
  const bytes = space.dtype === "uint8" &&
    [space.high].flat().every((high) => high === 255);
  const dtype = space.dtype === "float64" ? "float32" : space.dtype;
  return numberEncoder({ shape, dtype }, bytes ? 255 : 1);
}

/** Makes an encoder from the parts that differ between spaces. */
function encoderOf(
  { check, ...parts }:
    & Omit<ObservationEncoder, "observationArray" | "observationTensor">
    & { check?: (batch: ObservationArray) => void },
): ObservationEncoder {
  const { observationInput: input, observationSize: size } = parts;
  const observationArray = (
    batch: ObservationArray,
    into: ObservationInputArray = new ARRAYS[input.dtype](batch.length),
  ) => {
    checkLength(batch, into.length);
    check?.(batch);
    into.set(batch as ObservationInputArray);
    if (into instanceof Float32Array) checkFinite(into);
    return into;
  };
  return {
    ...parts,
    observationArray,
    observationTensor: (batch, batchSize) => {
      checkLength(batch, batchSize * size);
      const numbers = observationArray(batch);
      return tf.tidy(() =>
        parts.encode(tf.tensor(
          numbers instanceof Uint8Array ? Int32Array.from(numbers) : numbers,
          [batchSize, ...input.shape],
          input.dtype === "float32" ? "float32" : "int32",
        ))
      );
    },
  };
}

function numberEncoder(
  input: ObservationInput,
  divisor: number,
): ObservationEncoder {
  return encoderOf({
    observationShape: input.shape,
    observationSize: sizeOf(input.shape),
    observationInput: input,
    observationDivisor: divisor,
    encode: (batch) => {
      const numbers = tf.cast(batch, "float32");
      return divisor === 1 ? numbers : tf.div(numbers, divisor);
    },
  });
}

function oneHotEncoder(
  nvec: readonly number[],
  start: number,
): ObservationEncoder {
  const size = nvec.length;
  return encoderOf({
    observationShape: [nvec.reduce((sum, n) => sum + n, 0)],
    observationSize: size,
    observationInput: { shape: [size], dtype: "int32" },
    observationDivisor: 1,
    encode: (batch) =>
      tf.tidy(() => {
        const parts = nvec.map((n, i) => {
          const column = tf.slice(batch, [0, i], [-1, 1]);
          const all = tf.range(start, start + n, 1, "int32");
          return tf.cast(tf.equal(column, all), "float32");
        });
        return parts.length === 1 ? parts[0] : tf.concat(parts, 1);
      }),
    check: (batch) => {
      for (let i = 0; i < batch.length; i++) {
        checkIndex(batch[i] - start, nvec[i % size], start);
      }
    },
  });
}

function checkLength(batch: ObservationArray, wanted: number): void {
  if (batch.length !== wanted) {
    throw new RangeError(
      `Cannot encode ${batch.length} numbers as observations: the batch must have ${wanted}`,
    );
  }
}

/** Throws unless all numbers are finite, which a sum of products of 0 shows. */
function checkFinite(batch: Float32Array): void {
  let sum = 0;
  for (let i = 0; i < batch.length; i++) sum += batch[i] * 0;
  if (sum === 0) return;
  const at = batch.findIndex((it) => !Number.isFinite(it));
  throw new RangeError(
    `Cannot encode the observations: number ${at} of the batch is ${
      batch[at]
    } in 32 bits, expected a finite one`,
  );
}

function checkIndex(index: number, n: number, start: number): void {
  if (!(Number.isInteger(index) && index >= 0 && index < n)) {
    throw new RangeError(
      `Cannot encode the observation ${index + start}: ` +
        `the space has ${start} to ${start + n - 1}`,
    );
  }
}
