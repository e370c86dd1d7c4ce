// deno-lint-ignore-file no-console -- a program that prints
/**
 * Trains one seed of a preset and prints how good it is as a line of JSON. The
 * bench runs it in processes of their own, two at a time.
 */
import {
  A2C,
  type A2CConfig,
  a2cPresets,
  defaultA2CConfig,
} from "@bellman/a2c";
import { selectBackend } from "@bellman/compute";
import {
  makeVec,
  type VecEnv,
  VecNormalizeObservation,
  VecNormalizeReward,
} from "@bellman/envs";
import { evaluate, train } from "@bellman/training";
import { parse } from "@std/yaml";

/** What one seed is trained with. */
export interface SeedTask {
  env: string;
  /** Name of a preset; empty for the defaults alone. */
  preset: string;
  seed: number;
  /** Environment steps; null takes the preset's. */
  steps: number | null;
  episodes: number;
  /** Settings instead of the preset's. */
  set: Record<string, unknown>;
}

/** What came of it. */
export interface SeedResult {
  seed: number;
  steps: number;
  meanReturn: number;
  stdReturn: number;
  seconds: number;
}

interface Settings extends A2CConfig {
  numEnvs: number;
  totalTimesteps: number;
  normalizeObservation: boolean;
  normalizeReward: boolean;
}

function settingsOf(task: SeedTask): Settings {
  const preset = task.preset === "" ? {} : parse(a2cPresets[task.preset]);
  const settings = {
    ...defaultA2CConfig,
    numEnvs: 8,
    totalTimesteps: 200_000,
    normalizeObservation: false,
    normalizeReward: false,
    ...preset as Partial<Settings>,
    ...task.set,
  } as Settings;
  if (task.steps !== null) settings.totalTimesteps = task.steps;
  return settings;
}

/** Environments to train in and to judge by, that share their statistics. */
function environments(id: string, settings: Settings) {
  let training: VecEnv = makeVec(id, { numEnvs: settings.numEnvs });
  if (settings.normalizeReward) {
    training = new VecNormalizeReward(training, { gamma: settings.gamma });
  }
  const evaluation = makeVec(id, { numEnvs: 10 });
  if (!settings.normalizeObservation) return { training, evaluation };
  const normalizer = new VecNormalizeObservation(training);
  const judged = new VecNormalizeObservation(evaluation, {
    statistics: normalizer.statistics,
    training: false,
  });
  return { training: normalizer, evaluation: judged };
}

async function runTask(task: SeedTask): Promise<SeedResult> {
  await selectBackend("wasm");
  const settings = settingsOf(task);
  const { training, evaluation } = environments(task.env, settings);
  const { observationSpace, actionSpace } = training;
  const config = Object.fromEntries(
    Object.keys(defaultA2CConfig).map((
      key,
    ) => [key, settings[key as keyof A2CConfig]]),
  );
  const algorithm = new A2C({
    observationSpace,
    actionSpace,
    numEnvs: settings.numEnvs,
  }, {
    config,
    seed: task.seed,
    totalTimesteps: settings.totalTimesteps,
  });
  const started = performance.now();
  await train(algorithm, training, {
    totalTimesteps: settings.totalTimesteps,
    seed: task.seed,
  });
  const seconds = (performance.now() - started) / 1000;
  const judged = await evaluate(
    algorithm.policy({ deterministic: true, numEnvs: evaluation.numEnvs }),
    evaluation,
    // Seeds that training did not see.
    { episodes: task.episodes, seed: 1_000_000 + task.seed },
  );
  algorithm.close();
  return {
    seed: task.seed,
    steps: settings.totalTimesteps,
    meanReturn: judged.meanReturn,
    stdReturn: judged.stdReturn,
    seconds,
  };
}

if (import.meta.main) {
  console.log(JSON.stringify(await runTask(JSON.parse(Deno.args[0]))));
}
