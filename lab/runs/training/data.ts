import type { Dataset } from "@bellman/buffers/datasets";
import type { ObservationNormalizer } from "@bellman/envs";
import type { Callback } from "@bellman/training";
import type { VecEnv } from "@bellman/types";
import { existsSync } from "node:fs";
import { messageOf, UsageError } from "../program/errors.ts";
import { findAlgorithm } from "../settings/algorithms.ts";
import type { ResolvedConfig } from "../settings/resolve.ts";

/** Finds out if a run learns from recorded data alone. */
export function learnsFromData(
  { algorithm, data, dataShare }: ResolvedConfig,
): boolean {
  const { learnsFromData = false } = findAlgorithm(algorithm)!.meta;
  return learnsFromData || data !== null && dataShare === 1;
}

/**
 * Checks that an algorithm and recorded data go together.
 *
 * @throws {UsageError} If it learns from data and there is none, or the other way round.
 */
export function checkData(config: ResolvedConfig): void {
  const { algorithm, data, dataShare } = config;
  const { learnsFromData = false, schema } = findAlgorithm(algorithm)!.meta;
  if (data === null && learnsFromData) {
    throw new UsageError(
      `Cannot train ${algorithm} without data: expected --data and a folder of Minari or an npz file, as 'record' writes`,
    );
  }
  if (data === null) {
    if (dataShare !== 1) return;
    throw new UsageError(
      `Cannot train ${algorithm} with dataShare: 1 and no data: expected --data`,
    );
  }
  if (!learnsFromData && !("dataShare" in schema.properties)) {
    throw new UsageError(
      `Cannot train ${algorithm} on data: expected bc, from whose run it goes on with --init-from, or iql, sac, td3 or dqn`,
    );
  }
  for (const name of ["normalizeReward", "clipReward"] as const) {
    if (config[name] === false) continue;
    throw new UsageError(
      `Cannot train on data with ${name}, which changes rewards of new steps alone: expected ${name}: false`,
    );
  }
}

/**
 * Opens the recorded data of a run.
 *
 * @param config Settings of the run.
 * @param env Environments that the agent acts in.
 * @returns The data; undefined if the run has none.
 * @throws {UsageError} If there is no such data, or it does not fit.
 */
export async function dataOf(
  config: ResolvedConfig,
  { observationSpace, actionSpace }: VecEnv,
): Promise<Dataset | undefined> {
  checkData(config);
  const { data, bestFraction, seed, gamma } = config;
  if (data === null) return undefined;
  if (!existsSync(data)) {
    throw new UsageError(
      `Cannot open the data ${data}: there is no such file or folder`,
    );
  }
  const { openDataset } = await import("@bellman/buffers/datasets");
  const holdout = config.holdout ??
    (findAlgorithm(config.algorithm)!.meta.learnsFromData ? 0.1 : 0);
  try {
    return await openDataset(data, {
      ...{ observationSpace, actionSpace, holdout, bestFraction, seed },
      ...typeof gamma === "number" && { gamma },
    });
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}

/** Normalizes observations by the statistics of data, for good. */
export function scaleByData(
  { observationStatistics: { mean, deviation }, training }: Dataset,
  normalizer: ObservationNormalizer,
): void {
  const { parts } = normalizer.scaling;
  type Nested = Record<string, Float64Array>;
  const flat = (numbers: unknown): number[] =>
    parts === undefined
      ? Array.from(numbers as Float64Array)
      : parts.flatMap((name) => Array.from((numbers as Nested)[name]));
  normalizer.statistics.load({
    mean: Float64Array.from(flat(mean)),
    variance: Float64Array.from(flat(deviation), (it) => it * it),
    count: training.numSteps,
  });
  normalizer.training = false;
}

/** Makes callbacks that log the returns of the data beside those of evaluations. */
export function dataCallbacks(data: Dataset | undefined): Callback[] {
  if (data === undefined) return [];
  return [{
    onEvaluation: (context) => {
      context.record("data/return_mean", data.meanReturn);
      context.record("data/return_best", data.bestReturn);
    },
  }];
}

/** Describes data in one line. */
export function describeData(
  path: string,
  { numEpisodes, numSteps, meanReturn, bestReturn, heldOut }: Dataset,
): string {
  const count = (it: number) => it.toLocaleString("en-US");
  const round = (it: number) => String(Number(it.toPrecision(4)));
  return `Data: ${path}, ${
    count(numEpisodes)
  } episodes, ${heldOut.episodes.length} held out, ${
    count(numSteps)
  } steps, mean return ${round(meanReturn)}, best ${round(bestReturn)}`;
}
