import * as tf from "@tensorflow/tfjs";

/** How the logarithm of the tanh's slope is computed. */
export type SquashCorrection = "exact" | "epsilon";

/** What the original adds to the slope, so that its logarithm is finite. */
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
 * `log(2 cosh x)` as `x + softplus(-2x)`, which is exact at both ends. The
 * slope of tanh is `4 / (2 cosh x)^2`. Its own gradient, `tanh x`, is exact
 * around 0, where that of the formula would lose its digits.
 */
export function logTwoCosh<T extends tf.Tensor>(x: T): T {
  return withGradient(x) as T;
}

/**
 * `log(1 - tanh(x)^2 + 1e-6)` of haarnoja/sac. The slope is computed as
 * `4 sigmoid(2x) sigmoid(-2x)`: the same number without the cancellation of
 * `1 - tanh(x)^2`, which in float32 is off by more than 1e-6 itself.
 */
function logSlopePlusEpsilon(x: tf.Tensor2D): tf.Tensor2D {
  const sides = tf.mul(
    tf.sigmoid(tf.mul(x, 2)),
    tf.sigmoid(tf.mul(x, -2)),
  );
  return tf.log(tf.add(tf.mul(sides, 4), EPSILON));
}

/** Logarithm of the slope of tanh at each number. */
export function logSlope(
  x: tf.Tensor2D,
  correction: SquashCorrection,
): tf.Tensor2D {
  if (correction === "epsilon") return logSlopePlusEpsilon(x);
  return tf.mul(tf.sub(Math.LN2, logTwoCosh(x)), 2);
}

/**
 * The numbers before the tanh, and the logarithm of its slope there, from the
 * actions: both from `log(1 + a)` and `log(1 - a)`. Actions at the bounds are
 * moved to the largest float32 number inside.
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
