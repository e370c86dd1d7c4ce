import type { ObservationRow } from "./_rules.ts";

/**
 * Writes numbers into an observation from `at` on, and moves `at` behind them.
 *
 * @param row The observation.
 * @param values The numbers.
 * @param from The first that is written.
 * @param to The first that is not.
 */
export function append(
  row: ObservationRow,
  values: Float64Array,
  from: number = 0,
  to: number = values.length,
): void {
  const seen = row.values;
  let at = row.at;
  for (let i = from; i < to; i++) seen[at++] = values[i];
  row.at = at;
}

/** The same, each number limited. */
export function appendClipped(
  row: ObservationRow,
  values: Float64Array,
  [low, high]: readonly [low: number, high: number],
  from: number = 0,
): void {
  const seen = row.values;
  let at = row.at;
  for (let i = from; i < values.length; i++) {
    seen[at++] = Math.min(Math.max(values[i], low), high);
  }
  row.at = at;
}
