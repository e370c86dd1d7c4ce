/**
 * Natural-gradient descent with Kronecker-factored curvature (K-FAC) for any network in
 * TensorFlow.js operations: layers found from the operations that use the parameters,
 * factors and their moving averages, damping, trust region, momentum, EK-FAC, and
 * predictive distributions for the Fisher matrix.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { categorical, findLayers, Kfac, sampledLogProb } from "@bellman/kfac";
 * import type { Params } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const params: Params = { w: tf.ones([2, 3]), b: tf.zeros([3]) };
 * const x = tf.tensor2d([[1, 2], [3, 4]]);
 * const network = ({ w, b }: Params) => tf.add<tf.Tensor2D>(tf.matMul(x, w), b);
 * const layers = findLayers(network, { params, inputs: {} });
 * const { gradients, rows } = new Kfac(layers).gradients((params) => {
 *   const head = categorical(network(params));
 *   return {
 *     loss: tf.neg(tf.mean(head.logProb(tf.tensor1d([0, 2])))),
 *     logLikelihood: sampledLogProb(head, tf.tensor2d([[0.1], [0.9]])),
 *   };
 * }, params);
 * assertEquals(layers, [{ kernel: "w", bias: "b" }]);
 * assertEquals(gradients.b.shape, [3]);
 * assertEquals(rows.w.inputs.arraySync(), [[1, 2, 1], [3, 4, 1]]);
 * ```
 *
 * @module
 */
export * from "./factors.ts";
export * from "./inverses.ts";
export * from "./kfac.ts";
export {
  type FactorPair,
  findLayers,
  type FindLayersOptions,
  type KfacForm,
  type KfacLayer,
  type KfacObjective,
} from "./layers.ts";
export { type KfacOptions, type TrustRegion } from "./options.ts";
export * from "./predictive.ts";
export * from "./rows.ts";
export {
  kfacSchedule,
  type KfacScheduled,
  type KfacScheduleOptions,
} from "./schedule.ts";
