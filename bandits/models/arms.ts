import { numberKind } from "./_refuse.ts";
import { type ForgettingOptions, modelOf } from "./linear.ts";
import type { Model } from "./model.ts";

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
  const isFine = (it: number) => it >= 0 && it < Infinity;
  return modelOf("arms", options, numberKind("a number of at least 0", isFine));
}
