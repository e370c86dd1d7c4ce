import * as tf from "@tensorflow/tfjs";
import type { Batch, BoxSpace, DictSpace, Space } from "@bellman/types";
import { ARRAYS, flattenRows, sizeOf } from "./_layers.ts";
import { partOf, type PerPart } from "./observation_parts.ts";

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

/**
 * Turns observations, as environments give them, into inputs of networks. Those of
 * a dict space have parts, each with an array of its own, until
 * {@linkcode ObservationEncoder.encode} joins them.
 */
export interface ObservationEncoder {
  /** Shape of one encoded observation. */
  readonly observationShape: readonly number[];
  /**
   * Shapes of the encoded parts, which lie side by side in this order.
   *
   * @default there are no parts
   */
  readonly observationParts?: Readonly<Record<string, readonly number[]>>;
  /** Numbers in one observation, as the environment gives it. */
  readonly observationSize: number;
  /** Shape and type of one observation before {@linkcode encode}. */
  readonly observationInput: PerPart<ObservationInput>;
  /** Divisor of {@linkcode encode}: 255 for bytes from 0 to 255, else 1. */
  readonly observationDivisor: PerPart<number>;
  /**
   * Copies observations into arrays of {@linkcode observationInput}'s type.
   *
   * @param batch Observations `[batchSize, ...]`, row-major.
   * @param into Where to; new arrays if none are given.
   * @returns The arrays.
   * @throws {RangeError} If the batch has another length than the array, or
   * holds a number that is not in a discrete space or not finite in 32 bits.
   */
  observationArray(
    batch: Observed,
    into?: ObservationInputArrays,
  ): ObservationInputArrays;
  /**
   * Encodes observations, as a pure function of tensors.
   *
   * @param batch Observations `[batchSize, ...observationInput.shape]`.
   * @returns Encoded observations, float32 `[batchSize, ...observationShape]`.
   */
  encode(batch: PerPart<tf.Tensor>): tf.Tensor;
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
  observationTensor(batch: Observed, batchSize: number): tf.Tensor;
}

/** Batch of observations as environments give them: of a dict a record of arrays. */
export type Observed = ObservationArray | Batch;

/** Array of observations as networks take them. */
export type ObservationInputArray = Float32Array | Int32Array | Uint8Array;

/** Arrays of observations as networks take them: of a dict those of its parts. */
export type ObservationInputArrays = PerPart<ObservationInputArray>;

/**
 * Makes the encoder for an observation space. Box observations become float32,
 * and bytes from 0 to 255 (images) are scaled to 0 to 1; discrete and
 * multi-discrete ones become one-hot vectors; multi-binary ones float32. The parts of
 * a dict are encoded alike, flattened and joined, in the order of the space.
 *
 * @param space Space of one observation.
 * @returns The encoder.
 * @throws {TypeError} If it is a tuple space, or has a dict or tuple within it.
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
    case "dict":
      return partsEncoder(space);
    case "tuple":
      throw unflattened(space, "as inputs");
  }
}

function unflattened({ type }: Space, where: string): TypeError {
  return new TypeError(
    `Cannot use ${type} observations ${where}: wrap the environment in VecFlattenObservation, a single one in FlattenObservation`,
  );
}

function boxEncoder(space: BoxSpace): SingleEncoder {
  const { shape } = space;
  const bytes = space.dtype === "uint8" &&
    [space.high].flat().every((high) => high === 255);
  const dtype = space.dtype === "float64" ? "float32" : space.dtype;
  return numberEncoder({ shape, dtype }, bytes ? 255 : 1);
}

/** An encoder of observations without parts. */
interface SingleEncoder extends ObservationEncoder {
  readonly observationInput: ObservationInput;
  readonly observationDivisor: number;
  observationArray(
    batch: Observed,
    into?: ObservationInputArrays,
  ): ObservationInputArray;
}

/** Makes the encoder of a dict from those of its parts. */
function partsEncoder({ spaces }: DictSpace): ObservationEncoder {
  if (Object.keys(spaces).length === 0) {
    throw new TypeError(
      "Cannot use dict observations without parts: expected one or more",
    );
  }
  const parts = Object.entries(spaces).map(([name, space]) => {
    if (space.type === "dict" || space.type === "tuple") {
      throw unflattened(space, "within a dict");
    }
    return { name, encoder: observationEncoder(space) as SingleEncoder };
  });
  type Part = typeof parts[number];
  const each = <T>(of: (part: Part) => T): Record<string, T> =>
    Object.fromEntries(parts.map((part) => [part.name, of(part)]));
  const total = (of: (encoder: SingleEncoder) => number) =>
    parts.reduce((sum, { encoder }) => sum + of(encoder), 0);
  const joined = (encoded: (part: Part) => tf.Tensor) =>
    tf.tidy(() => tf.concat(parts.map((it) => flattenRows(encoded(it))), 1));
  return {
    observationShape: [total((it) => sizeOf(it.observationShape))],
    observationParts: each(({ encoder }) => encoder.observationShape),
    observationSize: total((it) => it.observationSize),
    observationInput: each(({ encoder }) => encoder.observationInput),
    observationDivisor: each(({ encoder }) => encoder.observationDivisor),
    observationArray: (batch, into) =>
      each(({ name, encoder }) =>
        encoder.observationArray(
          partIn(batch, name),
          into && partOf(into, name),
        )
      ),
    encode: (batch) =>
      joined(({ name, encoder }) => encoder.encode(partOf(batch, name))),
    observationTensor: (batch, batchSize) =>
      joined(({ name, encoder }) =>
        encoder.observationTensor(partIn(batch, name), batchSize)
      ),
  };
}

/**
 * Returns the array of a part.
 *
 * @throws {TypeError} If there is none.
 */
function partIn(batch: Observed, name: string): ObservationArray {
  const found = (batch as Readonly<Record<string, unknown>>)[name];
  if (ArrayBuffer.isView(found) || Array.isArray(found)) {
    return found as ObservationArray;
  }
  throw new TypeError(
    `Cannot encode observations without an array '${name}': expected one for each part of the space`,
  );
}

/** Makes an encoder from the parts that differ between spaces. */
function encoderOf(
  { check, encode, ...parts }:
    & Omit<SingleEncoder, "observationArray" | "observationTensor" | "encode">
    & {
      check?: (batch: ObservationArray) => void;
      encode: (batch: tf.Tensor) => tf.Tensor;
    },
): SingleEncoder {
  const { observationInput: input, observationSize: size } = parts;
  const observationArray = (
    given: Observed,
    target?: ObservationInputArrays,
  ) => {
    const batch = given as ObservationArray;
    const into = (target ??
      new ARRAYS[input.dtype](batch.length)) as ObservationInputArray;
    checkLength(batch, into.length);
    check?.(batch);
    into.set(batch as ObservationInputArray);
    if (into instanceof Float32Array) checkFinite(into);
    return into;
  };
  return {
    ...parts,
    encode: (batch) => encode(batch as tf.Tensor),
    observationArray,
    observationTensor: (batch, batchSize) => {
      checkLength(batch as ObservationArray, batchSize * size);
      const numbers = observationArray(batch);
      return tf.tidy(() =>
        encode(tf.tensor(
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
): SingleEncoder {
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
): SingleEncoder {
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
      `Cannot encode ${batch.length} numbers as observations: the batch must have ${wanted}, of all environments; agent.policy({ numEnvs }) acts in another number of them`,
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
