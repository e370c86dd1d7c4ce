import type { BoxSpace, RandomSource, Space } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { type Params, tidy } from "@bellman/compute";
import type {
  Distribution,
  NoiseSpec,
  ReparameterizedDistribution,
} from "../distributions/distribution.ts";
import { checkSquashable } from "../distributions/_shared.ts";
import { distributionFor } from "../distributions/distribution_for.ts";
import { gaussianMixture } from "../distributions/gaussian_mixture.ts";
import { squashedGaussian } from "../distributions/continuous.ts";
import {
  sampleStateDependent,
  stateDependentLogStd,
} from "../distributions/state_dependent_exploration.ts";
import {
  body,
  type FunctionOptions,
  layerInitializers,
  maskedBy,
} from "./_body.ts";
import type { Policy, PolicyOutput } from "./policy.ts";
import { denseLayer, initLayer, sizeOf } from "../networks/_layers.ts";
import { parameter } from "../networks/network.ts";
import { observationEncoder } from "../networks/observations.ts";

/** Options of {@link stochasticPolicy}. */
export interface StochasticPolicyOptions extends FunctionOptions {
  /** Action space: any but dict and tuple; bounds must be finite. */
  readonly actionSpace: Space;
  /**
   * Distribution of box actions: {@link squashedGaussian} or
   * {@link gaussianMixture}.
   *
   * @default "gaussian"
   */
  readonly distribution?: "gaussian" | "mixture";
  /**
   * Number of mixture components.
   *
   * @default 4
   */
  readonly components?: number;
  /**
   * Bounds of the log standard deviations. State-dependent exploration ignores them.
   *
   * @default [-20, 2]
   */
  readonly logStdBounds?: readonly [low: number, high: number];
  /**
   * Formula of the log-probability, as in {@link squashedGaussian}.
   *
   * @default "exact"
   */
  readonly squashCorrection?: "exact" | "epsilon";
  /**
   * Use state-dependent exploration (gSDE) for box actions (Raffin et al. 2020,
   * https://arxiv.org/abs/2005.05719); Gaussian only.
   *
   * @default false
   */
  readonly useSde?: boolean;
  /**
   * Initial log standard deviation of state-dependent exploration.
   *
   * @default -3
   */
  readonly sdeInitialLogStd?: number;
}

/**
 * Policy without a value function, as {@link stochasticPolicy} makes it.
 *
 * `distribution` with the parameters `output.policy` is the distribution of each row's
 * action. With state-dependent exploration `sample` takes a noise matrix for each row,
 * which may be kept over several steps, while `distribution` takes one number for each
 * action dimension: enough for updates.
 */
export type StochasticPolicy<D extends Distribution = Distribution> = Policy<
  PolicyOutput,
  D
>;

/** Last layer of a policy, with its sampling. */
interface PolicyHead {
  readonly noise: NoiseSpec;
  init(random: RandomSource): Params;
  apply(params: Params, latent: tf.Tensor2D): PolicyOutput;
  sample(params: Params, output: PolicyOutput, noise: tf.Tensor2D): tf.Tensor;
}

/** Makes a linear layer that outputs all parameters of the distribution. */
function denseHead(
  distribution: Distribution,
  features: number,
  { initializer }: StochasticPolicyOptions,
): PolicyHead {
  const shape = [features, distribution.parameterSize];
  const initializers = layerInitializers(initializer);
  return {
    noise: distribution.noise,
    init: (random) => initLayer("head", shape, initializers, random),
    apply: (params, latent) => ({
      policy: denseLayer(params, "head", latent),
    }),
    sample: (_, output, noise) => distribution.sample(output.policy, noise),
  };
}

/**
 * Makes a head for state-dependent exploration: a layer for the means, and standard
 * deviations of a noise matrix. An action is `tanh(mean + latent E)`: a squashed
 * Gaussian, whose parameters are the output.
 */
function stateDependentHead(
  distribution: Distribution,
  features: number,
  options: StochasticPolicyOptions,
): PolicyHead {
  const { initializer, sdeInitialLogStd = -3 } = options;
  const initializers = layerInitializers(initializer);
  const actionSize = distribution.parameterSize / 2;
  const shape = [features, actionSize];
  return {
    noise: { kind: "normal", size: features * actionSize },
    init: (random) => ({
      ...initLayer("head", shape, initializers, random),
      logStd: tf.fill(shape, sdeInitialLogStd),
    }),
    apply(params, latent) {
      const mean = denseLayer(params, "head", latent);
      const logStd = stateDependentLogStd(latent, parameter(params, "logStd"), {
        learnFeatures: true,
      });
      const inside = tf.clipByValue(mean, -LARGEST_MEAN, LARGEST_MEAN);
      return { policy: tf.concat([inside, logStd], 1), latent };
    },
    sample(params, { policy, latent }, noise) {
      const mean = tf.slice(policy, [0, 0], [-1, actionSize]);
      const raw = sampleStateDependent(mean, parameter(params, "logStd"), {
        latent: latent!,
        noise,
      });
      return tf.reshape(tf.tanh(raw), [-1, ...distribution.actionShape]);
    },
  };
}

/** Clip of pre-tanh means with state-dependent exploration. */
const LARGEST_MEAN = 2;

/** Makes the distribution that the options choose. */
function policyDistribution(
  options: StochasticPolicyOptions,
): Distribution {
  const { actionSpace, distribution: kind = "gaussian", useSde } = options;
  if (actionSpace.type === "box") return boxDistribution(options, actionSpace);
  if (useSde) {
    throw new TypeError(
      `Cannot use state-dependent exploration for ${actionSpace.type} actions: it is for box actions`,
    );
  }
  if (kind !== "gaussian") {
    throw new TypeError(
      `Cannot use a ${kind} for ${actionSpace.type} actions: it is for box actions`,
    );
  }
  return distributionFor(actionSpace);
}

function boxDistribution(
  options: StochasticPolicyOptions,
  space: BoxSpace,
): Distribution {
  const { distribution = "gaussian", components, useSde } = options;
  const { logStdBounds, squashCorrection } = options;
  checkSquashable(space);
  const { shape } = space;
  const size = sizeOf(shape);
  const common = { shape, logStdBounds, squashCorrection };
  switch (distribution) {
    case "gaussian":
      return squashedGaussian(size, {
        ...common,
        ...(useSde && { logStdBounds: [-Infinity, Infinity] as const }),
      });
    case "mixture":
      if (!useSde) return gaussianMixture(size, { ...common, components });
      throw new TypeError(
        "Cannot use state-dependent exploration with a mixture: it is for the Gaussian",
      );
    default:
      throw new RangeError(
        `Unknown distribution '${distribution}': choose gaussian or mixture`,
      );
  }
}

/**
 * Makes a policy without a value function, as in soft actor-critic: for box actions a
 * squashed Gaussian or mixture in [-1, 1]; for other spaces the distribution of
 * {@link distributionFor}.
 *
 * Parameters: those of the network, `dense0/kernel` and so on, under `features/` for a
 * feature extractor; `head/kernel`, `head/bias`; and for state-dependent exploration
 * `logStd`.
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
 * import * as tf from "@bellman/compute/tf";
 * import { stochasticPolicy } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
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
 * Makes a policy for any observation and action space.
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
  const layers = body(encoder, 0, options);
  const makeHead = useSde ? stateDependentHead : denseHead;
  const head = makeHead(distribution, layers.outputSize, options);
  return {
    ...encoder,
    stateSize: 0,
    distribution,
    noise: head.noise,
    usesStateDependentExploration: useSde,
    squashesActions: actionSpace.type === "box",
    init: (random) => ({ ...layers.init(random), ...head.init(random) }),
    apply: (params, observations, inputs = {}) =>
      tidy(() => {
        const { training } = inputs;
        const features = layers.apply(params, observations, { training });
        const output = head.apply(params, features.output);
        return {
          ...output,
          ...(features.running && { running: features.running }),
          policy: maskedBy(inputs, distribution, output.policy),
        };
      }),
    sample: (params, output, { noise }) =>
      tidy(() => head.sample(params, output, noise)),
    mode: (output) => distribution.mode(output.policy),
  };
}
