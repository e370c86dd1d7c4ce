import type { BoxSpace } from "@bellman/types";
import { tidy } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import type { Distribution } from "./distribution.ts";

/** Wraps the methods of a distribution in `tf.tidy`. */
export function tidied<D extends Distribution>(distribution: D): D {
  const members = Object.entries(distribution).map(([name, member]) => [
    name,
    typeof member === "function"
      ? (...inputs: unknown[]) => tidy(() => member(...inputs))
      : member,
  ]);
  return Object.fromEntries(members) as D;
}

/** Checks the size of an action. */
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

/** Returns the tensor without its gradient. */
export function detach<T extends tf.Tensor>(x: T): T {
  return stop(x) as T;
}

/** `log(2 pi) / 2`, a constant of the normal log-density. */
export const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);

/** Gradient of clipping: that of the output where the input was inside the bounds, else 0. */
function gradientWhereEqual(dy: tf.Tensor, [before, after]: tf.Tensor[]) {
  return tf.where(tf.equal(before, after), dy, tf.zerosLike(dy));
}

/**
 * Clips log standard deviations to bounds; the gradient outside is 0.
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

/** Formula of the log slope of tanh. */
type SquashCorrection = "exact" | "epsilon";

/** Term inside the logarithm that keeps it finite, as in haarnoja/sac. */
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
 * Computes `log(2 cosh x)` as `x + softplus(-2x)`, precise for large `|x|`. The slope
 * of tanh is `4 / (2 cosh x)^2`. The custom gradient, `tanh x`, is precise around 0,
 * where that of the formula loses digits.
 */
export function logTwoCosh<T extends tf.Tensor>(x: T): T {
  return withGradient(x) as T;
}

/**
 * Computes `log(1 - tanh(x)^2 + 1e-6)` of haarnoja/sac. The slope is computed as `4
 * sigmoid(2x) sigmoid(-2x)`: the same number without the cancellation of `1 -
 * tanh(x)^2`, whose float32 error alone exceeds 1e-6.
 */
function logSlopePlusEpsilon(x: tf.Tensor2D): tf.Tensor2D {
  const sides = tf.mul(
    tf.sigmoid(tf.mul(x, 2)),
    tf.sigmoid(tf.mul(x, -2)),
  );
  return tf.log(tf.add(tf.mul(sides, 4), EPSILON));
}

/** Computes the log slope of tanh, element by element. */
export function logSlope(
  x: tf.Tensor2D,
  correction: SquashCorrection,
): tf.Tensor2D {
  if (correction === "epsilon") return logSlopePlusEpsilon(x);
  return tf.mul(tf.sub(Math.LN2, logTwoCosh(x)), 2);
}

/**
 * Inverts tanh: computes pre-tanh values and the log slope of tanh there from the
 * actions, by `log(1 + a)` and `log(1 - a)`. Actions at the bounds are moved to the
 * nearest float32 inside.
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

/**
 * Throws unless the bounds are finite and the actions are floats, so that tanh can
 * reach all of them.
 */
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
