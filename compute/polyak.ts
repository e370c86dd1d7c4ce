import * as tf from "@tensorflow/tfjs";
import { type Params, ravel, unravel } from "./params.ts";

/**
 * Moves target parameters towards others: `target + tau (params - target)`,
 * Polyak's averaging of the parameters that are learned. All of them are moved
 * as one flat vector.
 *
 * Source: Lillicrap et al. 2015 (https://arxiv.org/abs/1509.02971), equation of
 * the target networks in algorithm 1.
 *
 * @param target The parameters of the target network.
 * @param params The parameters to move towards, of the same paths and shapes.
 * @param options Share of the new parameters.
 * @returns New parameters, by the paths of `target`.
 * @throws {RangeError} If `tau` is a number that is not from 0 to 1.
 *
 * @example
 * ```ts
 * import { polyak } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const target = { w: tf.tensor1d([0, 1]) };
 * const moved = polyak(target, { w: tf.tensor1d([1, 1]) }, { tau: 0.25 });
 * assertAlmostEquals(moved.w.dataSync()[0], 0.25);
 * ```
 */
export function polyak(
  target: Params,
  params: Params,
  options: PolyakOptions,
): Params {
  const { tau } = options;
  if (typeof tau === "number" && !(tau >= 0 && tau <= 1)) {
    throw new RangeError(
      `Cannot move a target by tau = ${tau}: expected a number from 0 to 1`,
    );
  }
  return tf.tidy(() => {
    const paths = Object.keys(target);
    const old = ravel(target, paths);
    const change = tf.sub(ravel(params, paths), old);
    const moved = tf.add(old, tf.mul(change, tau)) as tf.Tensor1D;
    return unravel(moved, target);
  });
}

/** Options of {@linkcode polyak}. */
export interface PolyakOptions {
  /** The share of the new parameters: 0 keeps the target, 1 copies. */
  readonly tau: number | tf.Scalar;
}
