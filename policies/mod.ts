/**
 * Neural networks, action distributions and actor-critic models as pure functions of
 * TensorFlow.js tensors: parameters and random numbers are arguments, results are
 * returned, and no state is kept.
 *
 * @example Sample actions from a new policy
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { actorCritic } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assert, assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const model = actorCritic({
 *   observationSpace: { type: "discrete", n: 16 },
 *   actionSpace: { type: "discrete", n: 4 },
 *   network: "mlp",
 *   networkOptions: { hiddenSizes: [32] },
 * });
 * const random = new RandomStream(1);
 * const params = model.init(random.split("init"));
 *
 * const observations = model.observationTensor(new Int32Array([3, 15]), 2);
 * const output = model.apply(params, observations);
 * const uniform = random.fillUniform(new Float32Array(2 * model.noise.size));
 * const noise = tf.tensor2d(uniform, [2, model.noise.size]);
 * const actions = model.sample(params, output, { noise });
 * const logProb = model.distribution.logProb(output.policy, actions);
 *
 * assertEquals(actions.shape, [2]);
 * assert(logProb.arraySync().every((value) => value < 0));
 * ```
 *
 * @module
 */
export * from "./distributions/continuous.ts";
export * from "./distributions/discrete.ts";
export * from "./distributions/distribution.ts";
export * from "./distributions/distribution_for.ts";
export * from "./distributions/gaussian_mixture.ts";
export {
  cnn,
  type CnnOptions,
  type ConvLayer,
  mlp,
  type MlpOptions,
} from "./networks/feed_forward.ts";
export * from "./networks/create_network.ts";
export * from "./networks/initializers.ts";
export { lstm, type LstmOptions } from "./networks/lstm.ts";
export * from "./networks/network.ts";
export * from "./networks/normalized_mlp.ts";
export {
  type FactorizedNoise,
  factorizedNoise,
  noisyLayer,
} from "./networks/noisy_layer.ts";
export * from "./networks/observations.ts";
export {
  type FunctionOptions,
  functionOptions,
  type LayerInputs,
  type LayerSettings,
} from "./models/_body.ts";
export * from "./models/actor_critic.ts";
export * from "./models/critics.ts";
export * from "./models/deterministic_policy.ts";
export * from "./models/policy.ts";
export * from "./models/q_policy.ts";
export * from "./models/quantiles.ts";
export * from "./models/stochastic_policy.ts";
export * from "./models/value_functions.ts";
export * from "./acting/frozen_actor.ts";
export * from "./acting/policy_actor.ts";
export * from "./acting/export_policy.ts";
