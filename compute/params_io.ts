import * as tf from "@tensorflow/tfjs";
import type { Params } from "./params.ts";

/** A tensor's numbers outside of the backend: row-major data and its shape. */
export type ArrayWithShape = {
  /** The numbers, row-major. */
  data: Float32Array | Int32Array;
  /** The length of each axis. */
  shape: number[];
};

/**
 * Reads the tensors of a parameter map into arrays that the caller owns.
 *
 * Tensors of type `int32` become an `Int32Array`, all others a `Float32Array`.
 *
 * @param params The map to read.
 * @returns The arrays by path, in the same order.
 * @example
 * ```ts
 * import { paramsToArrays } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const arrays = paramsToArrays({ w: tf.tensor2d([[1, 2]]) });
 * assertEquals(arrays.w.shape, [1, 2]);
 * assertEquals([...arrays.w.data], [1, 2]);
 * ```
 */
export function paramsToArrays(
  params: Params,
): Record<string, ArrayWithShape> {
  const arrays: Record<string, ArrayWithShape> = {};
  for (const path in params) {
    const tensor = params[path];
    const values = tensor.dataSync();
    arrays[path] = {
      data: tensor.dtype === "int32"
        ? Int32Array.from(values)
        : Float32Array.from(values),
      shape: tensor.shape.slice(),
    };
  }
  return arrays;
}

/**
 * Makes tensors from arrays, the other way round of
 * {@linkcode paramsToArrays}.
 *
 * @param arrays The arrays by path.
 * @returns The tensors by path, in the same order.
 * @throws {RangeError} If an array does not have as many numbers as its shape.
 * @example
 * ```ts
 * import { paramsFromArrays } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * const params = paramsFromArrays({
 *   w: { data: new Float32Array([1, 2]), shape: [2, 1] },
 * });
 * assertEquals(params.w.shape, [2, 1]);
 * ```
 */
export function paramsFromArrays(
  arrays: Readonly<Record<string, ArrayWithShape>>,
): Params {
  const params: Params = {};
  for (const path in arrays) {
    const { data, shape } = arrays[path];
    const size = shape.reduce((product, length) => product * length, 1);
    if (data.length !== size) {
      throw new RangeError(
        `Cannot make '${path}' of shape [${shape}] from ${data.length} numbers: it holds ${size}`,
      );
    }
    const dtype = data instanceof Int32Array ? "int32" : "float32";
    // A copy: a backend may keep the array that it is given.
    params[path] = tf.tensor(data.slice(), shape, dtype);
  }
  return params;
}
