import type { BoxSpace } from "@bellman/types";
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
    `Cannot make a ${what} distribution over ${size} ${parts}: the number must be a positive integer`,
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

/** Half the logarithm of 2 pi, from which a normal log-density starts. */
export const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);

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
      `Cannot clip the logarithm of a deviation to [${low}, ${high}]: the bounds must be in order`,
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

/** Throws where tanh cannot reach all actions and nothing else. */
export function checkSquashable({ low, high, dtype }: BoxSpace): void {
  if (dtype === "int32" || dtype === "uint8") {
    throw new TypeError(
      `Cannot squash box actions of ${dtype}: use multiDiscrete for whole numbers`,
    );
  }
  const unbounded = [low, high].flat()
    .find((it) => !Number.isFinite(Math.fround(it)));
  if (unbounded === undefined) return;
  throw new RangeError(
    `Cannot squash actions to the bound ${unbounded}: bounds must be finite numbers of float32`,
  );
}
