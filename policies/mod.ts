/**
 * Networks, action distributions and actor-critic models, all as pure
 * functions of TensorFlow.js tensors: parameters and random numbers go in,
 * tensors come out, and nothing is kept.
 *
 * @example Sample actions from a new policy
 * ```ts
 * import { actorCritic } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assert, assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
export * from "./activations.ts";
export * from "./actor_critic.ts";
export * from "./actor_critic_types.ts";
export * from "./bernoulli.ts";
export * from "./categorical.ts";
export * from "./cnn.ts";
export * from "./compile_policy.ts";
export * from "./create_network.ts";
export * from "./diagonal_gaussian.ts";
export * from "./discrete_q_function.ts";
export * from "./distribution.ts";
export * from "./distribution_for.ts";
export * from "./env_actions.ts";
export * from "./export_policy.ts";
export * from "./fan_in_uniform.ts";
export * from "./function_options.ts";
export * from "./gaussian_mixture.ts";
export * from "./gaussian_mixture_types.ts";
export * from "./initializers.ts";
export * from "./lstm.ts";
export * from "./lstm_cell.ts";
export * from "./mlp.ts";
export * from "./multi_categorical.ts";
export * from "./network.ts";
export * from "./observation_encoder.ts";
export * from "./parameters.ts";
export * from "./policy.ts";
export * from "./policy_actor.ts";
export * from "./q_function.ts";
export * from "./reparameterized_distribution.ts";
export * from "./squashed_gaussian.ts";
export * from "./state_dependent_exploration.ts";
export * from "./stochastic_policy.ts";
export * from "./stochastic_policy_types.ts";
export * from "./uniform_distribution.ts";
export * from "./value_function.ts";
