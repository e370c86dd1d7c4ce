import {
  allocateBatch,
  deriveSeed,
  sample,
  SeededRandom,
  writeRow,
} from "@bellman/envs";
import { evaluate } from "@bellman/training";
import type { Actor, VecEnv } from "@bellman/types";
import { existsSync } from "node:fs";
import type { ResolvedConfig } from "@bellman/runs/settings";
import {
  evaluationEnvsFor,
  loadEnvironment,
  makeEnvironments,
  runPlayer,
} from "@bellman/runs/training";
import { messageOf, readText, writeWhole } from "@bellman/runs/program";

/** Number of episodes of random actions. */
export const RANDOM_EPISODES = 100;
/** Seed of environments and actions. */
const SEED = 0;

/** Makes an actor of random allowed actions. */
function randomActor({ actionSpace, numEnvs }: VecEnv): Actor {
  const random = new SeededRandom(deriveSeed(SEED, 0));
  const batch = allocateBatch(actionSpace, numEnvs);
  return {
    act(_, masks) {
      const size = (masks?.length ?? 0) / numEnvs;
      for (let row = 0; row < numEnvs; row++) {
        const rowMask = masks?.subarray(row * size, (row + 1) * size);
        writeRow(actionSpace, sample(actionSpace, random, rowMask), {
          batch,
          row,
        });
      }
      return batch;
    },
  };
}

/** Options of {@linkcode randomReturns}. */
export interface RandomReturnsOptions {
  /** Folder that stores the returns of random actions. */
  dir: string;
  /** Receives lines for the user. */
  onNotice: (line: string) => void;
  /** Aborts the measurement. */
  signal?: AbortSignal;
}

/** Measures the mean return of random actions in a run's environment. */
async function measure(
  config: ResolvedConfig,
  { onNotice, signal }: Omit<RandomReturnsOptions, "dir">,
): Promise<number> {
  const imports = await loadEnvironment(config);
  const numEnvs = evaluationEnvsFor(RANDOM_EPISODES);
  // Workers that learn have environments of their own.
  const workers = config.vectorization === "sync" ? null : config.workers;
  const environments = await makeEnvironments({ ...config, workers }, {
    imports,
    onNotice,
    isForEvaluation: true,
    evaluationEnvs: numEnvs,
    runPlayer,
  });
  try {
    const env = environments.evaluation(numEnvs);
    const { meanReturn } = await evaluate(randomActor(env), env, {
      episodes: RANDOM_EPISODES,
      maxSteps: config.evaluationMaxSteps ?? undefined,
      seed: SEED,
      signal,
    });
    return meanReturn;
  } finally {
    environments.close();
  }
}

function readKept(path: string): Record<string, number> {
  if (!existsSync(path)) return {};
  try {
    const kept = Object.entries(JSON.parse(readText(path, "the returns")));
    return Object.fromEntries(
      kept.filter((it): it is [string, number] => Number.isFinite(it[1])),
    );
  } catch {
    // They are measured again.
    return {};
  }
}

/**
 * Returns the mean returns of random actions over 100 episodes of each environment,
 * stored ones or newly measured ones.
 *
 * @param configs Configurations of runs by environment.
 * @param options Folder, receiver of lines for the user, abort signal.
 * @returns Returns by environment; one that cannot be measured is left out, with a
 * line.
 */
export async function randomReturns(
  configs: ReadonlyMap<string, ResolvedConfig>,
  options: RandomReturnsOptions,
): Promise<ReadonlyMap<string, number>> {
  const path = `${options.dir}/random_returns.json`;
  const returns = readKept(path);
  for (const [environment, config] of configs) {
    if (Object.hasOwn(returns, environment)) continue;
    options.onNotice(
      `Measuring the return of random actions on ${environment}: ${RANDOM_EPISODES} episodes`,
    );
    try {
      returns[environment] = await measure(config, options);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      options.onNotice(
        `Cannot measure the return of random actions on ${environment}: ${
          messageOf(error)
        }`,
      );
      continue;
    }
    writeWhole(path, `${JSON.stringify(returns, null, 2)}\n`);
  }
  return new Map(Object.entries(returns));
}
