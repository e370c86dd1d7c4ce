/**
 * Hyperparameter search: trials, pruning, and confirmation of the best on fresh seeds.
 *
 * @example
 * ```ts
 * import { runSearch, searchPlanOf } from "@bellman/search";
 * import { assertEquals } from "@std/assert";
 *
 * const plan = await searchPlanOf({
 *   name: "rates",
 *   algorithm: "a2c",
 *   environment: "CartPole-v1",
 *   steps: 100,
 *   trials: 2,
 *   space: { learningRate: { min: 1e-4, max: 1e-2, scale: "log" } },
 *   sampler: "random",
 *   confirm: { top: 1, seeds: 1 },
 * });
 * const dir = `${await Deno.makeTempDir()}/rates`;
 * const found = await runSearch(plan, { dir });
 * assertEquals(found?.trials.length, 2);
 * ```
 *
 * @module
 */
export { type Candidate, type Confirmation } from "./confirmation.ts";
export {
  readPlan,
  type ReadPlanOptions,
  type SearchObject,
  type SearchPlan,
  searchPlanOf,
} from "./plan.ts";
export { type Params, type Trial } from "./record.ts";
export {
  exportJournal,
  runSearch,
  type RunSearchOptions,
  type SearchResult,
} from "./run_search.ts";
export { bestOf } from "./search.ts";
export { type Dimension, type Space } from "./space.ts";
export { type TrialRun } from "./trial_runs.ts";
