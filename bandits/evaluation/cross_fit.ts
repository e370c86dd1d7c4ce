import { checkOptions, whole } from "@bellman/files/options";
import { type Model, predict } from "../models/model.ts";
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

/** Predicts the rewards of rows by a model of other rows. */
function predictRows(
  ridge: Ridge,
  model: Model,
  { features, target }: FeatureRow,
): Float64Array {
  const all = Array.from({ length: target.length }, (_, i) => i);
  const x = (i: number) => featuresOf(features, i);
  return predict(model, ridge, [all, x]).means;
}

function featuresOf(
  features: FeatureRow["features"],
  action: number,
): Float64Array {
  const first = features[0];
  return Float64Array.from(
    typeof first === "number"
      ? features as ArrayLike<number>
      : (features as readonly ArrayLike<number>[])[action],
  );
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
 * @throws {RangeError} If the number of parts is not a whole number of at least 2, or
 * features are not finite or of unequal numbers.
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
  const ridges = Array.from(
    { length: folds },
    () => new Ridge(model.shared ? 1 : rows[0]?.target.length ?? 1, model),
  );
  const width = rows.length === 0 ? 0 : featuresOf(rows[0].features, 0).length;
  rows.forEach(({ features, action, reward }, i) => {
    const x = featuresOf(features, action);
    if (x.length !== width || !x.every(Number.isFinite)) {
      throw new RangeError(
        `Cannot fit row ${i}: expected ${width} finite features`,
      );
    }
    if (reward === undefined || reward === null) return;
    ridges.forEach((it, fold) => {
      if (i % folds !== fold) it.learn(model.shared ? 0 : action, x, reward);
    });
  });
  return rows.map((row, i) => ({
    ...row,
    predicted: predictRows(ridges[i % folds], model, row),
  }));
}
