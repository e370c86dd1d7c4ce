/** The points of one run; those that are not finite are left out. */
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
