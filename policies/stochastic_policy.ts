import { tidy } from "@bellman/compute";
import { body, layerInitializers } from "./_body.ts";
import type { Distribution } from "./distribution.ts";
import { observationEncoder } from "./observation_encoder.ts";
import { observing } from "./_observing.ts";
import { policyDistribution } from "./_policy_distribution.ts";
import {
  denseHead,
  type PolicyHead,
  stateDependentHead,
} from "./_policy_head.ts";
import type { ReparameterizedDistribution } from "./reparameterized_distribution.ts";
import type { BoxSpace } from "@bellman/types";
import type {
  StochasticPolicy,
  StochasticPolicyOptions,
} from "./stochastic_policy_types.ts";

/**
 * Makes a policy for a pair of spaces: for box actions a squashed Gaussian or a
 * mixture, in [-1, 1]; for others what {@link distributionFor} chooses, for
 * discrete actions logits.
 *
 * Parameters: those of the network, `dense0/kernel` and so on, with
 * `features/` before those of a network that is no mlp; `head/kernel`,
 * `head/bias`; and for state-dependent exploration `logStd`.
 *
 * @param options Spaces, network and distribution.
 * @returns The policy.
 * @throws {TypeError} If a space is a dict or tuple, or the distribution or
 * state-dependent exploration does not fit the actions.
 * @throws {RangeError} If the network is recurrent, its name, inputs or options
 * do not fit, or box actions have no finite bounds.
 *
 * @example
 * ```ts
 * import { stochasticPolicy } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const box = { type: "box", low: -2, high: 2, dtype: "float32" } as const;
 * const policy = stochasticPolicy({
 *   observationSpace: { ...box, shape: [3] },
 *   actionSpace: { ...box, shape: [1] },
 * });
 * const params = policy.init(new RandomStream(1));
 * const output = policy.apply(params, tf.zeros([4, 3]));
 * const { action, logProb } = policy.distribution.sampleWithLogProb(
 *   output.policy,
 *   tf.zeros([4, 1]),
 * );
 * assertEquals([action.shape, logProb.shape], [[4, 1], [4]]);
 * ```
 */
export function stochasticPolicy(
  options: StochasticPolicyOptions & { readonly actionSpace: BoxSpace },
): StochasticPolicy<ReparameterizedDistribution>;
/**
 * Makes a policy for any pair of spaces.
 *
 * @param options Spaces, network and distribution.
 * @returns The policy.
 *
 * @example
 * ```ts
 * import { stochasticPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const policy = stochasticPolicy({
 *   observationSpace: { type: "discrete", n: 5 },
 *   actionSpace: { type: "discrete", n: 3 },
 * });
 * assertEquals(policy.distribution.parameterSize, 3);
 * ```
 */
export function stochasticPolicy(
  options: StochasticPolicyOptions,
): StochasticPolicy;
export function stochasticPolicy(
  options: StochasticPolicyOptions,
): StochasticPolicy {
  const { actionSpace, useSde = false } = options;
  const encoder = observationEncoder(options.observationSpace);
  const distribution = policyDistribution(options);
  const layers = body(encoder.shape, 0, options);
  const head = policyHead(distribution, layers.outputSize, options);
  return {
    ...observing(encoder),
    stateSize: 0,
    distribution,
    noise: head.noise,
    usesStateDependentExploration: useSde,
    squashesActions: actionSpace.type === "box",
    init: (random) => ({ ...layers.init(random), ...head.init(random) }),
    apply: (params, observations) =>
      tidy(() => head.apply(params, layers.apply(params, observations))),
    sample: (params, output, { noise }) =>
      tidy(() => head.sample(params, output, noise)),
    mode: (output) => distribution.mode(output.policy),
  };
}

function policyHead(
  distribution: Distribution,
  features: number,
  options: StochasticPolicyOptions,
): PolicyHead {
  const initializers = layerInitializers(options.initializer);
  if (!options.useSde) {
    return denseHead(distribution, { features, initializers });
  }
  return stateDependentHead(distribution, {
    features,
    initializers,
    actionSize: distribution.parameterSize / 2,
    fullStd: options.sdeFullStd ?? true,
    learnFeatures: options.sdeLearnFeatures ?? true,
    expln: options.sdeExpln ?? false,
    initialLogStd: options.sdeInitialLogStd ?? -3,
    clipMean: options.sdeClipMean ?? 2,
  });
}
