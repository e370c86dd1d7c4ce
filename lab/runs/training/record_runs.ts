import {
  describeSpace,
  make,
  Recorder,
  spacesEqual,
  TimeLimit,
} from "@bellman/envs";
import { evaluationBound, EventLoopBreak } from "@bellman/training";
import type { Env } from "@bellman/types";
import {
  EpisodeWriter,
  type EpisodeWriterOptions,
} from "../play/episode_writer.ts";
import { playEpisodes } from "../play/episodes.ts";
import { UsageError } from "../program/errors.ts";
import { loadEnvironment } from "./environment_modules.ts";
import type { RunSetup } from "./run_setup.ts";
import { type SavedAgent, savedSpaces, withAgent } from "./saved_agent.ts";

/** Options of {@linkcode recordRuns}. */
export interface RecordRunsOptions extends EpisodeWriterOptions {
  /** Folder of Minari that the episodes are written to. */
  out: string;
  /** Episodes in all; several agents play equal numbers of them. */
  episodes: number;
  /**
   * Steps after which an episode is truncated.
   *
   * @default as in the run's evaluations
   */
  maxSteps?: number;
  /** Ends the recording with the episodes that are whole. */
  signal?: AbortSignal;
  /**
   * Receives lines for the user.
   *
   * @default they are dropped
   */
  onNotice?: (line: string) => void;
  /** Called after each step, with the steps so far. */
  onStep?: (writer: EpisodeWriter, steps: number) => void;
}

/**
 * Lets agents play, and writes their episodes as the environment saw and gave them: raw
 * observations and rewards, and the environment's own actions. Those that ended are
 * written once a minute. The seed of each agent is its own and its place, so that equal
 * agents play other episodes; those that are appended go on from the episodes there.
 *
 * @param agents Agents of environments with the same spaces.
 * @param options Folder and number of episodes.
 * @returns The writer, with the numbers of what was recorded.
 * @throws {UsageError} If the folder exists and may not, an agent has several roles, or
 * saw other spaces in training.
 *
 * @example
 * ```ts
 * import { openDataset } from "@bellman/buffers/datasets";
 * import { findAgent, recordRuns } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const agent = findAgent("zoo:a2c/CartPole-v1", { command: "record" });
 * const out = `${await Deno.makeTempDir()}/demo`;
 * const { steps } = await recordRuns([agent], { out, episodes: 2, maxSteps: 50 });
 * const { numSteps, numEpisodes } = await openDataset(out, { holdout: 0 });
 * assertEquals([steps, numSteps, numEpisodes], [100, 100, 2]);
 * ```
 */
export async function recordRuns(
  agents: readonly SavedAgent[],
  options: RecordRunsOptions,
): Promise<EpisodeWriter> {
  const { out, episodes, onNotice, signal } = options;
  if (episodes < agents.length) {
    throw new UsageError(
      `Cannot record ${episodes} episodes of ${agents.length} runs: expected at least one of each`,
    );
  }
  const writer = await EpisodeWriter.open(out, await spacesOf(agents), options);
  try {
    for (const [i, agent] of agents.entries()) {
      if (signal?.aborted) break;
      await withAgent(agent, async (setup) => {
        if (setup.environments.roles !== undefined) {
          throw new UsageError(
            `Cannot record ${agent.dir}, which has a policy for each role: expected a run of one policy`,
          );
        }
        const count = Math.floor((episodes + i) / agents.length);
        const seed = agent.seed + writer.before + i;
        await record(setup, writer, { ...agent, ...options, count, seed });
      }, { onNotice });
    }
  } finally {
    writer.close();
  }
  return writer;
}

/** Finds the spaces of the episodes; throws for an agent that saw others in training. */
async function spacesOf(
  [first, ...others]: readonly SavedAgent[],
): Promise<Pick<Env, "observationSpace" | "actionSpace">> {
  const { config } = first;
  await loadEnvironment(config);
  const env = make(config.env, { kwargs: config.envKwargs });
  env.close();
  for (const { dir, checkpoint } of [first, ...others]) {
    for (const name of ["observationSpace", "actionSpace"] as const) {
      const saved = savedSpaces(checkpoint)?.[name] ?? env[name];
      if (spacesEqual(saved, env[name])) continue;
      throw new UsageError(
        `Cannot record ${dir} in ${config.env}: its ${name} is ${
          describeSpace(saved)
        }, expected ${describeSpace(env[name])}`,
      );
    }
  }
  return env;
}

/** Plays episodes of one agent. */
async function record(
  setup: RunSetup,
  writer: EpisodeWriter,
  { count, seed, deterministic, maxSteps, signal, onStep }:
    & RecordRunsOptions
    & { count: number; seed: number; deterministic: boolean },
): Promise<void> {
  const { config, environments } = setup, inner = environments.single();
  const limit = maxSteps ?? config.evaluationMaxSteps ?? evaluationBound(inner);
  const env = new Recorder(new TimeLimit(inner, limit));
  const turn = new EventLoopBreak();
  try {
    await playEpisodes(setup, {
      ...{ env, episodes: count, deterministic, seed },
      show: ({ step }) => {
        writer.take(env.episodes);
        onStep?.(writer, writer.steps + step);
        if (turn.due()) return pause();
      },
    });
  } finally {
    writer.take(env.episodes);
    await writer.save();
  }

  /** Writes what is whole, hears signals, and says if it goes on. */
  async function pause(): Promise<boolean> {
    await writer.saveIfDue();
    await turn.take();
    return !signal?.aborted;
  }
}
