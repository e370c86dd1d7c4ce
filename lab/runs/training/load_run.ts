import type { EvaluationResult } from "@bellman/training";
import { evaluateSetup } from "./evaluation.ts";
import { findAgent, withAgent } from "./saved_agent.ts";
import type { SteppingAlgorithm, Trainable, VecEnv } from "@bellman/types";
import type { ResolvedConfig } from "../settings/resolve.ts";
import type { Normalization } from "./scaled_environments.ts";
import {
  admitRun,
  type CheckpointChoice,
  loadCheckpoint,
  openSavedRun,
  restoreSetup,
} from "./saved_run.ts";
import { onAnyEngine, setUpRun } from "./run_setup.ts";

/** Options of {@linkcode loadRun}. */
export interface LoadRunOptions {
  /**
   * Checkpoint: the best one, the latest, or that of a step.
   *
   * @default "best"
   */
  checkpoint?: CheckpointChoice;
  /**
   * Environments that the run's agent acts in side by side.
   *
   * @default 1
   */
  numEnvs?: number;
  /**
   * Import the modules that the run names, though another user or machine made it.
   *
   * @default false
   */
  isTrusted?: boolean;
  /**
   * Takes lines about the run, such as what it imports.
   *
   * @default they are dropped
   */
  onNotice?: (line: string) => void;
}

/** A trained agent of a run folder, and all that it acts in and by. */
export interface LoadedRun {
  /** All settings that the run began with. */
  readonly config: ResolvedConfig;
  /** Environment steps that the agent had learned from. */
  readonly step: number;
  /** The agent: its `policy()` acts, its `exportPolicy()` writes an ONNX file. */
  readonly agent: Trainable | SteppingAlgorithm;
  /**
   * Environment as the run's evaluations see it: wrapped, rewards as they are,
   * observations as the agent takes them.
   */
  readonly env: VecEnv;
  /**
   * Owner of the scaling by the frozen statistics of training: `env`, which
   * gives them scaled already; the `agent`, which takes and scales original ones;
   * null where nothing does. Where it is `env`, observations from elsewhere are
   * scaled by `normalization.observations` before the agent acts on them.
   */
  readonly observationsScaledBy: "env" | "agent" | null;
  /** Statistics that observations and rewards were scaled by, if they were. */
  readonly normalization: Normalization;
  /** Frees the agent and the environment. */
  close(): void;
}

/**
 * Loads the agent of a run folder, with its environment, normalization and
 * settings. `observationsScaledBy` says whether `env` gives observations that are
 * scaled already.
 *
 * @param dir The run folder.
 * @param options Checkpoint, number of environments, trust.
 * @returns The agent; to be closed.
 * @throws {UsageError} If there is no such run, or it would import modules of
 * somebody else's.
 * @throws {RangeError | SyntaxError} If there is no such checkpoint, or none that
 * can be read.
 */
export async function loadRun(
  dir: string,
  options: LoadRunOptions = {},
): Promise<LoadedRun> {
  const { checkpoint: choice = "best", numEnvs = 1 } = options;
  const { isTrusted = false, onNotice = () => {} } = options;
  const run = openSavedRun(dir, { isTrusted });
  const trust = "isTrusted: true";
  const told = admitRun(run, { command: "load", isTrusted, trust });
  const checkpoint = loadCheckpoint(run, choice);
  [...told, ...checkpoint.warnings].forEach(onNotice);
  const setup = await setUpRun(onAnyEngine(run.config), onNotice, {
    isForEvaluation: true,
    evaluationEnvs: numEnvs,
  });
  try {
    restoreSetup(setup, checkpoint);
    const { environments, algorithm: agent } = setup;
    const env = environments.evaluation(numEnvs);
    return {
      config: setup.config,
      step: checkpoint.step,
      agent,
      env,
      observationsScaledBy: environments.scales.observations === undefined
        ? null
        : environments.normalization === undefined
        ? "env"
        : "agent",
      normalization: environments.scales,
      close() {
        env.close();
        setup.close();
      },
    };
  } catch (error) {
    setup.close();
    throw error;
  }
}

/** Options of an evaluation of a run's agent. */
export interface EvaluateRunOptions
  extends Pick<LoadRunOptions, "checkpoint" | "isTrusted" | "onNotice"> {
  /**
   * Whole episodes that are played.
   *
   * @default as many as in the evaluations during training
   */
  episodes?: number;
  /**
   * Seed of the episodes.
   *
   * @default one that neither training nor its evaluations use
   */
  seed?: number;
  /**
   * Take the most likely actions, or sample them.
   *
   * @default as in the evaluations during training
   */
  deterministic?: boolean;
  /** Ends the evaluation with an `AbortError`. */
  signal?: AbortSignal;
}

/** Plays whole episodes with the agent of a run. */
export async function evaluateRun(
  dir: string,
  { onNotice, ...options }: EvaluateRunOptions,
): Promise<EvaluationResult> {
  const agent = findAgent(dir, { ...options, command: "evaluate" });
  const { episodes = agent.config.evaluationEpisodes, signal } = options;
  if (!Number.isSafeInteger(episodes) || episodes < 1) {
    throw new RangeError(
      `Cannot evaluate on ${episodes} episodes: expected a whole number of at least 1`,
    );
  }
  const { seed, deterministic } = agent;
  const settings = { episodes, deterministic, seed, signal };
  return await withAgent(
    agent,
    (setup) => evaluateSetup(setup, settings),
    { episodes, onNotice },
  );
}
