/**
 * Experiments: variants of a plan, each in its environments with its seeds, trained, evaluated and reported.
 *
 * @module
 */
export {
  type Cell,
  type CellResult,
  type CellState,
  chosenCells,
  nameOf,
  parseShard,
  readCell,
  resultsCsv,
  type Shard,
} from "./cells.ts";
export { CellDriver } from "./driver.ts";
export {
  Experiment,
  type ExperimentOptions,
  type ExperimentProgress,
  type ExperimentResult,
  runExperiment,
  type RunExperimentOptions,
} from "./experiment.ts";
export { PLAN_FILE, resultsPath, SEARCH_FILE } from "./folder.ts";
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
} from "./plan.ts";
export { randomReturns } from "./random_returns.ts";
export { scaleOf } from "./scales.ts";
export { FEW_RUNS } from "./section.ts";
export { formatTable, TABLE_FORMATS, type TableFormat } from "./tables.ts";
export { changedKeys, keyOf } from "./settings.ts";
