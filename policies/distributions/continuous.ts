import * as tf from "@tensorflow/tfjs";
import {
  checkSize,
  clipLogStd,
  detach,
  HALF_LOG_TWO_PI,
  logSlope,
  logTwoCosh,
  tidied,
  unsquash,
} from "./_shared.ts";
import type {
  Distribution,
  ReparameterizedDistribution,
} from "./distribution.ts";

/**
 * Makes a diagonal Gaussian: `size` independent normal variables.
 *
 * Parameters are the means and the log standard deviations, `[mean, logStd]`. Actions
 * are unbounded.
 *
 * @param size Action dimension.
 * @param options The shape of an action.
 * @returns The distribution; actions are float32 `[batch, ...shape]`.
 * @throws {RangeError} If `size` is not a positive integer.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { diagonalGaussian } from "@bellman/policies";
 * import { assertAlmostEquals, assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const distribution = diagonalGaussian(1);
 * const parameters = tf.tensor2d([[3, Math.log(2)]]); // mean 3, deviation 2
 * const action = distribution.sample(parameters, tf.tensor2d([[-1]]));
 * assertAlmostEquals((action.arraySync() as number[][])[0][0], 1, 1e-6);
 * assertEquals(distribution.mode(parameters).arraySync(), [[3]]);
 * ```
 */
export function diagonalGaussian(
  size: number,
  options: {
    /**
     * Shape of one action.
     *
     * @default [size]
     */
    readonly shape?: readonly number[];
  } = {},
): Distribution {
  checkSize("Gaussian", size);
  const { shape = [size] } = options;
  const shaped = (actions: tf.Tensor2D): tf.Tensor =>
    shape.length === 1 ? actions : tf.reshape(actions, [-1, ...shape]);
  return tidied({
    parameterSize: 2 * size,
    actionShape: shape,
    actionDtype: "float32",
    noise: { kind: "normal", size },
    logProb(parameters: tf.Tensor2D, actions) {
      const [mean, logStd] = meanAndLogStd(parameters, size);
      const flat = shape.length === 1
        ? actions
        : tf.reshape(actions, mean.shape);
      const z = tf.mul(tf.sub(flat, mean), tf.exp(tf.neg(logStd)));
      return gaussianLogProb(exponents(logStd, z as tf.Tensor2D));
    },
    entropy(parameters) {
      const [, logStd] = meanAndLogStd(parameters, size);
      return tf.add(tf.sum(logStd, 1), size * (0.5 + HALF_LOG_TWO_PI));
    },
    klDivergence(p, q) {
      const [meanP, logStdP] = meanAndLogStd(p, size);
      const [meanQ, logStdQ] = meanAndLogStd(q, size);
      // With r = log(stdP / stdQ) and z = (meanP - meanQ) / stdQ each part is
      // (exp(2r) - 1 - 2r + z^2) / 2; expm1 keeps it exact where r is small.
      const logRatio = tf.mul(tf.sub(logStdP, logStdQ), 2);
      const z = tf.mul(tf.sub(meanP, meanQ), tf.exp(tf.neg(logStdQ)));
      const spread = tf.sub(tf.expm1(logRatio), logRatio);
      return tf.mul(tf.sum(tf.add(spread, tf.square(z)), 1), 0.5);
    },
    mode: (parameters) => shaped(tf.slice(parameters, [0, 0], [-1, size])),
    sample(parameters, noise) {
      const [mean, logStd] = meanAndLogStd(parameters, size);
      return shaped(tf.add(mean, tf.mul(tf.exp(logStd), noise)));
    },
  });
}

/** Quadrature points for each standard deviation, and standard deviations to either side. */
const DENSITY = 12, REACH = 6;
const POINTS = Float32Array.from(
  { length: 2 * DENSITY * REACH + 1 },
  (_, i) => i / DENSITY - REACH,
);
const DENSITIES = POINTS.map((z) => Math.exp(-0.5 * z * z));
const TOTAL = DENSITIES.reduce((sum, density) => sum + density, 0);
const WEIGHTS = DENSITIES.map((density) => density / TOTAL);

/**
 * Computes the expectation of a function of normal variables by the trapezoidal rule.
 * For smooth functions the error falls exponentially with the number of points: for the
 * log slope of tanh it is below 1e-6 up to standard deviations of 8.
 *
 * @param f Elementwise function.
 * @param mean `[batch, size]`.
 * @param std `[batch, size]`.
 * @returns `[batch, size]`.
 */
function normalExpectation(
  f: (x: tf.Tensor) => tf.Tensor,
  mean: tf.Tensor2D,
  std: tf.Tensor2D,
): tf.Tensor2D {
  const offsets = tf.mul(tf.expandDims(std, 2), tf.tensor1d(POINTS));
  const x = tf.add(tf.expandDims(mean, 2), offsets);
  return tf.sum(tf.mul(f(x), tf.tensor1d(WEIGHTS)), 2);
}

/**
 * Makes a diagonal Gaussian squashed by tanh into (-1, 1): the policy of soft
 * actor-critic (Haarnoja et al. 2018, https://arxiv.org/abs/1801.01290, appendix C).
 * Parameters are the means and log standard deviations before the tanh, `[mean,
 * logStd]`.
 *
 * The log slope of tanh, `log(1 - tanh(x)^2)`, is computed as `2 (log 2 - x -
 * softplus(-2x))`: values and gradients are precise in float32 for all `x`. `logProb`
 * inverts the tanh, so it clips actions to `1 - 2^-24` (`|x| = 8.66`).
 *
 * `mode` is the tanh of the mean, the usual deterministic action, though not always the
 * point of highest density. The entropy has no closed form; quadrature computes it to
 * float32 precision for standard deviations of up to 8. The KL divergence is that of
 * the Gaussians before the tanh, which is the same. Neither depends on
 * `squashCorrection`.
 *
 * @param size Action dimension.
 * @param options Shape, bounds and formula of the log-probability.
 * @returns The distribution; actions are float32 `[batch, ...shape]`.
 * @throws {RangeError} If `size` is not a positive integer or the bounds are
 * not in order.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { squashedGaussian } from "@bellman/policies";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const distribution = squashedGaussian(1);
 * const parameters = tf.tensor2d([[0.5, Math.log(2)]]);
 * const noise = tf.tensor2d([[-1]]);
 * const { action, logProb } = distribution.sampleWithLogProb(parameters, noise);
 * assertAlmostEquals(action.dataSync()[0], Math.tanh(0.5 - 2), 1e-6);
 * const again = distribution.logProb(parameters, action);
 * assertAlmostEquals(logProb.dataSync()[0], again.dataSync()[0], 1e-5);
 * ```
 */
export function squashedGaussian(
  size: number,
  options: {
    /**
     * Shape of one action.
     *
     * @default [size]
     */
    readonly shape?: readonly number[];
    /**
     * Bounds of the log standard deviations; outside them the gradient is 0.
     *
     * @default [-20, 2]
     */
    readonly logStdBounds?: readonly [low: number, high: number];
    /**
     * Formula of the tanh's log slope in log-probabilities: `exact`, or `epsilon` as in
     * haarnoja/sac and Stable-Baselines3: `log(1 - tanh(x)^2 + 1e-6)`, which stays at
     * -13.8 from `|x| = 8` on.
     *
     * @default "exact"
     */
    readonly squashCorrection?: "exact" | "epsilon";
  } = {},
): ReparameterizedDistribution {
  const {
    shape = [size],
    logStdBounds = [-20, 2],
    squashCorrection = "exact",
  } = options;
  const gaussian = diagonalGaussian(size);
  const clip = clipLogStd(logStdBounds);
  const shaped = (actions: tf.Tensor2D): tf.Tensor =>
    shape.length === 1 ? actions : tf.reshape(actions, [-1, ...shape]);

  function split(parameters: tf.Tensor2D): [tf.Tensor2D, tf.Tensor2D] {
    const [mean, logStd] = meanAndLogStd(parameters, size);
    return [mean, clip(logStd)];
  }

  const clipped = (parameters: tf.Tensor2D): tf.Tensor2D =>
    tf.concat(split(parameters), 1);

  function logProbOf(
    parameters: tf.Tensor2D,
    raw: tf.Tensor2D,
    slope: tf.Tensor2D,
  ): tf.Tensor1D {
    return tf.sub(gaussian.logProb(clipped(parameters), raw), tf.sum(slope, 1));
  }

  return tidied({
    parameterSize: 2 * size,
    actionShape: shape,
    actionDtype: "float32",
    noise: { kind: "normal", size },
    logProb(parameters: tf.Tensor2D, actions) {
      const flat = tf.reshape(actions, [-1, size]) as tf.Tensor2D;
      const { raw, logSlope } = unsquash(flat, squashCorrection);
      return logProbOf(parameters, raw, logSlope);
    },
    logProbOfRaw: (parameters, raw) =>
      logProbOf(parameters, raw, logSlope(raw, squashCorrection)),
    entropy(parameters) {
      const [mean, logStd] = split(parameters);
      const spread = normalExpectation(logTwoCosh, mean, tf.exp(logStd));
      const parts = tf.sub(logStd, tf.mul(spread, 2));
      const constant = 0.5 + HALF_LOG_TWO_PI + 2 * Math.LN2;
      return tf.add(tf.sum(parts, 1), size * constant);
    },
    klDivergence: (p, q) => gaussian.klDivergence(clipped(p), clipped(q)),
    mode: (parameters) =>
      shaped(tf.tanh(gaussian.mode(parameters) as tf.Tensor2D)),
    sample(parameters, noise) {
      const raw = gaussian.sample(clipped(parameters), noise);
      return shaped(tf.tanh(raw as tf.Tensor2D));
    },
    sampleWithLogProb(parameters, noise, { reparameterize = true } = {}) {
      const moments = split(parameters);
      const [mean, logStd] = reparameterize ? moments : moments.map(detach);
      const raw: tf.Tensor2D = tf.add(mean, tf.mul(tf.exp(logStd), noise));
      const slope = logSlope(raw, squashCorrection);
      const logProb: tf.Tensor1D = reparameterize
        ? gaussianLogProb(tf.add(exponents(logStd, noise), slope))
        : tf.sub(constantSampleLogProb(...moments, noise), tf.sum(slope, 1));
      return { action: shaped(tf.tanh(raw)), logProb, raw };
    },
    regularization: (parameters) =>
      tf.mul(tf.sum(tf.square(clipped(parameters)), 1), 0.5 / size),
  });
}

/** Splits parameters into means and log standard deviations, both `[batch, size]`. */
function meanAndLogStd(
  parameters: tf.Tensor2D,
  size: number,
): [tf.Tensor2D, tf.Tensor2D] {
  return tf.split(parameters, [size, size], 1) as [tf.Tensor2D, tf.Tensor2D];
}

/**
 * Computes `log N(x; mean, std)` `[batch]` at the sample `x = mean + std noise`, taken
 * as a constant: the value comes from the noise, the gradient is the score at `x`.
 */
function constantSampleLogProb(
  mean: tf.Tensor2D,
  logStd: tf.Tensor2D,
  noise: tf.Tensor2D,
): tf.Tensor1D {
  const logProb = tf.customGrad((_, logStd, save) => {
    (save as tf.GradSaveFunc)([logStd as tf.Tensor, noise]);
    return {
      value: gaussianLogProb(exponents(logStd as tf.Tensor2D, noise)),
      gradFunc: (dy, [logStd, noise]) => {
        const rows = tf.expandDims(dy, 1);
        const z = tf.mul(noise, tf.exp(tf.neg(logStd)));
        const square = tf.sub(tf.square(noise), 1);
        return [tf.mul(rows, z), tf.mul(rows, square)];
      },
    };
  });
  return logProb(mean, logStd) as tf.Tensor1D;
}

/** Computes `-log N(x; mean, std)` without its constant, at `x = mean + std noise`. */
function exponents(
  logStd: tf.Tensor2D,
  noise: tf.Tensor2D,
): tf.Tensor2D {
  return tf.add(tf.mul(tf.square(noise), 0.5), logStd);
}

/** Computes `log N(x)` of each row `[batch]` from the {@link exponents} of its elements. */
function gaussianLogProb(exponents: tf.Tensor2D): tf.Tensor1D {
  const constant = exponents.shape[1] * HALF_LOG_TWO_PI;
  return tf.sub(-constant, tf.sum(exponents, 1));
}
