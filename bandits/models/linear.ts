import {
  checkOptions,
  FLAG,
  isWhole,
  type OptionKind,
} from "@bellman/files/options";
import { mismatch, numberKind } from "./_refuse.ts";
import type { Model } from "./model.ts";

/** Options that all models share. */
export interface ForgettingOptions {
  /**
   * Factor of all that was learned, at each new reward: below 1, old rewards are
   * forgotten. Predictions cost `d^3 / 3` for each action then. The prior stays.
   *
   * @default 1
   */
  discount?: number;
  /**
   * Number of last rewards, of all actions, that count.
   *
   * @default Infinity
   */
  window?: number;
}

/** Options of {@linkcode linear}. */
export interface LinearOptions extends ForgettingOptions {
  /**
   * Weight of the prior: weights of features are near 0, with variance 1 over this.
   *
   * @default 1
   */
  lambda?: number;
  /**
   * Deviation of rewards around their expected value, by which deviations of predictions
   * are multiplied: a number in the unit of rewards, or estimated of the errors of
   * predictions, over all actions.
   *
   * @default "estimated"
   */
  noise?: number | "estimated";
  /**
   * One regression for all actions, of features of context and action, instead of one
   * for each action.
   *
   * @default false
   */
  shared?: boolean;
  /**
   * Logistic regression, for rewards from 0 to 1, such as clicks: an online Laplace
   * approximation. It has no `noise`.
   *
   * @default false
   */
  logistic?: boolean;
}

const DISCOUNT = numberKind(
  "a number above 0, up to 1",
  (it) => it > 0 && it <= 1,
);
const WINDOW = numberKind(
  "a whole number of at least 1",
  (it) => it === Infinity || isWhole(it, 1),
);
const NOISE: OptionKind = [
  ["number", "string"],
  'a number above 0, or "estimated"',
  (it: number | string) => it === "estimated" || it as number > 0,
];

/** Options that do not go together. */
const APART = [
  ["discount", "window"],
  ["logistic", "noise"],
  ["beta", "noise"],
  ["beta", "lambda"],
];

/** Makes a model of options that were checked, and defaults. */
export function modelOf(
  name: Model["name"],
  options: LinearOptions & { beta?: boolean },
  lambdas: OptionKind,
): Model {
  const what = name === "linear" ? "a linear model" : "arms";
  const given = checkOptions<object>(what, options, {
    lambda: lambdas,
    noise: NOISE,
    discount: DISCOUNT,
    window: WINDOW,
    ...(name === "linear" ? { shared: FLAG, logistic: FLAG } : { beta: FLAG }),
  });
  const isOn = (it: string) =>
    it in given && given[it as keyof object] !== false;
  const pair = APART.find((names) => names.every(isOn));
  if (pair !== undefined) {
    throw mismatch(`make ${what} with ${pair.join(" and ")}`, "one of them");
  }
  return Object.freeze({
    name,
    lambda: 1,
    noise: "estimated",
    discount: 1,
    window: Infinity,
    shared: false,
    logistic: false,
    beta: false,
    ...given,
  });
}

/**
 * Makes a linear model: a ridge regression of rewards on features for each action, or a
 * `shared` one.
 *
 * @param options Prior, noise, and what is forgotten: see {@linkcode LinearOptions}.
 * @returns The model's settings.
 * @throws {TypeError} If an option is unknown, of another type, or does not go with
 * another one.
 * @throws {RangeError} If one is out of its range.
 * @example
 * ```ts
 * import { Bandit, linear, thompson } from "@bellman/bandits";
 * import { assert } from "@std/assert";
 *
 * const bandit = new Bandit({
 *   actions: ["short", "long"],
 *   features: (it: { isPhone: boolean }) => [1, Number(it.isPhone)],
 *   model: linear(),
 *   explore: thompson(),
 * });
 * for (let i = 0; i < 20; i++) {
 *   const context = { isPhone: i % 2 === 0 };
 *   for (const action of bandit.actions) {
 *     const reward = Number(context.isPhone === (action === "short"));
 *     bandit.learn({ context, action, reward });
 *   }
 * }
 * assert(bandit.chances({ isPhone: true })[0] > 0.9);
 * assert(bandit.chances({ isPhone: false })[1] > 0.9);
 * ```
 */
export function linear(options: LinearOptions = {}): Model {
  const isFine = (it: number) => it > 0 && it < Infinity;
  return modelOf("linear", options, numberKind("a number above 0", isFine));
}
