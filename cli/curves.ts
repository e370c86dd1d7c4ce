import type { LogRow } from "@bellman/training";
import { nearest } from "./config/schema.ts";
import { UsageError } from "./usage_error.ts";

/** One statistic of a run over its steps, without the rows that lack it. */
export function curveOf(
  rows: readonly LogRow[],
  { key, run }: { key: string; run: string },
): { x: number[]; y: number[] } {
  const names = [...new Set(rows.flatMap((it) => Object.keys(it.statistics)))];
  if (!names.includes(key)) {
    throw new UsageError(
      names.length === 0
        ? `Cannot plot '${key}' of ${run}: nothing has been logged yet`
        : `Cannot plot '${key}' of ${run}: did you mean '${
          nearest(key, names)
        }'?`,
    );
  }
  const kept = rows.filter((it) => Number.isFinite(it.statistics[key]));
  return {
    x: kept.map((it) => it.step),
    y: kept.map((it) => it.statistics[key]),
  };
}

/**
 * Names of groups for runs that differ in some keys: the algorithm and the
 * environment, and every key beside the seed in which the runs differ.
 */
export function groupNames(
  configs: readonly Record<string, unknown>[],
): string[] {
  const text = (value: unknown): string => JSON.stringify(value) ?? "";
  const keys = [...new Set(configs.flatMap((config) => Object.keys(config)))];
  const varying = keys.filter((key) =>
    key !== "seed" && key !== "algorithm" && key !== "env" &&
    new Set(configs.map((config) => text(config[key]))).size > 1
  );
  return configs.map((config) => {
    const parts = varying.map((key) => `${key}=${text(config[key])}`);
    return [`${config.algorithm} ${config.env}`, ...parts].join(" ");
  });
}
