import { customGradient, type Params, tidy } from "@bellman/compute";
import { hintAt } from "@bellman/files/options";
import type { RandomSource } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { mlp, type MlpOptions } from "./feed_forward.ts";
import {
  activationFunction,
  denseLayer,
  flattenRows,
  normalizeRows,
  sizeOf,
} from "./_layers.ts";
import {
  type Network,
  type NetworkInputs,
  type NetworkOutput,
  parameter,
} from "./network.ts";

/** Normalization of the layers of a {@link normalizedMlp}. */
export type LayerNormalization = "none" | "layer" | "batch";

const NORMALIZATIONS: readonly LayerNormalization[] = [
  "none",
  "layer",
  "batch",
];

/** Options of {@link normalizedMlp}. */
export interface NormalizedMlpOptions extends MlpOptions {
  /**
   * Normalization: `layer` before each activation, `batch` (batch renormalization) of
   * the inputs and after each activation.
   *
   * @default "none"
   */
  readonly normalization?: LayerNormalization;
  /**
   * Probability that a unit is dropped, 0 or more and below 1.
   *
   * @default 0
   */
  readonly dropout?: number;
  /**
   * Updates of `batch` by the statistics of their batch alone, before the running ones
   * correct them.
   *
   * @default 100000
   */
  readonly warmupUpdates?: number;
}

/**
 * Makes a multilayer perceptron with normalized layers and dropout. Parameters:
 * `dense0/kernel [in, out]`, `dense0/bias`, `norm0/scale`, `norm0/bias` and so on;
 * `batch` has running statistics beside them, `running/norm0/mean`,
 * `running/norm0/variance` and `running/norm0/steps`, which no optimizer moves.
 *
 * - `layer`: dense, dropout, layer normalization, activation (DroQ)
 * - `batch`: normalization of the inputs, then dense, dropout, activation,
 *   normalization (CrossQ)
 *
 * Source: Hiraoka et al. 2022 (https://arxiv.org/abs/2110.02034); Bhatt et al. 2024
 * (https://arxiv.org/abs/1902.05605).
 *
 * @param options Sizes, normalization, dropout, activation and initializers.
 * @returns The network.
 * @throws {RangeError} If there is no activation or normalization of that name, or
 * `dropout` is not in [0, 1).
 *
 * @example
 * ```ts
 * import { RandomStream } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { normalizedMlp } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const network = normalizedMlp({
 *   inputShape: [2],
 *   hiddenSizes: [4],
 *   normalization: "batch",
 * });
 * const params = network.init(new RandomStream(1));
 * const x = tf.tensor2d([[1, 2], [3, 4]]);
 * const { running } = network.apply(params, { x, training: true });
 * assertEquals(running!["running/norm0/steps"].arraySync(), 1);
 * ```
 */
export function normalizedMlp(options: NormalizedMlpOptions): Network {
  const { hiddenSizes = [64, 64], activation = "tanh", inputShape } = options;
  const { normalization = "none", dropout = 0 } = options;
  const { warmupUpdates = 100_000 } = options;
  const activate = activationFunction(activation);
  if (!NORMALIZATIONS.includes(normalization)) {
    throw new RangeError(
      `Unknown normalization '${normalization}': ${
        hintAt(normalization, NORMALIZATIONS)
      }`,
    );
  }
  if (!(dropout >= 0 && dropout < 1)) {
    throw new RangeError(
      `Cannot drop units with a probability of ${dropout}: expected 0 or more and below 1`,
    );
  }
  const dense = mlp(options);
  const normSizes = normalization === "batch"
    ? [sizeOf(inputShape), ...hiddenSizes]
    : normalization === "layer"
    ? hiddenSizes
    : [];

  function init(random: RandomSource): Params {
    const params = dense.init(random);
    for (const [i, size] of normSizes.entries()) {
      params[`norm${i}/scale`] = tf.ones([size]);
      params[`norm${i}/bias`] = tf.zeros([size]);
      if (normalization === "layer") continue;
      params[`running/norm${i}/mean`] = tf.zeros([size]);
      params[`running/norm${i}/variance`] = tf.ones([size]);
      params[`running/norm${i}/steps`] = tf.scalar(0);
    }
    return params;
  }

  function apply(params: Params, inputs: NetworkInputs): NetworkOutput {
    return tidy(() => {
      const running: Params = {};
      const renormalized = (x: tf.Tensor2D, name: string) => {
        if (normalization !== "batch") return x;
        const layer = batchLayer(params, name);
        if (!inputs.training) return withRunning(layer, x);
        const { output, statistics } = renormalize(layer, x, {
          name,
          warmupUpdates,
        });
        Object.assign(running, statistics);
        return output;
      };
      let h = renormalized(flattenRows(inputs.x), "norm0"), from = 0;
      for (const [i, size] of hiddenSizes.entries()) {
        h = denseLayer(params, `dense${i}`, h);
        if (dropout > 0 && inputs.dropout !== undefined) {
          const uniform = tf.slice(inputs.dropout, [0, from], [-1, size]);
          h = tf.mul(h, keptUnits(uniform, dropout));
          from += size;
        }
        if (normalization === "layer") {
          const scale = parameter<tf.Tensor1D>(params, `norm${i}/scale`);
          h = normalizeRows(h, scale, parameter(params, `norm${i}/bias`));
        }
        h = renormalized(activate(h) as tf.Tensor2D, `norm${i + 1}`);
      }
      return Object.keys(running).length > 0
        ? { output: h, running }
        : { output: h };
    });
  }

  return { ...dense, init, apply };
}

/** Computes factors of units: 0 for dropped ones, `1 / (1 - dropout)` for others. */
function keptUnits(uniform: tf.Tensor2D, dropout: number): tf.Tensor2D {
  const kept = tf.cast(tf.greaterEqual(uniform, dropout), "float32");
  return tf.mul(kept, 1 / (1 - dropout));
}

const MOMENTUM = 0.99;
const EPSILON = 1e-3;
/** Largest ratio of deviations, and the inverse of the smallest. */
const LARGEST_RATIO = 3;
/** Largest distance of means, in deviations. */
const LARGEST_DISTANCE = 5;
/** Smallest variance whose root has a gradient: that of a constant column has none. */
const SMALLEST_VARIANCE = 1e-30;

/** Normalizes by the running statistics. */
function withRunning(
  { scale, bias, mean, variance }: BatchLayer,
  x: tf.Tensor2D,
): tf.Tensor2D {
  const slope = tf.mul(scale, tf.rsqrt(tf.add(variance, EPSILON)));
  return tf.add(tf.mul(x, slope), tf.sub(bias, tf.mul(mean, slope)));
}

/**
 * Normalizes by the statistics of the batch, moved towards the running ones once there
 * were enough updates, and returns new running statistics. Gradients flow through the
 * statistics of the batch.
 *
 * Source: Ioffe 2017 (https://arxiv.org/abs/1702.03275), as in CrossQ.
 */
function renormalize(
  layer: BatchLayer,
  x: tf.Tensor2D,
  { name, warmupUpdates }: { name: string; warmupUpdates: number },
): { output: tf.Tensor2D; statistics: Params } {
  const { mean, variance, steps } = layer;
  const isWarm = tf.cast(tf.greaterEqual(steps, warmupUpdates), "float32");
  const ofBatch = centeredBatch(x);
  const blend = (before: tf.Tensor, now: tf.Tensor) =>
    tf.add(tf.mul(before, MOMENTUM), tf.mul(now, 1 - MOMENTUM));
  return {
    output: applyRenormalization(x, layer, {
      ...ofBatch,
      ...corrections(ofBatch, layer, isWarm),
    }),
    statistics: {
      [`running/${name}/mean`]: blend(mean, ofBatch.mean),
      [`running/${name}/variance`]: blend(variance, ofBatch.variance),
      [`running/${name}/steps`]: tf.add(steps, 1),
    },
  };
}

/** Parameters and running statistics of a layer. */
interface BatchLayer {
  readonly scale: tf.Tensor1D;
  readonly bias: tf.Tensor1D;
  readonly mean: tf.Tensor1D;
  readonly variance: tf.Tensor1D;
  readonly steps: tf.Scalar;
}

function batchLayer(params: Params, name: string): BatchLayer {
  return {
    scale: parameter(params, `${name}/scale`),
    bias: parameter(params, `${name}/bias`),
    mean: parameter(params, `running/${name}/mean`),
    variance: parameter(params, `running/${name}/variance`),
    steps: parameter(params, `running/${name}/steps`),
  };
}

/** Statistics of each column of a batch. */
interface BatchStatistics {
  /** Mean. */
  readonly mean: tf.Tensor1D;
  /** Population variance. */
  readonly variance: tf.Tensor1D;
}

/** A batch less a first mean, the mean of that, which rounding leaves, and statistics. */
interface Centered extends BatchStatistics {
  readonly centered: tf.Tensor2D;
  readonly rest: tf.Tensor1D;
}

function centeredBatch(x: tf.Tensor2D): Centered {
  const first = tf.mean<tf.Tensor1D>(x, 0);
  const centered = tf.sub<tf.Tensor2D>(x, first);
  const rest = tf.mean<tf.Tensor1D>(centered, 0);
  const square = tf.mean<tf.Tensor1D>(tf.square(centered), 0);
  const variance = tf.relu(tf.sub<tf.Tensor1D>(square, tf.square(rest)));
  return { centered, rest, mean: tf.add(first, rest), variance };
}

/**
 * Computes `y = scale (x - (m - d sqrt(v) / r)) / sqrt(v / r^2 + epsilon) + bias`. The
 * gradient by hand takes each number twice instead of some twenty times.
 */
function applyRenormalization(
  x: tf.Tensor2D,
  { scale, bias }: BatchLayer,
  { centered, rest, variance, r, d }: Centered & Corrections,
): tf.Tensor2D {
  const root = tf.sqrt(tf.maximum(variance, SMALLEST_VARIANCE));
  const perDeviation = tf.rsqrt(
    tf.add(tf.div(variance, tf.square(r)), EPSILON),
  );
  const shift = tf.div(tf.mul(d, root), r);
  const normalize = customGradient<tf.Tensor2D>((...inputs) => {
    const [, scale, bias, save] = inputs as unknown as [
      tf.Tensor2D,
      tf.Tensor1D,
      tf.Tensor1D,
      tf.GradSaveFunc,
    ];
    const slope = tf.mul(scale, perDeviation);
    save([centered, rest, slope, perDeviation, shift, root, r, d, variance]);
    const offset = tf.add(bias, tf.mul(tf.sub(shift, rest), slope));
    return {
      value: tf.add(tf.mul(centered, slope), offset),
      gradFunc: renormalizationGradient,
    };
  });
  return normalize(x, scale, bias) as tf.Tensor2D;
}

/** Gradients of inputs, scale and bias of {@link applyRenormalization}. */
function renormalizationGradient(
  dy: tf.Tensor2D,
  [centered, rest, slope, perDeviation, shift, root, r, d, variance]:
    tf.Tensor[],
): tf.Tensor[] {
  const rows = dy.shape[0];
  const sum = tf.sum(dy, 0);
  // Sums of dy times the centered inputs, and times the normalized ones.
  const product = tf.sub(
    tf.sum(tf.mul(dy, centered), 0),
    tf.mul(rest, sum),
  );
  const projected = tf.mul(tf.add(product, tf.mul(shift, sum)), perDeviation);
  // Shift and deviation both depend on the variance; what is left where they cancel is
  // the part of epsilon.
  const hasRoot = tf.cast(tf.greater(variance, SMALLEST_VARIANCE), "float32");
  const ofShift = tf.div(
    tf.mul(tf.mul(sum, d), tf.mul(hasRoot, EPSILON)),
    tf.mul(root, r),
  );
  const ofVariance = tf.mul(
    tf.mul(slope, tf.square(perDeviation)),
    tf.sub(ofShift, tf.div(product, tf.square(r))),
  );
  const factor = tf.mul(ofVariance, 1 / rows);
  const constant = tf.add(
    tf.mul(tf.mul(slope, sum), 1 / rows),
    tf.mul(factor, rest),
  );
  const linear = tf.add(tf.mul(dy, slope), tf.mul(centered, factor));
  return [tf.sub(linear, constant), projected, sum];
}

/** Ratio `r` of deviations and distance `d` of means, of the batch and the running ones. */
type Corrections = Record<"r" | "d", tf.Tensor>;

/** Computes corrections, constants of the gradient: 1 and 0 before it `isWarm`. */
function corrections(
  { mean, variance }: BatchStatistics,
  running: BatchStatistics,
  isWarm: tf.Tensor,
): Corrections {
  const perDeviation = tf.rsqrt(tf.add(running.variance, EPSILON));
  const deviation = tf.sqrt(tf.add(variance, EPSILON));
  const ratio = tf.clipByValue(
    tf.mul(deviation, perDeviation),
    1 / LARGEST_RATIO,
    LARGEST_RATIO,
  );
  const distance = tf.clipByValue(
    tf.mul(tf.sub(mean, running.mean), perDeviation),
    -LARGEST_DISTANCE,
    LARGEST_DISTANCE,
  );
  return {
    r: tf.add(tf.mul(tf.sub(ratio, 1), isWarm), 1),
    d: tf.mul(distance, isWarm),
  };
}
