import {
  checkOptions,
  FLAG,
  isWhole,
  type OptionKind,
  type OptionKinds,
} from "@bellman/files/options";
import { normalChances } from "./best_chances.ts";
import { mismatch, POSITIVE } from "./_refuse.ts";
import type { Model, Prediction } from "./model.ts";

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

const KINDS: OptionKinds<ForgettingOptions & Pick<LinearOptions, "noise">> = {
  noise: [
    ["number", "string"],
    'a number above 0, or "estimated"',
    (it: never) => it === "estimated" || POSITIVE[2]!(it),
  ],
  discount: [
    "number",
    "a number above 0, up to 1",
    (it: number) => it > 0 && it <= 1,
  ],
  window: [
    "number",
    "a whole number of at least 1",
    (it: number) => it === Infinity || isWhole(it, 1),
  ],
};

/** Options that do not go together. */
const APART = [
  ["discount", "window"],
  ["logistic", "noise"],
  ["beta", "noise"],
  ["beta", "lambda"],
];

/** Computes chances to be the largest of scores with normal distributions. */
export function bestOfNormals(
  { centers, deviations }: Prediction,
  factor: number,
): Float64Array {
  return normalChances(centers, deviations.map((it) => factor && factor * it));
}

/** Makes a model of options that it checks, and defaults. */
export function modelOf(
  name: Model["name"],
  options: LinearOptions & { beta?: boolean },
  lambda: OptionKind,
): Model {
  const what = name === "linear" ? "a linear model" : "arms";
  const flags = name === "linear"
    ? { shared: FLAG, logistic: FLAG }
    : { beta: FLAG };
  const kinds = { lambda, ...KINDS, ...flags };
  const given = checkOptions<object>(what, options, kinds);
  const isOn = (it: string) =>
    it in given && given[it as keyof object] !== false;
  const pair = APART.find((names) => names.every(isOn));
  if (pair !== undefined) {
    throw mismatch(`make ${what} with ${pair.join(" and ")}`, "one of them");
  }
  return {
    name,
    lambda: 1,
    noise: "estimated",
    discount: 1,
    window: Infinity,
    shared: false,
    logistic: false,
    beta: false,
    ...given,
    best: bestOfNormals,
  };
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
  return modelOf("linear", options, POSITIVE);
}
