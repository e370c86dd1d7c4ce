import { checkOptions, whole } from "@bellman/files/options";
import { type Model, predict } from "../models/model.ts";
import { outOfRange } from "../models/_refuse.ts";
import { Ridge } from "../models/ridge.ts";
import type { EvaluationRow } from "./estimates.ts";

/** Options of {@linkcode crossFit}. */
export interface CrossFitOptions {
  /**
   * Number of parts; each is predicted by a model of the others.
   *
   * @default 5
   */
  folds?: number;
}

/** Logged decision with its features. */
export interface FeatureRow extends EvaluationRow {
  /** Features of the context, or with a `shared` model, of each action. */
  features: ArrayLike<number> | readonly ArrayLike<number>[];
}

/** Returns the features of an action. */
function featuresOf({ features }: FeatureRow, action: number): Float64Array {
  const isShared = typeof features[0] !== "number";
  const all = features as readonly ArrayLike<number>[];
  return Float64Array.from(isShared ? all[action] : features as number[]);
}

/**
 * Predicts the reward of each action in each row by a model of other rows, so that no
 * prediction knows its own reward: what the doubly robust estimators need.
 *
 * @param rows Logged decisions with features. Row `i` belongs to part `i % folds`.
 * @param model Model, such as `linear()`.
 * @param options Number of parts.
 * @returns The rows with `predicted`.
 * @throws {TypeError} If an option is unknown.
 * @throws {RangeError} If the number of parts is not a whole number of at least 2, or an
 * action, a reward or features do not fit: the row is named by its index.
 * @example
 * ```ts
 * import { crossFit, evaluate, linear } from "@bellman/bandits";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const log = Array.from({ length: 100 }, (_, i) => ({
 *   features: [1, i / 100],
 *   action: i % 3 === 0 ? 1 : 0,
 *   reward: i % 3 === 0 ? i / 100 : 0.5,
 *   propensity: i % 3 === 0 ? 1 / 3 : 2 / 3,
 *   target: [0, 1],
 * }));
 * const { estimates } = evaluate(crossFit(log, linear({ lambda: 0.01 })));
 * assertAlmostEquals(estimates.dr!.value!, 0.495, 0.01);
 * ```
 */
export function crossFit<R extends FeatureRow>(
  rows: readonly R[],
  model: Model,
  options: CrossFitOptions = {},
): (R & { predicted: Float64Array })[] {
  checkOptions("cross-fitted predictions", options, { folds: whole(2) });
  const { folds = 5 } = options;
  const count = model.shared ? 1 : rows[0]?.target.length ?? 1;
  const ridges = Array.from({ length: folds }, () => new Ridge(count, model));
  const width = rows.length === 0 ? 0 : featuresOf(rows[0], 0).length;
  const isBounded = model.logistic || model.beta;
  rows.forEach((row, i) => {
    const { action, reward, target } = row;
    const fail = (what: string, expected: string) =>
      outOfRange(`fit row ${i} with ${what}`, expected);
    if (target[action] === undefined) {
      throw fail(`action ${action}`, `an index below ${target.length}`);
    }
    const x = featuresOf(row, action);
    if (x.length !== width || !x.every(Number.isFinite)) {
      throw fail("such features", `${width} finite ones`);
    }
    if (reward === undefined || reward === null) return;
    if (!Number.isFinite(reward) || isBounded && (reward < 0 || reward > 1)) {
      throw fail(`reward ${reward}`, isBounded ? "0 to 1" : "a finite number");
    }
    ridges.forEach((it, fold) => {
      if (i % folds !== fold) it.learn(model.shared ? 0 : action, x, reward);
    });
  });
  return rows.map((row, i) => {
    const actions = Array.from(row.target, (_, action) => action);
    const features = (action: number) => featuresOf(row, action);
    const { means } = predict(model, ridges[i % folds], [actions, features]);
    return { ...row, predicted: means };
  });
}
