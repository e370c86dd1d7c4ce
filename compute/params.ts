import type * as tf from "@tensorflow/tfjs";
import type { TensorType } from "./graph/graph.ts";

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
 * import { assert } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
 * Shapes and types of a parameter map: what compiled functions declare.
 *
 * @param params The map.
 * @returns A map of the same paths, without numbers.
 * @example
 * ```ts
 * import { paramTypes } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
