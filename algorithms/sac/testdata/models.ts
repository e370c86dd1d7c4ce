/** Small models and random batches for the tests of the updates. */
import { type Params, RandomStream } from "@bellman/compute";
import {
  diagonalGaussian,
  discreteQFunction,
  qFunction,
  type QFunctionOptions,
  type ReparameterizedDistribution,
  stochasticPolicy,
} from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import type { DiscreteSacModel } from "../updates/discrete_update.ts";
import type { SacModel } from "../updates/update.ts";

export const OBSERVATION_SIZE = 3;
export const ACTION_SIZE = 2;
export const ACTION_COUNT = 4;
/** Units of the hidden layer. */
export const HIDDEN_SIZE = 4;

const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;

/** Spaces of continuous actions, and options of small networks. */
export const CONTINUOUS = {
  observationSpace: { ...box, shape: [OBSERVATION_SIZE] },
  actionSpace: { ...box, shape: [ACTION_SIZE] },
  // Smooth, so that numeric differentiation meets no corner.
  networkOptions: { hiddenSizes: [HIDDEN_SIZE], activation: "tanh" },
} as const;

/** Policy and Q functions of continuous actions, with other critics. */
export function continuousModel(
  { distribution = "gaussian", ...critics }: Partial<QFunctionOptions> & {
    distribution?: "gaussian" | "mixture";
  } = {},
): SacModel {
  const isBatch = critics.normalization === "batch";
  return {
    policy: stochasticPolicy({
      ...{ ...CONTINUOUS, distribution, components: 2 },
      normalization: isBatch ? "batch" : "none",
    }),
    qf: qFunction({ ...CONTINUOUS, ...critics }),
  };
}

/** Policy and Q functions of discrete actions. */
export function discreteModel(): DiscreteSacModel {
  const spaces = {
    ...CONTINUOUS,
    actionSpace: { type: "discrete", n: ACTION_COUNT },
  } as const;
  return { policy: stochasticPolicy(spaces), qf: discreteQFunction(spaces) };
}

/** Transitions of continuous actions; some of them terminated. */
export function continuousBatch(
  seed: number,
  { rows = 6, noiseSize = ACTION_SIZE }: { rows?: number; noiseSize?: number } =
    {},
) {
  const random = new RandomStream(seed);
  const normal = <R extends tf.Rank = tf.Rank.R2>(...shape: number[]) => {
    const size = shape.reduce((product, it) => product * it, 1);
    const numbers = random.fillNormal(new Float32Array(size));
    return tf.tensor<R>(numbers, shape as tf.ShapeMap[R]);
  };
  return {
    observations: normal(rows, OBSERVATION_SIZE),
    actions: tf.tanh(normal(rows, ACTION_SIZE)),
    rewards: normal<tf.Rank.R1>(rows),
    terminated: tf.tensor1d(
      Array.from({ length: rows }, (_, i) => i % 3 === 2 ? 1 : 0),
    ),
    nextObservations: normal(rows, OBSERVATION_SIZE),
    noise: normal(rows, noiseSize),
    nextNoise: normal(rows, noiseSize),
  };
}

/** Transitions of discrete actions; some of them terminated. */
export function discreteBatch(seed: number, rows = 6) {
  const { noise: _, nextNoise: __, ...batch } = continuousBatch(seed, { rows });
  const actions = Array.from({ length: rows }, (_, i) => i % ACTION_COUNT);
  return { ...batch, actions: tf.tensor1d(actions, "int32") };
}

/** A Gaussian over one number that is not squashed: its optima are known. */
export function plainGaussian(): ReparameterizedDistribution {
  const gaussian = diagonalGaussian(1);
  return {
    ...gaussian,
    sampleWithLogProb: (parameters, noise) => {
      const raw = gaussian.sample(parameters, noise) as tf.Tensor2D;
      return { action: raw, logProb: gaussian.logProb(parameters, raw), raw };
    },
    logProbOfRaw: gaussian.logProb,
    regularization: (parameters) => tf.mean(tf.square(parameters), 1),
  };
}

/** What {@link peakModel}'s Q functions are of. */
export const PEAK = { at: 0.7, curvature: 4 };

/** Computes the peak's Q-values. */
function peak(params: Params, actions: tf.Tensor): tf.Tensor1D {
  const square = tf.square(tf.sub(tf.reshape(actions, [-1]), params.at));
  return tf.mul(square, -PEAK.curvature / 2);
}

/** A policy of two numbers, before Q functions `-curvature (a - at)^2 / 2`. */
export function peakModel(): SacModel {
  const rowsOf = (x: tf.Tensor) => tf.ones([x.shape[0], 1]);
  return {
    policy: {
      distribution: plainGaussian(),
      init: () => ({ parameters: tf.zeros([1, 2]) }),
      apply: (params, observations) => ({
        policy: tf.matMul(rowsOf(observations), params.parameters),
      }),
    },
    qf: {
      init: () => ({ at: tf.scalar(PEAK.at) }),
      apply: (params, _, actions) => peak(params, actions),
      estimate: (params, _, actions) => ({ values: peak(params, actions) }),
    },
  };
}

/** One state: a table of logits and a table of values. */
export function bandit(n: number): DiscreteSacModel {
  const row = (table: tf.Tensor, x: tf.Tensor) =>
    tf.matMul<tf.Tensor2D>(tf.ones([x.shape[0], 1]), table as tf.Tensor2D);
  const policy = stochasticPolicy({
    observationSpace: { type: "discrete", n: 1 },
    actionSpace: { type: "discrete", n },
  });
  const { masking } = policy.distribution;
  return {
    policy: {
      ...policy,
      init: () => ({ logits: tf.zeros([1, n]) }),
      apply({ logits }, x, { actionMasks } = {}) {
        const all = row(logits, x);
        return { policy: actionMasks ? masking!.apply(all, actionMasks) : all };
      },
    },
    qf: {
      init: () => ({ table: tf.zeros([1, n]) }),
      apply: ({ table }, x) => row(table, x),
    },
  };
}
