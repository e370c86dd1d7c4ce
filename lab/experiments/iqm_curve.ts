import { SeededRandom } from "@bellman/envs";
import { sampleEfficiency } from "@bellman/statistics";
import { type CurveRun, valueAt } from "@bellman/training/plots";

/** Bootstrap resamples of a curve's band: more make no visible difference. */
export const CURVE_RESAMPLES = 2000;
/** Points of a curve. */
const PLACES = 100;

/** Interquartile mean of runs with its band. */
export interface IqmCurve {
  curve: CurveRun;
  /** True for fewer than 5 runs, whose band is too narrow. */
  fewRuns: boolean;
}

/**
 * Computes the interquartile mean of runs on several tasks along learning curves, with
 * 95 % percentile intervals from 2,000 stratified bootstrap resamples, at the points
 * that all runs reach.
 *
 * @param runs Learning curves by run and task, `[runs][tasks]`, interpolated linearly.
 * @returns The curve; undefined if there are no runs, or no point that all of them
 * reach.
 */
export function iqmCurve(
  runs: readonly (readonly CurveRun[])[],
): IqmCurve | undefined {
  const curves = runs.flat();
  const from = Math.max(...curves.map(({ x }) => x[0] ?? Infinity));
  const to = Math.min(...curves.map(({ x }) => x.at(-1) ?? -Infinity));
  if (curves.length === 0 || !(from <= to)) return undefined;
  const count = from === to ? 1 : PLACES;
  const x = Array.from(
    { length: count },
    (_, i) => from + (to - from) * i / Math.max(1, count - 1),
  );
  const { values, intervals, fewRuns } = sampleEfficiency(
    runs.map((tasks) => tasks.map((run) => x.map((at) => valueAt(run, at)!))),
    { random: new SeededRandom(0), resamples: CURVE_RESAMPLES },
  );
  const curve = {
    x,
    y: Array.from(values),
    low: intervals?.map(([low]) => low),
    high: intervals?.map(([, high]) => high),
  };
  return { curve, fewRuns };
}
