import type { RunFolder } from "../folder/run_folder.ts";
import {
  evaluate,
  type EvaluationResult,
  evaluationSeeds,
} from "@bellman/training";
import type { PlottedAgent } from "@bellman/training/plots";
import { findAlgorithm } from "../settings/algorithms.ts";
import { policyMetadata } from "../settings/policy_metadata.ts";
import type { ResolvedConfig } from "../settings/resolve.ts";
import type { RunSetup } from "./run_setup.ts";
import { evaluationEnvsFor } from "./environments.ts";
import { flattenedText, turnedText } from "./scaled_environments.ts";
import { hintAt } from "@bellman/files/options";
import type { RoleAgents } from "@bellman/envs/games";
import { mkdir } from "node:fs/promises";
import type { Trainable } from "@bellman/types";
import { UsageError, writeWhole } from "../program/errors.ts";

/** Settings of an evaluation. */
export interface EvaluationSettings {
  /** Number of episodes. */
  episodes: number;
  /**
   * Step limit: longer episodes are cut.
   *
   * @default that of the configuration, or the environment's, or 10,000
   */
  maxSteps?: number;
  /** Take the most likely actions instead of sampled ones. */
  deterministic: boolean;
  /** Seed of the episodes, and of sampled actions. */
  seed: number;
  /** Aborts the evaluation with an `AbortError`. */
  signal?: AbortSignal;
}

/**
 * Evaluates the current agent of a setup.
 *
 * @example
 * ```ts
 * import { trainRun } from "@bellman/runs";
 * import {
 *   evaluateSetup,
 *   findAgent,
 *   withAgent,
 * } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/run`;
 * await trainRun({ algorithm: "a2c", totalTimesteps: 100 }, { dir });
 * const agent = findAgent(dir, { command: "evaluate" });
 * const settings = { episodes: 2, deterministic: true, seed: 7 };
 * const { returns } = await withAgent(
 *   agent,
 *   (setup) => evaluateSetup(setup, settings),
 *   { episodes: 2 },
 * );
 * assertEquals(returns.length, 2);
 * ```
 */
export async function evaluateSetup(
  { algorithm, config, environments }: RunSetup,
  { episodes, deterministic, seed, signal, ...bound }: EvaluationSettings,
): Promise<EvaluationResult> {
  const env = environments.evaluation(evaluationEnvsFor(episodes));
  const { numEnvs } = env;
  const actor = algorithm.policy({ deterministic, numEnvs, seed });
  try {
    const { maxSteps = config.evaluationMaxSteps ?? undefined } = bound;
    return await evaluate(actor, env, { episodes, maxSteps, seed, signal });
  } finally {
    actor.close?.();
    env.close();
  }
}

/**
 * Names how an agent chose its actions.
 *
 * @example
 * ```ts
 * import { actionKind } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(actionKind({ algorithm: "a2c" }, false), "stochastic");
 * assertEquals(actionKind({ algorithm: "dqn" }, false), "greedy");
 * ```
 */
export function actionKind(
  { algorithm }: Pick<ResolvedConfig, "algorithm">,
  deterministic: boolean,
): string {
  if (findAlgorithm(algorithm)!.meta.isGreedy) return "greedy";
  return deterministic ? "deterministic" : "stochastic";
}

/**
 * Formats a number with at most two decimals.
 *
 * @example
 * ```ts
 * import { round } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([2 / 3, 1e20 / 3].map(round), ["0.67", "33330000000000000000"]);
 * ```
 */
export function round(value: number): string {
  return String(
    Math.abs(value) < 1e15
      ? Math.round(value * 100) / 100
      : Number(value.toPrecision(4)),
  );
}

/**
 * Describes an evaluation in one line: `498.3 ± 2.1 over 20 episodes`. Cut episodes are
 * the longest.
 *
 * @example
 * ```ts
 * import { describeEvaluation } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const result = {
 *   ...{ returns: [1, 3], lengths: [9, 9], cut: 0, meanLength: 9 },
 *   ...{ meanReturn: 2, medianReturn: 2, stdReturn: 1 },
 *   ...{ minReturn: 1, maxReturn: 3 },
 * };
 * assertEquals(describeEvaluation(result), "2 ± 1 over 2 episodes");
 * ```
 */
export function describeEvaluation(
  { meanReturn, stdReturn, returns, lengths, cut, successRate }:
    EvaluationResult,
): string {
  const steps = lengths.reduce((most, it) => Math.max(most, it), 0)
    .toLocaleString("en-US");
  const cuts = cut > 0 ? `, ${cut} of them cut after ${steps} steps` : "";
  return `${round(meanReturn)} ± ${
    round(stdReturn)
  } over ${returns.length} episodes${cuts}${
    successRate === undefined ? "" : `, success rate ${round(successRate)}`
  }`;
}

/** Options of {@linkcode policyFile}. */
export interface PolicyFileOptions {
  /**
   * Fixed batch size of the file.
   *
   * @default any number
   */
  batchSize?: number;
  /**
   * Take the most likely actions instead of sampled ones.
   *
   * @default as in the run's evaluations
   */
  deterministic?: boolean;
  /**
   * Role of the policy, in games with a policy for each.
   *
   * @default the only policy
   */
  role?: string;
  /**
   * Add the output `probabilities`, of discrete actions.
   *
   * @default false
   */
  probabilities?: boolean;
}

/**
 * Exports the current policy as an ONNX file, with observation normalization. By
 * default it chooses actions as in the run's evaluations.
 *
 * @throws {UsageError} If there is a policy for each role, and none or another is named.
 *
 * @example
 * ```ts
 * import { runDirOf } from "@bellman/runs/settings";
 * import { findAgent, policyFile, withAgent } from "@bellman/runs/training";
 * import { assert } from "@std/assert";
 *
 * const dir = runDirOf("zoo:a2c/CartPole-v1");
 * const agent = findAgent(dir, { command: "export", environment: false });
 * const file = await withAgent(agent, (setup) => policyFile(setup));
 * assert(file !== undefined && file.length > 1_000);
 * ```
 */
export function policyFile(
  setup: RunSetup,
  { batchSize, role, probabilities, ...options }: PolicyFileOptions = {},
): Uint8Array | undefined {
  const { config } = setup;
  const { deterministic = config.evaluationDeterministic } = options;
  const { algorithm, environments } = ofRole(setup, role);
  const { observationSpace } = environments.spaces;
  const flattened = flattenedText(observationSpace);
  const turned = turnedText(observationSpace);
  return algorithm.exportPolicy?.({
    batchSize,
    deterministic,
    probabilities,
    metadata: {
      ...policyMetadata(config),
      ...flattened && { "flattened observations": flattened },
      ...turned && { "channels put last": turned },
    },
  });
}

/** Finds the agent and the environments of a role, or those of the only policy. */
function ofRole(
  { algorithm, environments, config }: RunSetup,
  role: string | undefined,
): Pick<RunSetup, "algorithm" | "environments"> {
  const { roles } = environments;
  if (roles === undefined && role === undefined) {
    return { algorithm, environments };
  }
  if (roles === undefined) {
    throw new UsageError(
      `Cannot export the role ${role} of ${config.env}: it has one policy for all, expected no role`,
    );
  }
  if (role === undefined || !Object.hasOwn(roles, role)) {
    throw new UsageError(
      role === undefined
        ? `Cannot export the policies of ${config.env} at once: expected one of the roles ${
          Object.keys(roles).join(", ")
        }`
        : `Unknown role '${role}' of ${config.env}: ${
          hintAt(role, Object.keys(roles))
        }`,
    );
  }
  const { agents } = algorithm as RoleAgents;
  return { algorithm: agents[role], environments: roles[role] };
}

/** Number of plotted states: the first ones of an evaluation. */
const STATES = 3;

/** Returns the agent for plots; throws for one without a Q-function. */
export function plottedAgent(
  { algorithm, config }: Pick<RunSetup, "algorithm" | "config">,
): PlottedAgent {
  const plotted = algorithm as Trainable & Partial<PlottedAgent>;
  if (plotted.qValues !== undefined) return plotted as PlottedAgent;
  throw new UsageError(
    `Cannot draw policyPlots of ${config.algorithm}: it has no Q function of actions, expected policyPlots: false or an algorithm such as sac`,
  );
}

/**
 * Makes a function that draws Q-values and sampled actions after a step into a run's
 * folder. It uses separate environments and random streams, so that it does not change
 * training.
 */
export function policyPlotter(
  setup: RunSetup,
  { plotsDir }: RunFolder,
): (step: number) => Promise<void> {
  const { config, environments } = setup;
  const firstStates = () => {
    const env = environments.evaluation(STATES);
    try {
      const { during: seed } = evaluationSeeds(config.seed);
      const observations = env.reset({ seed }) as Float32Array;
      return {
        observations: rowsOf(observations, STATES),
        actionMasks: env.actionMasks && rowsOf(env.actionMasks, STATES),
      };
    } finally {
      env.close();
    }
  };
  return async (step) => {
    const { plotQValues } = await import("@bellman/training/plots");
    const svg = plotQValues(plottedAgent(setup), {
      actionSpace: environments.training.actionSpace,
      ...firstStates(),
      title: `${config.algorithm} on ${config.env}, ${
        step.toLocaleString("en-US")
      } steps`,
    });
    await mkdir(plotsDir, { recursive: true });
    const name = `policy-${String(step).padStart(9, "0")}.svg`;
    writeWhole(`${plotsDir}/${name}`, svg);
  };
}

/** Copies a number of rows of equal size. */
function rowsOf<T extends Float32Array | Uint8Array>(
  array: T,
  count: number,
): T[] {
  const size = array.length / count;
  return Array.from(
    { length: count },
    (_, i) => array.slice(i * size, (i + 1) * size) as T,
  );
}
