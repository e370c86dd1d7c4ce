import type { EvaluationResult } from "@bellman/training";
import { evaluateSetup } from "./evaluation.ts";
import { findAgent, runPlayer, withAgent } from "./saved_agent.ts";
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
   * Checkpoint: best, latest, or that of a step.
   *
   * @default "best"
   */
  checkpoint?: CheckpointChoice;
  /**
   * Number of environments that the agent acts in.
   *
   * @default 1
   */
  numEnvs?: number;
  /**
   * Import the modules that the run names, although another user or machine made it.
   *
   * @default false
   */
  isTrusted?: boolean;
  /**
   * Receives lines about the run, such as what it imports.
   *
   * @default they are dropped
   */
  onNotice?: (line: string) => void;
}

/** Trained agent of a run folder, with its environment. */
export interface LoadedRun {
  /** Settings of the run. */
  readonly config: ResolvedConfig;
  /** Environment steps of the agent's training. */
  readonly step: number;
  /** Agent: `policy()` makes an actor, `exportPolicy()` an ONNX file. */
  readonly agent: Trainable | SteppingAlgorithm;
  /**
   * Environment as in the run's evaluations: wrapped, with raw rewards and observations
   * for the agent.
   */
  readonly env: VecEnv;
  /**
   * Owner of the observation normalization: `env`, which returns normalized
   * observations; the `agent`, which normalizes raw ones itself; null for none. If it
   * is `env`, normalize observations from elsewhere with `normalization.observations`
   * before the agent acts on them.
   */
  readonly observationsScaledBy: "env" | "agent" | null;
  /** Normalization statistics of observations and rewards, if there are some. */
  readonly normalization: Normalization;
  /** Frees the agent and the environment. */
  close(): void;
}

/**
 * Loads the agent of a run folder, with its environment, normalization and settings.
 * `observationsScaledBy` tells whether `env` already returns normalized observations.
 *
 * @param dir Run folder.
 * @param options Checkpoint, number of environments, trust.
 * @returns The agent; close it after use.
 * @throws {UsageError} If there is no such run, or it would import modules that are not
 * trusted.
 * @throws {RangeError | SyntaxError} If there is no such checkpoint, or none is
 * readable.
 */
export async function loadRun(
  dir: string,
  options: LoadRunOptions = {},
): Promise<LoadedRun> {
  const { checkpoint: choice = "best", numEnvs = 1 } = options;
  const { isTrusted = false, onNotice = () => {} } = options;
  const run = openSavedRun(dir, { isTrusted });
  const trust = "isTrusted: true";
  const lines = admitRun(run, { command: "load", isTrusted, trust });
  const checkpoint = loadCheckpoint(run, choice);
  [...lines, ...checkpoint.warnings].forEach(onNotice);
  const setup = await setUpRun(onAnyEngine(run.config), onNotice, {
    isForEvaluation: true,
    evaluationEnvs: numEnvs,
    runPlayer,
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
   * Number of episodes.
   *
   * @default as in evaluations during training
   */
  episodes?: number;
  /**
   * Seed of the episodes.
   *
   * @default one that neither training nor its evaluations use
   */
  seed?: number;
  /**
   * Take the most likely actions instead of sampled ones.
   *
   * @default as in the evaluations during training
   */
  deterministic?: boolean;
  /** Aborts the evaluation with an `AbortError`. */
  signal?: AbortSignal;
}

/** Evaluates the agent of a run. */
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
