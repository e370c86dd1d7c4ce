import { tidy } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import type { Distribution } from "./distribution.ts";

/**
 * Frees what the methods of a distribution compute on the way to their results.
 */
export function tidied<D extends Distribution>(distribution: D): D {
  const members = Object.entries(distribution).map(([name, member]) => [
    name,
    typeof member === "function"
      ? (...inputs: unknown[]) => tidy(() => member(...inputs))
      : member,
  ]);
  return Object.fromEntries(members) as D;
}

/** Checks the number of parts of an action. */
export function checkSize(what: string, size: number, parts = "numbers"): void {
  if (Number.isInteger(size) && size >= 1) return;
  throw new RangeError(
    `Cannot make a ${what} distribution over ${size} ${parts}: ` +
      `the number must be a positive integer`,
  );
}

const stop = tf.customGrad((x) => ({
  value: (x as tf.Tensor).clone(),
  gradFunc: (dy) => tf.zerosLike(dy),
}));

/** Returns the same values, through which no gradient flows: theirs is 0. */
export function detach<T extends tf.Tensor>(x: T): T {
  return stop(x) as T;
}

/**
 * Computes a constant from tensors: nothing of it is recorded, so that
 * operations that have no gradient may be used.
 */
export function asConstant<T extends tf.Tensor>(compute: () => T): T {
  const cut = tf.customGrad((x) => ({
    value: compute(),
    gradFunc: () => tf.zerosLike(x as tf.Scalar),
  }));
  return cut(tf.scalar(0)) as T;
}

/** Half the logarithm of 2 pi, from which a normal log-density starts. */
export const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);

/** Means and logarithms of the deviations, both `[batch, size]`. */
export function meanAndLogStd(
  parameters: tf.Tensor2D,
  size: number,
): [tf.Tensor2D, tf.Tensor2D] {
  return tf.split(parameters, [size, size], 1) as [tf.Tensor2D, tf.Tensor2D];
}

/** Passes the gradient on where the number was left as it was. */
function gradientWhereEqual(dy: tf.Tensor, [before, after]: tf.Tensor[]) {
  return tf.where(tf.equal(before, after), dy, tf.zerosLike(dy));
}

/**
 * Clips logarithms of deviations to bounds, with no gradient outside.
 *
 * @throws {RangeError} If the bounds are not in order.
 */
export function clipLogStd(
  [low, high]: readonly [number, number],
): <T extends tf.Tensor>(logStd: T) => T {
  if (!(low <= high)) {
    throw new RangeError(
      `Cannot clip the logarithm of a deviation to [${low}, ${high}]: ` +
        `the bounds must be in order`,
    );
  }
  if (low === -Infinity && high === Infinity) return (logStd) => logStd;
  const clip = tf.customGrad((x, save) => {
    const logStd = x as tf.Tensor;
    const value = tf.clipByValue(logStd, low, high);
    (save as tf.GradSaveFunc)([logStd, value]);
    return { value, gradFunc: gradientWhereEqual };
  });
  return <T extends tf.Tensor>(logStd: T) => clip(logStd) as T;
}

/**
 * Computes `log N(x; mean, std)` of each row where `x = mean + std noise` is a
 * constant,
 * `[batch]`: the value comes from the noise, the gradient is the score at `x`.
 */
export function constantSampleLogProb(
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

/**
 * Computes `-log N(x; mean, std)` but for its constant, where `x = mean + std
 * noise`.
 */
export function exponents(
  logStd: tf.Tensor2D,
  noise: tf.Tensor2D,
): tf.Tensor2D {
  return tf.add(tf.mul(tf.square(noise), 0.5), logStd);
}

/**
 * Computes `log N(x)` of each row, `[batch]`, from the {@link exponents} of its
 * parts.
 */
export function gaussianLogProb(exponents: tf.Tensor2D): tf.Tensor1D {
  const constant = exponents.shape[1] * HALF_LOG_TWO_PI;
  return tf.sub(-constant, tf.sum(exponents, 1));
}

/** Formula of the logarithm of the tanh's slope. */
type SquashCorrection = "exact" | "epsilon";

/**
 * Number that the original adds to the slope, so that its logarithm is finite.
 */
const EPSILON = 1e-6;
/** Largest float32 below 1: its inverse tanh is 8.66. */
const LARGEST = 1 - 2 ** -24;

const withGradient = tf.customGrad((x, save) => {
  const raw = x as tf.Tensor;
  (save as tf.GradSaveFunc)([raw]);
  return {
    value: tf.add(raw, tf.softplus(tf.mul(raw, -2))),
    gradFunc: (dy, [saved]) => tf.mul(dy, tf.tanh(saved)),
  };
});

/**
 * Computes `log(2 cosh x)` as `x + softplus(-2x)`, which is exact at both ends.
 * The slope of tanh is `4 / (2 cosh x)^2`. Its own gradient, `tanh x`, is exact
 * around 0, where that of the formula would lose its digits.
 */
export function logTwoCosh<T extends tf.Tensor>(x: T): T {
  return withGradient(x) as T;
}

/**
 * Computes `log(1 - tanh(x)^2 + 1e-6)` of haarnoja/sac. The slope is computed
 * as `4 sigmoid(2x) sigmoid(-2x)`: the same number without the cancellation of
 * `1 - tanh(x)^2`, which in float32 is off by more than 1e-6 itself.
 */
function logSlopePlusEpsilon(x: tf.Tensor2D): tf.Tensor2D {
  const sides = tf.mul(
    tf.sigmoid(tf.mul(x, 2)),
    tf.sigmoid(tf.mul(x, -2)),
  );
  return tf.log(tf.add(tf.mul(sides, 4), EPSILON));
}

/** Computes the logarithm of the slope of tanh at each number. */
export function logSlope(
  x: tf.Tensor2D,
  correction: SquashCorrection,
): tf.Tensor2D {
  if (correction === "epsilon") return logSlopePlusEpsilon(x);
  return tf.mul(tf.sub(Math.LN2, logTwoCosh(x)), 2);
}

/**
 * Computes the numbers before the tanh, and the logarithm of its slope there,
 * from the actions: both from `log(1 + a)` and `log(1 - a)`. Actions at the
 * bounds are moved to the largest float32 number inside.
 */
export function unsquash(
  actions: tf.Tensor2D,
  correction: SquashCorrection,
): { raw: tf.Tensor2D; logSlope: tf.Tensor2D } {
  const inside = tf.clipByValue(actions, -LARGEST, LARGEST);
  const [above, below] = [tf.log1p(inside), tf.log1p(tf.neg(inside))];
  const logSlopes: tf.Tensor2D = tf.add(above, below);
  return {
    raw: tf.mul(tf.sub(above, below), 0.5),
    logSlope: correction === "exact"
      ? logSlopes
      : tf.log(tf.add(tf.exp(logSlopes), EPSILON)),
  };
}
