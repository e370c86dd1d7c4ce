import * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import { denseLayer } from "./_dense.ts";
import type { Distribution, NoiseSpec } from "./distribution.ts";
import { initKernelAndBias, type LayerInitializers } from "./_layers.ts";
import { nest, parameter } from "./parameters.ts";
import type { PolicyOutput } from "./policy.ts";
import type { RandomSource } from "@bellman/types";
import {
  sampleStateDependent,
  stateDependentLogStd,
} from "./state_dependent_exploration.ts";

/** The last layer of a policy, and how actions are sampled from it. */
export interface PolicyHead {
  readonly noise: NoiseSpec;
  init(random: RandomSource): Params;
  apply(params: Params, latent: tf.Tensor2D): PolicyOutput;
  sample(
    params: Params,
    output: PolicyOutput,
    noise: tf.Tensor2D,
  ): tf.Tensor;
}

/** What every head is made from. */
export interface PolicyHeadOptions {
  readonly features: number;
  readonly initializers: LayerInitializers;
}

/** One layer that gives all parameters of the distribution. */
export function denseHead(
  distribution: Distribution,
  { features, initializers }: PolicyHeadOptions,
): PolicyHead {
  const shape = [features, distribution.parameterSize];
  return {
    noise: distribution.noise,
    init: (random) =>
      nest(initKernelAndBias(shape, initializers, random), "head"),
    apply: (params, latent) => ({
      policy: denseLayer(params, "head", latent),
    }),
    sample: (_, output, noise) => distribution.sample(output.policy, noise),
  };
}

/** What {@link stateDependentHead} is made from. */
export interface StateDependentHeadOptions extends PolicyHeadOptions {
  readonly actionSize: number;
  readonly fullStd: boolean;
  readonly learnFeatures: boolean;
  readonly expln: boolean;
  readonly initialLogStd: number;
  readonly clipMean: number;
}

/**
 * One layer for the means, and deviations of a noise matrix of their own: an
 * action is `tanh(mean + latent E)`. Its distribution at a state is a squashed
 * Gaussian, whose parameters are the output.
 */
export function stateDependentHead(
  distribution: Distribution,
  options: StateDependentHeadOptions,
): PolicyHead {
  const { features, actionSize, initializers, clipMean } = options;
  const logStdShape = [features, options.fullStd ? actionSize : 1];
  const logStdOf = (params: Params): tf.Tensor2D => {
    const logStd = parameter<tf.Tensor2D>(params, "logStd");
    return options.expln ? explnLogStd(logStd) : logStd;
  };
  return {
    noise: { kind: "normal", size: features * actionSize },
    init: (random) => ({
      ...nest(
        initKernelAndBias([features, actionSize], initializers, random),
        "head",
      ),
      logStd: tf.fill(logStdShape, options.initialLogStd),
    }),
    apply(params, latent) {
      const mean = denseLayer(params, "head", latent);
      const logStd = stateDependentLogStd(latent, logStdOf(params), {
        actionSize,
        learnFeatures: options.learnFeatures,
      });
      const inside = tf.clipByValue(mean, -clipMean, clipMean);
      return { policy: tf.concat([inside, logStd], 1), latent };
    },
    sample(params, { policy, latent }, noise) {
      const mean = tf.slice(policy, [0, 0], [-1, actionSize]);
      const raw = sampleStateDependent(mean, logStdOf(params), {
        latent: latent!,
        noise,
      });
      return tf.reshape(tf.tanh(raw), [-1, ...distribution.actionShape]);
    },
  };
}

/**
 * The logarithm of a deviation that is `exp(x)` up to 0 and grows as
 * `1 + log(1 + x)` from there on, so that it does not run away.
 */
function explnLogStd(x: tf.Tensor2D): tf.Tensor2D {
  return tf.add(tf.minimum(x, 0), tf.log1p(tf.log1p(tf.relu(x))));
}
