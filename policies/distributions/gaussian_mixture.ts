import * as tf from "@tensorflow/tfjs";
import {
  clipLogStd,
  detach,
  HALF_LOG_TWO_PI,
  logSlope,
  tidied,
  unsquash,
} from "./_shared.ts";
import type {
  ActionSample,
  ReparameterizedDistribution,
  SampleWithLogProbOptions,
} from "./distribution.ts";

const withGradient = tf.customGrad((x, save) => {
  const rows = x as tf.Tensor2D;
  (save as tf.GradSaveFunc)([rows]);
  return {
    value: tf.logSumExp(rows, 1),
    gradFunc: (dy, [saved]) => tf.mul(tf.expandDims(dy, 1), tf.softmax(saved)),
  };
});

/**
 * Computes log-sum-exp of each row, `[batch]`. Its gradient is the softmax; that of
 * TensorFlow.js goes through the maximum.
 */
function logSumExp(x: tf.Tensor2D): tf.Tensor1D {
  return withGradient(x) as tf.Tensor1D;
}

/** Options of {@link gaussianMixture}. */
export interface GaussianMixtureOptions {
  /**
   * Number of mixture components.
   *
   * @default 4
   */
  readonly components?: number;
  /**
   * Shape of one action.
   *
   * @default [size]
   */
  readonly shape?: readonly number[];
  /**
   * Squash samples by tanh into (-1, 1).
   *
   * @default true
   */
  readonly squash?: boolean;
  /**
   * Bounds of the log standard deviations; outside them the gradient is 0.
   *
   * @default [-20, 2]
   */
  readonly logStdBounds?: readonly [low: number, high: number];
  /**
   * Formula of the tanh's log slope, as in {@link squashedGaussian}.
   *
   * @default "exact"
   */
  readonly squashCorrection?: "exact" | "epsilon";
}

/** Options of {@link GaussianMixture.sampleComponent}. */
export interface SampleComponentOptions extends SampleWithLogProbOptions {
  /** Component of each row, int32 `[batch]`. */
  readonly component: tf.Tensor1D;
  /** Normal noise `[batch, size]`. */
  readonly noise: tf.Tensor2D;
}

/** Gaussian mixture, as {@link gaussianMixture} makes it. */
export interface GaussianMixture extends ReparameterizedDistribution {
  /** Number of components. */
  readonly components: number;
  /**
   * Samples from the given components, with the log-probability under the whole
   * mixture.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @param options Components and noise.
   */
  sampleComponent(
    parameters: tf.Tensor2D,
    options: SampleComponentOptions,
  ): ActionSample;
}

/** Named parts of a row of parameters. */
interface Parts {
  /** `[batch, components]`, up to a constant. */
  readonly logWeight: tf.Tensor2D;
  /** `[batch, components, size]`. */
  readonly mean: tf.Tensor3D;
  /** `[batch, components, size]`, clipped. */
  readonly logStd: tf.Tensor3D;
}

/** Random choices of one sample in each row. */
interface Draw extends SampleWithLogProbOptions {
  /** Component of each row, as an index of {@link rowsOf}. */
  readonly rows: tf.Tensor1D;
  /** Normal noise `[batch, size]`. */
  readonly noise: tf.Tensor2D;
}

/**
 * Makes a Gaussian mixture, by default squashed by tanh into (-1, 1): the second policy
 * of haarnoja/sac (Haarnoja et al. 2018, https://arxiv.org/abs/1801.01290). Parameters
 * are, for each component, the unnormalised log weight, the means and the log standard
 * deviations: `[logWeight, mean, logStd]`.
 *
 * The noise of a row is `size` normal numbers and one more, `z`, which chooses the
 * component: the first whose cumulative weight is above `Phi(z)`.
 *
 * The choice of a component has no gradient, so reparameterized gradients are biased:
 * by default samples are constants, for likelihood-ratio losses. With `reparameterize:
 * true` the gradient flows through the chosen component, also into `logProb`, as in the
 * released code of haarnoja/sac.
 *
 * `mode` is the mean of the heaviest component. Entropy and KL divergence have no
 * closed form: both throw a TypeError; the mean of `-logProb` over samples estimates
 * the entropy.
 *
 * @param size Action dimension.
 * @param options Number of components, shape, bounds.
 * @returns The distribution; actions are float32 `[batch, ...shape]`.
 * @throws {RangeError} If `size` or `components` is not a positive integer or
 * the bounds are not in order.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { gaussianMixture } from "@bellman/policies";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const mixture = gaussianMixture(1, { components: 2 });
 * // Weights 0.25 and 0.75, means 5 and -5, deviations 1.
 * const parameters = tf.tensor2d([[0, 5, 0, Math.log(3), -5, 0]]);
 * const raw = (z: number) =>
 *   mixture.sampleWithLogProb(parameters, tf.tensor2d([[0.5, z]])).raw;
 * assertAlmostEquals(raw(-1).dataSync()[0], 5.5, 1e-6); // Phi(-1) = 0.16
 * assertAlmostEquals(raw(0).dataSync()[0], -4.5, 1e-6); // Phi(0) = 0.5
 * ```
 */
export function gaussianMixture(
  size: number,
  options: GaussianMixtureOptions = {},
): GaussianMixture {
  const {
    components = 4,
    shape = [size],
    squash = true,
    logStdBounds = [-20, 2],
    squashCorrection = "exact",
  } = options;
  checkSizes(size, components);
  const clip = clipLogStd(logStdBounds);

  function partsOf(parameters: tf.Tensor2D): Parts {
    const rows = tf.reshape(parameters, [-1, components, 1 + 2 * size]);
    const [logWeight, mean, logStd] = tf.split(rows, [1, size, size], 2);
    return {
      logWeight: tf.reshape(logWeight, [-1, components]),
      mean: mean as tf.Tensor3D,
      logStd: clip(logStd) as tf.Tensor3D,
    };
  }

  const squashed = (raw: tf.Tensor2D) => squash ? tf.tanh(raw) : raw;
  const shaped = (raw: tf.Tensor2D): tf.Tensor =>
    tf.reshape(squashed(raw), [-1, ...shape]);

  /** Computes the log-density before the tanh from standardized distances. */
  function mixtureLogProb(
    { logWeight, logStd }: Parts,
    z: tf.Tensor,
  ): tf.Tensor1D {
    const exponent = tf.sum(tf.add(tf.mul(tf.square(z), 0.5), logStd), 2);
    const joint = logSumExp(tf.sub(logWeight, exponent));
    const logProb = tf.sub(joint, logSumExp(logWeight));
    return tf.sub(logProb, size * HALF_LOG_TWO_PI);
  }

  const slopeOf = (raw: tf.Tensor2D) =>
    squash ? logSlope(raw, squashCorrection) : undefined;

  function logProbOfRaw(
    parameters: tf.Tensor2D,
    raw: tf.Tensor2D,
    slope?: tf.Tensor2D,
  ): tf.Tensor1D {
    const parts = partsOf(parameters);
    const distance = tf.sub(tf.expandDims(raw, 1), parts.mean);
    const z = tf.mul(distance, tf.exp(tf.neg(parts.logStd)));
    return corrected(mixtureLogProb(parts, z), slope);
  }

  /** Gathers the chosen component's mean and scaled noise of each row. */
  function drawn(
    parts: Parts,
    { rows, noise, reparameterize = false }: Draw,
  ): { mean: tf.Tensor3D; shift: tf.Tensor3D } {
    const [mean, logStd] = [parts.mean, parts.logStd].map((values) =>
      chosen(reparameterize ? values : detach(values), rows)
    );
    const shift = tf.mul(tf.exp(logStd), tf.expandDims(noise, 1));
    return { mean, shift: shift as tf.Tensor3D };
  }

  const flat = (numbers: tf.Tensor): tf.Tensor2D =>
    tf.reshape(numbers, [-1, size]);

  function sampleWith(parts: Parts, draw: Draw): ActionSample {
    const { mean, shift } = drawn(parts, draw);
    const raw = flat(tf.add(mean, shift));
    // The chosen component's distance is computed before adding the mean, so that the
    // smallest standard deviations lose no digits.
    const distance = tf.add(tf.sub(mean, parts.mean), shift);
    const z = tf.mul(distance, tf.exp(tf.neg(parts.logStd)));
    return {
      action: shaped(raw),
      logProb: corrected(mixtureLogProb(parts, z), slopeOf(raw)),
      raw,
    };
  }

  /** Splits rows of noise into a component and normal noise. */
  function drawOf({ logWeight }: Parts, noise: tf.Tensor2D): Draw {
    const [normal, z] = tf.split(noise, [size, 1], 1) as tf.Tensor2D[];
    const rows = asConstant(() =>
      rowsOf(chooseComponent(logWeight, z), components)
    );
    return { rows, noise: normal };
  }

  return tidied({
    components,
    parameterSize: components * (1 + 2 * size),
    actionShape: shape,
    actionDtype: "float32",
    noise: { kind: "normal", size: size + 1 },
    logProb(parameters: tf.Tensor2D, actions) {
      if (!squash) return logProbOfRaw(parameters, flat(actions));
      const { raw, logSlope } = unsquash(flat(actions), squashCorrection);
      return logProbOfRaw(parameters, raw, logSlope);
    },
    logProbOfRaw: (parameters, raw) =>
      logProbOfRaw(parameters, raw, slopeOf(raw)),
    entropy: () => noClosedForm("the entropy"),
    klDivergence: () => noClosedForm("the divergence"),
    mode(parameters) {
      const { logWeight, mean } = partsOf(parameters);
      const heaviest = asConstant(() =>
        rowsOf(tf.argMax(logWeight, 1), components)
      );
      return shaped(flat(chosen(mean, heaviest)));
    },
    sample(parameters, noise) {
      const parts = partsOf(parameters);
      const { mean, shift } = drawn(parts, drawOf(parts, noise));
      return shaped(flat(tf.add(mean, shift)));
    },
    sampleWithLogProb(parameters, noise, options) {
      const parts = partsOf(parameters);
      return sampleWith(parts, { ...options, ...drawOf(parts, noise) });
    },
    sampleComponent(parameters, options) {
      const rows = rowsOf(options.component, components);
      return sampleWith(partsOf(parameters), { ...options, rows });
    },
    regularization(parameters) {
      const { mean, logStd } = partsOf(parameters);
      const squares = tf.add(tf.square(mean), tf.square(logStd));
      return tf.mul(tf.mean(squares, [1, 2]), 0.5);
    },
  });
}

/** Gathers one component of each row, `[batch, 1, size]`. */
function chosen(values: tf.Tensor3D, rows: tf.Tensor1D): tf.Tensor3D {
  const [batch, components, size] = values.shape;
  const flat = tf.reshape(values, [batch * components, size]);
  return tf.expandDims(tf.gather(flat, rows), 1);
}

/** Returns the flat indices of components. */
function rowsOf(component: tf.Tensor1D, components: number): tf.Tensor1D {
  const [batch] = component.shape;
  const first = tf.range(0, batch * components, components, "int32");
  return tf.add(component, first);
}

/** Finds the first component whose cumulative weight is above `Phi(z)`. */
function chooseComponent(
  logWeight: tf.Tensor2D,
  z: tf.Tensor2D,
): tf.Tensor1D {
  const cumulative = tf.cumsum(tf.softmax(logWeight), 1);
  const uniform = tf.mul(tf.add(tf.erf(tf.mul(z, Math.SQRT1_2)), 1), 0.5);
  const above = tf.cast(tf.greaterEqual(uniform, cumulative), "int32");
  // Rounding may leave even the last cumulative weight below 1.
  const last = tf.scalar(logWeight.shape[1] - 1, "int32");
  return tf.minimum(tf.sum(above, 1), last);
}

/** Subtracts the log slope of the tanh, if there is one. */
function corrected(logProb: tf.Tensor1D, slope?: tf.Tensor2D): tf.Tensor1D {
  return slope ? tf.sub(logProb, tf.sum(slope, 1)) : logProb;
}

/**
 * Computes a constant outside the gradient tape, so that operations without a gradient
 * may be used.
 */
function asConstant<T extends tf.Tensor>(compute: () => T): T {
  const cut = tf.customGrad((x) => ({
    value: compute(),
    gradFunc: () => tf.zerosLike(x as tf.Scalar),
  }));
  return cut(tf.scalar(0)) as T;
}

function noClosedForm(what: string): never {
  throw new TypeError(
    `Cannot compute ${what} of a Gaussian mixture: it has no closed form, so take the mean of log-probabilities over samples`,
  );
}

function checkSizes(size: number, components: number): void {
  const positive = (it: number) => Number.isInteger(it) && it >= 1;
  if (positive(size) && positive(components)) return;
  throw new RangeError(
    `Cannot make a mixture of ${components} Gaussians over ${size} numbers: both must be positive integers`,
  );
}
