import {
  type RecordedEvaluation,
  RecordKeeper,
  RunFolder,
} from "@bellman/runs";
import { mkdirSync } from "node:fs";
import { hasEnded, recordOf, type RunTask } from "@bellman/runs/tasks";
import { newRecord } from "@bellman/runs/training";
import { asLine, csvText, UsageError } from "@bellman/runs/program";
import { folderOf, type Plan } from "./plan.ts";

/** A run of an experiment: one variant in one environment with one seed. */
export interface Cell {
  /** Name of the variant. */
  variant: string;
  /** Id of the environment, such as `CartPole-v1`. */
  environment: string;
  /** Seed of the run. */
  seed: number;
  /** The run folder: `DIR/runs/VARIANT/ENVIRONMENT/seed-N`. */
  dir: string;
}

/** State of a cell, as its run folder says it. */
export type CellState = "missing" | "unfinished" | "finished" | "failed";

/** Evaluation of a policy, of a run of a former version without its episodes. */
export type EvaluatedPolicy =
  & Omit<RecordedEvaluation, "seed" | "episodes">
  & { episodes?: number };

/** A cell and what its run folder holds. */
export interface CellResult extends Cell {
  /** State of the run. */
  state: CellState;
  /** Environment steps of the training so far. */
  steps: number;
  /** Seconds of the training so far, its evaluations included. */
  seconds: number;
  /** The policy at the end of training; null unless the cell is finished. */
  last: EvaluatedPolicy | null;
  /** The checkpoint with the highest of the evaluations during training; null unless the cell is finished. */
  best: EvaluatedPolicy | null;
  /** Commit of the folder that the cell was finished in; empty where that is no repository. */
  commit: string;
  /** Times that it was resumed as its process was killed, or its machine lost. */
  resumes: number;
  /** Last line of a cell that failed. */
  message: string;
}

/** Lists the cells of a plan, seeds outermost: a half-done experiment has all variants. */
export function cellsOf({ variants }: Plan, dir: string): Cell[] {
  const most = Math.max(...variants.map(({ seeds }) => seeds.length));
  return Array.from(
    { length: most },
    (_, rank) =>
      variants.filter(({ seeds }) => rank < seeds.length)
        .flatMap(({ name: variant, environments, seeds }) =>
          environments.map((environment) => ({
            variant,
            environment,
            seed: seeds[rank],
            dir: `${dir}/runs/${variant}/${folderOf(environment)}/seed-${
              seeds[rank]
            }`,
          }))
        ),
  ).flat();
}

/**
 * Returns the name of a cell: `VARIANT/ENVIRONMENT/seed-N`.
 *
 * @example
 * ```ts
 * import { nameOf } from "@bellman/experiments";
 * import { assertEquals } from "@std/assert";
 *
 * const cell = {
 *   ...{ variant: "a2c", environment: "CartPole-v1", seed: 3 },
 *   dir: "experiments/first/runs/a2c/CartPole-v1/seed-3",
 * };
 * assertEquals(nameOf(cell), "a2c/CartPole-v1/seed-3");
 * ```
 */
export function nameOf({ dir }: Cell): string {
  return dir.split("/").slice(-3).join("/");
}

/** Records in a cell's folder that it failed. */
export function recordFailure(
  { dir, settings }: RunTask,
  reason: string,
): void {
  mkdirSync(dir, { recursive: true });
  // One that could not begin has none.
  const record = recordOf(dir) ??
    newRecord({ config: settings, engine: settings.engine });
  new RecordKeeper(new RunFolder(dir), record).enter("failed", reason);
}

/**
 * Reads what the run folder of a cell holds.
 *
 * @example
 * ```ts
 * import { readCell } from "@bellman/experiments";
 * import { assertEquals } from "@std/assert";
 *
 * const cell = {
 *   ...{ variant: "a2c", environment: "CartPole-v1", seed: 3 },
 *   dir: "experiments/first/runs/a2c/CartPole-v1/seed-3",
 * };
 * assertEquals(readCell(cell).state, "missing");
 * ```
 */
export function readCell(cell: Cell): CellResult {
  const record = recordOf(cell.dir);
  const { step: steps = 0, seconds = 0, resumes = 0 } = record ?? {};
  const found = { ...cell, steps, seconds, resumes, message: "" };
  if (hasEnded(record)) {
    const { commit = "", evaluations: { last, best } } = record;
    const known = { last, best, commit: asLine(commit) };
    return { ...found, ...known, state: "finished" };
  }
  const none = { ...found, last: null, best: null, commit: "" };
  if (record === undefined) return { ...none, state: "missing" };
  const { state, reason = "" } = record, message = asLine(reason);
  return state === "failed"
    ? { ...none, state, message }
    : { ...none, state: "unfinished" };
}

const COLUMNS = [
  "variant",
  "environment",
  "seed",
  "state",
  "steps",
  "seconds",
  "last",
  "best",
  "commit",
  "resumes",
  "message",
] as const;

/** Writes the results of all cells as CSV; `last` and `best` are mean returns. */
export function resultsCsv(results: readonly CellResult[]): string {
  const rows = results.map((result) =>
    COLUMNS.map((name) => {
      const value = result[name];
      return typeof value === "object" ? value?.meanReturn : value;
    })
  );
  return csvText([COLUMNS, ...rows]);
}

/** Makes a test of names by a pattern of their parts, such as `a2c/CartPole*`. */
function matcherOf(pattern: string): (name: string) => boolean {
  const source = pattern.split("*").map(RegExp.escape).join("[^/]*");
  const expression = new RegExp(`^${source}(/|$)`);
  return (name) => expression.test(name);
}

/**
 * Chooses the cells of a command line.
 *
 * @param cells All cells of the plan.
 * @param options `only`, a pattern of names, and `shard`, such as `2/8`.
 * @throws {UsageError} If none matches, or the shard is none.
 */
export function chosenCells<T extends Cell>(
  cells: readonly T[],
  { only, shard }: { only?: string; shard?: Shard },
): T[] {
  const isNamed = matcherOf(only ?? "*");
  const named = cells.filter((cell) => isNamed(nameOf(cell)));
  if (named.length === 0) {
    throw new UsageError(
      `Cannot use --only '${only}': none of the ${cells.length} cells has such a name, as ${
        nameOf(cells[0])
      } is one`,
    );
  }
  if (shard === undefined) return named;
  const own = new Set(
    cells.filter((_, i) => i % shard.of === shard.part - 1),
  );
  return named.filter((it) => own.has(it));
}

/** A part of the cells, for a machine of several. */
export interface Shard {
  /** Number of the part, from 1 on. */
  part: number;
  /** Number of parts. */
  of: number;
}
