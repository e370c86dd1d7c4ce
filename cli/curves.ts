import { UsageError } from "./usage_error.ts";

/** The columns of a CSV file of numbers, by name. */
export type Columns = Record<string, number[]>;

/**
 * Reads a CSV file of numbers as the loggers write it: a header, then one row
 * a line; an empty cell is NaN.
 */
export function parseColumns(text: string, path: string): Columns {
  const [header, ...lines] = text.split("\n").filter((line) => line !== "");
  if (header === undefined) {
    throw new UsageError(`Cannot read ${path}: expected a header and rows`);
  }
  const names = header.split(",");
  const columns: Columns = Object.fromEntries(
    names.map((name): [string, number[]] => [name, []]),
  );
  lines.forEach((line, row) => {
    const cells = line.split(",");
    if (cells.length !== names.length) {
      throw new UsageError(
        `Cannot read ${path}: line ${
          row + 2
        } has ${cells.length} cells, expected ${names.length}`,
      );
    }
    names.forEach((name, i) =>
      columns[name].push(cells[i] === "" ? NaN : Number(cells[i]))
    );
  });
  return columns;
}

/** A run as a curve: steps, values, and the group that it is averaged in. */
export interface RunCurve {
  /** What all runs of a group share; its name in the legend. */
  group: string;
  x: number[];
  y: number[];
}

/** One column of a run over its steps, without the rows that have no value. */
export function curveOf(
  columns: Columns,
  { key, path }: { key: string; path: string },
): { x: number[]; y: number[] } {
  const steps = columns.total_timesteps;
  const values = columns[key];
  if (steps === undefined || values === undefined) {
    throw new UsageError(
      `Cannot plot '${key}' of ${path}: expected one of ${
        Object.keys(columns).filter((name) => name !== "total_timesteps")
          .join(", ")
      }`,
    );
  }
  const kept = steps.map((_, i) => i).filter((i) => Number.isFinite(values[i]));
  return { x: kept.map((i) => steps[i]), y: kept.map((i) => values[i]) };
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
