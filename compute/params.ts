import * as tf from "@tensorflow/tfjs";
import { sizeOf, type TensorType } from "./graph/graph.ts";

/**
 * Parameters of a model: an ordered map from path to tensor, such as
 * `pi/dense0/kernel`. Gradients and optimizer slots mirror it.
 */
export type Params = Record<string, tf.Tensor>;

/**
 * Frees the tensors of a parameter map, or of several.
 *
 * @param maps The maps whose tensors are no longer needed.
 * @example
 * ```ts
 * import { disposeParams } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assert } from "@std/assert";
 *
 * const params = { "pi/bias": tf.zeros([2]) };
 * disposeParams(params);
 * assert(params["pi/bias"].isDisposed);
 * ```
 */
export function disposeParams(...maps: readonly Params[]): void {
  for (const params of maps) {
    for (const path in params) params[path].dispose();
  }
}

/**
 * Copies a parameter map: the new tensors live on when the old are freed.
 *
 * @param params The map to copy.
 * @returns A map of the same paths, in the same order.
 * @example
 * ```ts
 * import { cloneParams, disposeParams } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * const params = { "pi/bias": tf.tensor1d([1, 2]) };
 * const copy = cloneParams(params);
 * disposeParams(params);
 * assertEquals([...copy["pi/bias"].dataSync()], [1, 2]);
 * ```
 */
export function cloneParams(params: Params): Params {
  return mapParams(params, (tensor) => tensor.clone());
}

/**
 * Applies a function to each tensor of a map.
 *
 * @param params The map.
 * @param transform Makes the new tensor from the old one and its path.
 * @returns A map of the same paths, in the same order.
 * @example
 * ```ts
 * import { mapParams } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * const doubled = mapParams({ w: tf.scalar(3) }, (tensor) => tensor.mul(2));
 * assertEquals(doubled.w.dataSync()[0], 6);
 * ```
 */
export function mapParams(
  params: Params,
  transform: (tensor: tf.Tensor, path: string) => tf.Tensor,
): Params {
  const mapped: Params = {};
  for (const path in params) mapped[path] = transform(params[path], path);
  return mapped;
}

/**
 * Takes the part of a parameter map under a prefix, with the prefix taken off.
 *
 * The tensors are shared, not copied.
 *
 * @param params Map from path to tensor, or to its numbers.
 * @param name First part of the wanted paths, without the slash.
 * @returns The entries whose path starts with `name/`, in their order.
 *
 * @example
 * ```ts
 * import { pickPrefix } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * const bias = tf.zeros([2]);
 * const params = { "pi/head/bias": bias, "vf/head/bias": bias };
 * assertEquals(Object.keys(pickPrefix(params, "pi")), ["head/bias"]);
 * ```
 */
export function pickPrefix<T>(
  params: Readonly<Record<string, T>>,
  name: string,
): Record<string, T> {
  const start = `${name}/`;
  const inside: Record<string, T> = {};
  for (const path in params) {
    if (path.startsWith(start)) inside[path.slice(start.length)] = params[path];
  }
  return inside;
}

/**
 * Puts each path of a parameter map under a prefix: undone by {@link pickPrefix}.
 *
 * The tensors are shared, not copied.
 *
 * @param params Map from path to tensor, or to its numbers.
 * @param name Name to put before each path, without the slash.
 * @returns The same entries, named `name/path`.
 *
 * @example
 * ```ts
 * import { addPrefix } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * const params = addPrefix({ "head/bias": tf.zeros([2]) }, "pi");
 * assertEquals(Object.keys(params), ["pi/head/bias"]);
 * ```
 */
export function addPrefix<T>(
  params: Readonly<Record<string, T>>,
  name: string,
): Record<string, T> {
  const outside: Record<string, T> = {};
  for (const path in params) outside[`${name}/${path}`] = params[path];
  return outside;
}

/**
 * Returns the shapes and types of a parameter map, as compiled functions
 * declare them.
 *
 * @param params The map.
 * @returns A map of the same paths, without numbers.
 * @example
 * ```ts
 * import { paramTypes } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * const types = paramTypes({ "pi/bias": tf.zeros([2]) });
 * assertEquals(types, { "pi/bias": { shape: [2], dtype: "float32" } });
 * ```
 */
export function paramTypes(params: Params): Record<string, TensorType> {
  return Object.fromEntries(
    Object.entries(params).map(([path, { shape, dtype }]) => [
      path,
      { shape, dtype: dtype as TensorType["dtype"] },
    ]),
  );
}

/** A tensor's numbers outside the backend: row-major data and its shape. */
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
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
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
    const size = sizeOf(shape);
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

/**
 * Joins the tensors of a map, one after the other, to one vector: one operation on it
 * does what one for each would.
 *
 * @param params The map.
 * @param paths Paths of the tensors, in their order.
 * @returns The vector.
 * @example
 * ```ts
 * import { ravel } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * const params = { b: tf.tensor1d([3]), w: tf.tensor2d([[1, 2]]) };
 * assertEquals(ravel(params).arraySync(), [3, 1, 2]);
 * assertEquals(ravel(params, ["w", "b"]).arraySync(), [1, 2, 3]);
 * ```
 */
export function ravel(
  params: Params,
  paths: readonly string[] = Object.keys(params),
): tf.Tensor1D {
  return tf.concat1d(
    paths.map((path) => tf.reshape(params[path], [-1]) as tf.Tensor1D),
  );
}

/**
 * Cuts a vector into tensors of the shapes and paths of others, the other way
 * round of {@linkcode ravel}.
 *
 * @param flat The vector.
 * @param like Map of the wanted paths and shapes.
 * @param prefix Beginning of the new paths.
 * @returns The tensors.
 * @example
 * ```ts
 * import { unravel } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * const like = { w: tf.zeros([1, 2]), b: tf.zeros([1]) };
 * const { w, b } = unravel(tf.tensor1d([1, 2, 3]), like);
 * assertEquals(w.arraySync(), [[1, 2]]);
 * assertEquals(b.arraySync(), [3]);
 * ```
 */
export function unravel(
  flat: tf.Tensor1D,
  like: Params,
  prefix = "",
): Params {
  const paths = Object.keys(like);
  const parts = tf.split(flat, paths.map((path) => like[path].size));
  const params: Params = {};
  paths.forEach((path, i) =>
    params[prefix + path] = tf.reshape(parts[i], like[path].shape)
  );
  return params;
}

/**
 * Views an array of the numbers of {@linkcode ravel} as arrays by path, which change
 * with it: the form that is shared or sent as a whole.
 *
 * @param flat The array.
 * @param like Map of the paths and shapes.
 * @returns The views.
 * @example
 * ```ts
 * import { unravelArray } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * const like = { w: { shape: [1, 2] }, b: { shape: [1] } };
 * const { b } = unravelArray(Float32Array.of(1, 1, 0), like);
 * assertEquals(b, { data: Float32Array.of(0), shape: [1] });
 * ```
 */
export function unravelArray(
  flat: Float32Array,
  like: Readonly<Record<string, { readonly shape: readonly number[] }>>,
): Record<string, ArrayWithShape> {
  const views: Record<string, ArrayWithShape> = {};
  let offset = 0;
  for (const path in like) {
    const shape = [...like[path].shape];
    const size = sizeOf(shape);
    views[path] = { data: flat.subarray(offset, offset += size), shape };
  }
  return views;
}
