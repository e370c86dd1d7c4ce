/**
 * TensorFlow.js's core, in the very version that Bellman computes with: tensors of
 * another one are not known to it.
 *
 * @example
 * ```ts
 * import { selectBackend } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const { total } = tf.tidy(() => ({ total: tf.tensor1d([1, 2]).sum() }));
 * assertEquals(total.dataSync(), Float32Array.of(3));
 * ```
 *
 * @module
 */
import { removeCommonJs } from "./commonjs.ts"; // Before TensorFlow.js.
import "./tfjs_gradients.js";
// Types of the methods that it adds to tensors.
export type * from "@tensorflow/tfjs/dist/public/chained_ops/register_all_chained_ops.js";
export * from "@tensorflow/tfjs";

removeCommonJs();
