/**
 * Searches of hyperparameters: trials, pruning, and the best once more on fresh seeds.
 *
 * @module
 */
export { rangeOf, short } from "./best.ts";
export {
  readPlan,
  type SearchObject,
  type SearchPlan,
  searchPlanOf,
} from "./plan.ts";
export { type Trial } from "./record.ts";
export {
  exportJournal,
  runSearch,
  type RunSearchOptions,
  type SearchResult,
} from "./run_search.ts";
export { bestOf } from "./search.ts";
export { type TrialRun } from "./trial_runs.ts";
