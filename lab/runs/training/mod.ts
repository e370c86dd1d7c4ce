/**
 * Parts of training, resuming and evaluating runs, for programs that need more than a
 * `Run`: setups, environments, agents and weights. Loads the tensor library.
 *
 * @example
 * ```ts
 * import { trainRun } from "@bellman/runs";
 * import {
 *   describeEvaluation,
 *   evaluateSetup,
 *   findAgent,
 *   withAgent,
 * } from "@bellman/runs/training";
 * import { assertMatch } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/run`;
 * await trainRun({ algorithm: "a2c", totalTimesteps: 100 }, { dir });
 * const agent = findAgent(dir, { command: "evaluate" });
 * const settings = { episodes: 2, deterministic: true, seed: 7 };
 * const result = await withAgent(
 *   agent,
 *   (setup) => evaluateSetup(setup, settings),
 *   { episodes: 2 },
 * );
 * assertMatch(describeEvaluation(result), / over 2 episodes$/);
 * ```
 *
 * @module
 */
export {
  beginRun,
  newRecord,
  type NewRun,
  type Output,
} from "./begin_training.ts";
export {
  codeOf,
  loadAllEnvironments,
  loadEnvironment,
  rewardThreshold,
  type RunCode,
} from "./environment_modules.ts";
export {
  type Environments,
  type EnvironmentSpaces,
  evaluationEnvsFor,
  type Hosting,
  makeEnvironments,
} from "./environments.ts";
export {
  actionKind,
  describeEvaluation,
  evaluateSetup,
  type EvaluationSettings,
  policyFile,
  type PolicyFileOptions,
  round,
} from "./evaluation.ts";
export type { Opponent, RunPlayers } from "./games.ts";
export { type InitialWeights, sharedState } from "./initial_weights.ts";
export { absolutePaths, evaluationOpponentOf } from "./games.ts";
export { gibibytes, machineMemory } from "./memory.ts";
export { recordPeople } from "./record_people.ts";
export { recordRuns, type RecordRunsOptions } from "./record_runs.ts";
export { changedSettings } from "./report.ts";
export { type ResumeOptions, resumeRun } from "./resume.ts";
export { refuseLinksIn, removeInside } from "./run_entries.ts";
export { runChecker, type RunSetup } from "./run_setup.ts";
export {
  findAgent,
  type FindAgentOptions,
  runPlayer,
  type SavedAgent,
  weightsOfRun,
  type WeightsOptions,
  withAgent,
  type WithAgentOptions,
} from "./saved_agent.ts";
export {
  admitPlan,
  type CheckpointChoice,
  openSavedRun,
  savedConfigOf,
  type SavedRun,
} from "./saved_run.ts";
export {
  type Normalization,
  type ScaledEnvironments,
} from "./scaled_environments.ts";
