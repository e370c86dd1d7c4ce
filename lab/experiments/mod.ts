/**
 * Experiments: variants of a plan, trained in several environments with several seeds,
 * evaluated and reported.
 *
 * @example
 * ```ts
 * import { runExperiment } from "@bellman/experiments";
 * import { assertEquals } from "@std/assert";
 *
 * const { cells } = await runExperiment({
 *   name: "first",
 *   environments: ["CartPole-v1"],
 *   seeds: 1,
 *   steps: 100,
 *   episodes: 2,
 *   variants: { slow: { algorithm: "a2c", set: { learningRate: 1e-4 } } },
 * }, { dir: `${await Deno.makeTempDir()}/first` });
 * assertEquals(cells.map(({ variant, state }) => [variant, state]), [
 *   ["slow", "finished"],
 * ]);
 * ```
 *
 * @module
 */
export {
  type Cell,
  type CellResult,
  type CellState,
  type EvaluatedPolicy,
  nameOf,
  readCell,
  type Shard,
} from "./cells.ts";
export { CellDriver, type DriverOptions, type RunningCell } from "./driver.ts";
export {
  Experiment,
  type ExperimentOptions,
  type ExperimentProgress,
  type ExperimentResult,
  runExperiment,
  type RunExperimentOptions,
} from "./experiment.ts";
export { PLAN_FILE, SEARCH_FILE } from "./folder.ts";
export {
  checkApart,
  checkName,
  folderOf,
  nameOfFile,
  parsePlan,
  type Plan,
  type PlanObject,
  planOf,
  readScores,
  type Scale,
  SCORES,
  type Variant,
  type VariantObject,
} from "./plan.ts";
export { type RandomReturnsOptions } from "./random_returns.ts";
export { type ExperimentReport } from "./report.ts";
export {
  type KnownScale,
  type MeasureOptions,
  measureScales,
  type ScaledPlan,
  type Scales,
} from "./scales.ts";
export { FEW_RUNS, type Figure, type Section } from "./section.ts";
export {
  type Column,
  formatTable,
  type Table,
  TABLE_FORMATS,
  type TableFormat,
  type TableValue,
} from "./tables.ts";
export {
  type CellSettings,
  changedKeys,
  keyOf,
  type PlanSettings,
} from "./settings.ts";
