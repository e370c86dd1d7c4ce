/**
 * The points of one run; those that are not finite are left out.
 *
 * @example
 * ```ts
 * import type { CurveRun } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const run: CurveRun = { x: [0, 100], y: [20, 480] };
 * assertEquals(run.x.length, run.y.length);
 * ```
 */
export interface CurveRun {
  /** Places, in rising order. */
  readonly x: readonly number[];
  /** Heights. */
  readonly y: readonly number[];
  /** Lower edges of the run's own band. Not used where there are several runs. */
  readonly low?: readonly number[];
  /** Upper edges of the run's own band. Not used where there are several runs. */
  readonly high?: readonly number[];
}

/**
 * One curve: the runs of one configuration, for example with different seeds.
 *
 * @example
 * ```ts
 * import type { CurveSeries } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const series: CurveSeries = {
 *   name: "three seeds",
 *   runs: [1, 2, 3].map((top) => ({ x: [0, 100], y: [0, top] })),
 * };
 * assertEquals(series.runs.length, 3);
 * ```
 */
export interface CurveSeries {
  /** What the legend calls it. */
  readonly name: string;
  /** The runs. Several are drawn as their mean with a band. */
  readonly runs: readonly CurveRun[];
  /**
   * `"dots"` draws the points alone, faintly.
   *
   * @default "line"
   */
  readonly style?: "line" | "dots";
}
