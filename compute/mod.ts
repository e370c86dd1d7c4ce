/**
 * Compiled functions, the choice of a TensorFlow.js backend, gradients by path,
 * pure optimizers with clipping, and seeded streams of random numbers.
 *
 * @example
 * ```ts
 * import {
 *   clipByGlobalNorm,
 *   rmspropTf1,
 *   selectBackend,
 *   valueAndGradients,
 * } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assert } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const optimizer = rmspropTf1();
 * let params: Record<string, tf.Tensor> = { w: tf.tensor1d([1, 2]) };
 * let state = optimizer.init(params);
 * for (let i = 0; i < 20; i++) {
 *   const { gradients } = valueAndGradients(
 *     ({ w }) => ({ loss: tf.sum(tf.square(w)) }),
 *     params,
 *   );
 *   ({ params, state } = optimizer.apply(
 *     params,
 *     clipByGlobalNorm(gradients, 10).gradients,
 *     { state, learningRate: tf.scalar(0.1) },
 *   ));
 * }
 * assert(tf.sum(tf.square(params.w)).dataSync()[0] < 1);
 * ```
 *
 * @module
 */
export {
  type BackendInfo,
  type BackendName,
  type BackendOptions,
  ensureBackend,
  noticeNoBackend,
  selectBackend,
} from "./backends/select_backend.ts";
export * from "./clip.ts";
export * from "./compile/compile.ts";
export {
  type ArraysOf,
  type CompileOptions,
  type Engine,
  type EngineInfo,
  type EngineName,
  type InputsOf,
  selectEngine,
  type TensorInput,
} from "./compile/options.ts";
export * from "./gradients.ts";
export { ARRAYS } from "./graph/graph.ts";
export type {
  Attributes,
  ConstantData,
  DType,
  Graph,
  NamedValue,
  Node,
  TensorData,
  TensorType,
  Value,
} from "./graph/graph.ts";
export * from "./graph/passes/optimize.ts";
export * from "./image_patches.ts";
export * from "./loops/compile_in_place.ts";
export * from "./loops/shared_arrays.ts";
export * from "./lowering/export_onnx.ts";
export * from "./optimizers.ts";
export {
  addPrefix,
  type ArrayWithShape,
  cloneParams,
  disposeParams,
  mapParams,
  type Params,
  paramsFromArrays,
  paramsToArrays,
  paramTypes,
  pickPrefix,
  ravel,
  unravel,
  unravelArray,
} from "./params.ts";
export * from "./polyak.ts";
export * from "./random_bits.ts";
export * from "./random_stream.ts";
export { blockSize } from "./runtime/onnx_session.ts";
export * from "./tidy.ts";
export {
  switchCase,
  whileLoop,
  type WhileOptions,
} from "./tracing/control_flow.ts";
export * from "./tracing/scan.ts";
export {
  type TensorOfShape,
  type TensorsOf,
  trace,
  type TypeTree,
} from "./tracing/trace.ts";
export type { Tree } from "./tracing/tree.ts";
export {
  customGradient,
  hasOwnGradients,
  type OwnGradientFunction,
} from "./own_gradient.ts";
export * from "./weight_uses.ts";
