/**
 * Training, resuming and evaluating runs, and the agents that they leave.
 *
 * @module
 */
export { beginRun, newRecord, type Output } from "./begin_training.ts";
export {
  codeOf,
  loadAllEnvironments,
  loadEnvironment,
  rewardThreshold,
} from "./environment_modules.ts";
export {
  type EnvironmentSpaces,
  evaluationEnvsFor,
  makeEnvironments,
} from "./environments.ts";
export {
  actionKind,
  describeEvaluation,
  evaluateSetup,
  policyFile,
  round,
} from "./evaluation.ts";
export {
  type InitialWeights,
  sharedState,
  sharedWeights,
  weightsOf,
} from "./initial_weights.ts";
export { type LoadedRun, loadRun, type LoadRunOptions } from "./load_run.ts";
export { gibibytes, machineMemory } from "./memory.ts";
export { changedSettings } from "./report.ts";
export { resumeRun } from "./resume.ts";
export { refuseLinksIn, removeInside } from "./run_entries.ts";
export { runChecker, type RunSetup } from "./run_setup.ts";
export { findAgent, type SavedAgent, withAgent } from "./saved_agent.ts";
export {
  admitPlan,
  type CheckpointChoice,
  openSavedRun,
  savedConfigOf,
} from "./saved_run.ts";
export { type Normalization } from "./scaled_environments.ts";
