import * as tf from "@tensorflow/tfjs";
import { sizeOf } from "./_layers.ts";
import type { BoxSpaceLike, SpaceLike } from "./space.ts";

/**
 * Arrays that observations come in.
 *
 * @example
 * ```ts
 * import { observationEncoder, type ObservationArray } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const batch: ObservationArray = Int32Array.of(1);
 * const encoder = observationEncoder({ type: "discrete", n: 2 });
 * assertEquals([...encoder.encode(batch, 1).dataSync()], [0, 1]);
 * ```
 */
export type ObservationArray =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | Uint8Array;

/**
 * Turns observations, as environments give them, into inputs of networks.
 *
 * @example
 * ```ts
 * import { observationEncoder, type ObservationEncoder } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const encoder: ObservationEncoder = observationEncoder({
 *   type: "multiDiscrete",
 *   nvec: [2, 3],
 * });
 * assertEquals([encoder.size, encoder.shape], [2, [5]]);
 * ```
 */
export interface ObservationEncoder {
  /** Shape of one encoded observation. */
  readonly shape: readonly number[];
  /** Numbers in one observation before it is encoded. */
  readonly size: number;
  /**
   * Encodes a batch. The array is copied, so it may be used again.
   *
   * @param batch Observations `[batchSize, ...]`, row-major.
   * @param batchSize Number of rows.
   * @returns Encoded observations, float32 `[batchSize, ...shape]`.
   * @throws {RangeError} If the array has another length, or holds a number
   * that is not in a discrete space.
   */
  encode(batch: ObservationArray, batchSize: number): tf.Tensor;
}

/**
 * The encoder for an observation space. Box observations become float32, and
 * bytes from 0 to 255 (images) are scaled to 0 to 1; discrete and
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
 * const inputs = encoder.encode(new Int32Array([2, 0]), 2);
 * assertEquals(inputs.arraySync(), [[0, 0, 1], [1, 0, 0]]);
 * ```
 */
export function observationEncoder(space: SpaceLike): ObservationEncoder {
  switch (space.type) {
    case "box":
      return boxEncoder(space);
    case "discrete":
      return oneHotEncoder([space.n], space.start ?? 0);
    case "multiDiscrete":
      return oneHotEncoder(space.nvec, 0);
    case "multiBinary":
      return numberEncoder([space.n], 1);
    default:
      throw new TypeError(
        `Cannot use ${space.type} observations as inputs: ` +
          `wrap the environment in FlattenObservation`,
      );
  }
}

function boxEncoder(space: BoxSpaceLike): ObservationEncoder {
  const bytes = space.dtype === "uint8" &&
    [space.high].flat().every((high) => high === 255);
  return numberEncoder(space.shape, bytes ? 1 / 255 : 1);
}

function numberEncoder(
  shape: readonly number[],
  scale: number,
): ObservationEncoder {
  const size = sizeOf(shape);
  return {
    shape,
    size,
    encode(batch, batchSize) {
      checkLength(batch, batchSize * size);
      const values = new Float32Array(batch);
      if (scale !== 1) {
        for (let i = 0; i < values.length; i++) values[i] *= scale;
      }
      return tf.tensor(values, [batchSize, ...shape], "float32");
    },
  };
}

function oneHotEncoder(
  nvec: readonly number[],
  start: number,
): ObservationEncoder {
  const size = nvec.length;
  const width = nvec.reduce((sum, n) => sum + n, 0);
  const offsets = nvec.map((_, i) =>
    nvec.slice(0, i).reduce((sum, n) => sum + n, 0)
  );
  return {
    shape: [width],
    size,
    encode(batch, batchSize) {
      checkLength(batch, batchSize * size);
      const values = new Float32Array(batchSize * width);
      for (let i = 0; i < batch.length; i++) {
        const part = i % size;
        const index = batch[i] - start;
        checkIndex(index, nvec[part], start);
        const row = (i - part) / size;
        values[row * width + offsets[part] + index] = 1;
      }
      return tf.tensor(values, [batchSize, width], "float32");
    },
  };
}

function checkLength(batch: ObservationArray, wanted: number): void {
  if (batch.length !== wanted) {
    throw new RangeError(
      `Cannot encode ${batch.length} numbers as observations: ` +
        `the batch must have ${wanted}`,
    );
  }
}

function checkIndex(index: number, n: number, start: number): void {
  if (!(Number.isInteger(index) && index >= 0 && index < n)) {
    throw new RangeError(
      `Cannot encode the observation ${index + start}: ` +
        `the space has ${start} to ${start + n - 1}`,
    );
  }
}
