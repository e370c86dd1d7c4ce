import { betaChances } from "./best_chances.ts";
import { POSITIVE } from "./_refuse.ts";
import { bestOfNormals, type ForgettingOptions, modelOf } from "./linear.ts";
import type { Model, Prediction } from "./model.ts";

/** Options of {@linkcode arms}. */
export interface ArmsOptions extends ForgettingOptions {
  /**
   * Weight of the prior, in rewards of 0. With 0 an action without rewards has an
   * infinite deviation, and is tried first.
   *
   * @default 1
   */
  lambda?: number;
  /**
   * Deviation of an action's rewards: a number in their unit, or estimated, over all
   * actions.
   *
   * @default "estimated"
   */
  noise?: number | "estimated";
  /**
   * Beta distributions, for rewards from 0 to 1, such as clicks, from a uniform one. They
   * have no `lambda` and `noise`.
   *
   * @default false
   */
  beta?: boolean;
}

/** Most rewards that narrow a beta distribution: a deviation of 0.0002. */
const MOST = 1e7;

/** Computes chances to be the largest of scores with beta distributions. */
function bestOfBetas(prediction: Prediction, factor: number): Float64Array {
  if (factor === 0) return bestOfNormals(prediction, 0);
  const { means, deviations } = prediction;
  const sums = means.map((it, i) => it * (1 - it) / deviations[i] ** 2 - 1);
  // Counts over the square of the factor: about that factor of the deviation.
  const scaled = (it: number, i: number) =>
    1 + Math.max(0, it - 1) * Math.min(1 / factor ** 2, MOST / sums[i]);
  return betaChances(
    means.map((it, i) => scaled(it * sums[i], i)),
    means.map((it, i) => scaled((1 - it) * sums[i], i)),
  );
}

/**
 * Makes a model without context: a mean of the rewards of each action.
 *
 * @param options Prior, noise, and what is forgotten: see {@linkcode ArmsOptions}.
 * @returns The model's settings.
 * @throws {TypeError} If an option is unknown, of another type, or does not go with
 * another one.
 * @throws {RangeError} If one is out of its range.
 * @example
 * ```ts
 * import { arms, Bandit, thompson } from "@bellman/bandits";
 * import { assert } from "@std/assert";
 *
 * const bandit = new Bandit({
 *   actions: ["red", "green"],
 *   model: arms({ beta: true }),
 *   explore: thompson(),
 * });
 * for (let i = 0; i < 50; i++) {
 *   bandit.learn({ action: "red", reward: Number(i % 10 === 0) });
 *   bandit.learn({ action: "green", reward: Number(i % 2 === 0) });
 * }
 * assert(bandit.chances()[1] > 0.99);
 * ```
 */
export function arms(options: ArmsOptions = {}): Model {
  const [, expected, isFine] = POSITIVE;
  const model = modelOf("arms", options, [
    "number",
    `0, or ${expected}`,
    (it: number) => it === 0 || isFine!(it as never),
  ]);
  return model.beta ? { ...model, best: bestOfBetas } : model;
}
