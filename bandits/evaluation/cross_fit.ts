import { checkOptions, whole } from "@bellman/files/options";
import { Bandit } from "../bandit.ts";
import { epsilonGreedy } from "../explore/rules.ts";
import type { Model } from "../models/model.ts";
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

/** Calls a function; an error names the row. */
function named<T>(row: number, call: () => T): T {
  try {
    return call();
  } catch (error) {
    (error as Error).message = `Row ${row}: ${(error as Error).message}`;
    throw error;
  }
}

/**
 * Predicts the reward of each action in each row by a model of other rows, so that no
 * prediction knows its own reward: what the doubly robust estimators need.
 *
 * @param rows Logged decisions with features. Row `i` belongs to part `i % folds`. Rows
 * may have unequal numbers of actions.
 * @param model Model, such as `linear()`.
 * @param options Number of parts.
 * @returns The rows with `predicted`.
 * @throws {TypeError} If an option is unknown, or an action.
 * @throws {RangeError} If the number of parts is not a whole number of at least 2, or a
 * reward or features do not fit: the row is named by its index.
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
  const countOf = ({ target }: FeatureRow) => Object(target).length || 1;
  const count = rows.reduce((most, it) => Math.max(most, countOf(it)), 1);
  const { name, shared } = model;
  // Rows of fewer actions have any features of the others, and drop their predictions.
  const features = (row: FeatureRow, action = 0) =>
    (shared
      ? row.features[action < countOf(row) ? action : 0]
      : row.features) as ArrayLike<number>;
  const bandits = Array.from(
    { length: folds },
    () =>
      new Bandit<number, FeatureRow>({
        actions: Array.from({ length: count }, (_, action) => action),
        ...(name === "linear" && { features }),
        model,
        explore: epsilonGreedy(),
      }),
  );
  rows.forEach((row, i) => {
    const { action, reward } = row;
    if (reward === undefined || reward === null) return;
    const experience = { context: row, action, reward };
    bandits.forEach((it, fold) => {
      if (i % folds !== fold) named(i, () => it.learn(experience));
    });
  });
  return rows.map((row, i) => ({
    ...row,
    predicted: named(i, () => bandits[i % folds].predict(row).means)
      .subarray(0, countOf(row)),
  }));
}
