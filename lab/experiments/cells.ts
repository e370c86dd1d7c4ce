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

/** Run of an experiment (a cell): one variant in one environment with one seed. */
export interface Cell {
  /** Name of the variant. */
  variant: string;
  /** Id of the environment, such as `CartPole-v1`. */
  environment: string;
  /** Seed of the run. */
  seed: number;
  /** Run folder: `DIR/runs/VARIANT/ENVIRONMENT/seed-N`. */
  dir: string;
}

/** State of a cell, from its run folder. */
export type CellState = "missing" | "unfinished" | "finished" | "failed";

/** Evaluation of a policy; runs of older versions have no episodes. */
export type EvaluatedPolicy =
  & Omit<RecordedEvaluation, "seed" | "episodes">
  & { episodes?: number };

/** Cell with the results in its run folder. */
export interface CellResult extends Cell {
  /** State of the run. */
  state: CellState;
  /** Environment steps of training so far. */
  steps: number;
  /** Seconds of training so far, including evaluations. */
  seconds: number;
  /** Evaluation of the final policy; null unless the cell is finished. */
  last: EvaluatedPolicy | null;
  /**
   * Evaluation of the best checkpoint (highest mean return during training); null
   * unless the cell is finished.
   */
  best: EvaluatedPolicy | null;
  /** Commit of the folder where the cell was finished; empty if that is not a repository. */
  commit: string;
  /** Number of resumes after its process was killed, or its machine lost. */
  resumes: number;
  /** Error message of a failed cell. */
  message: string;
}

/**
 * Lists the cells of a plan with seeds outermost, so that a half-finished experiment
 * has all variants.
 */
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
  // A run that could not start has no record.
  const record = recordOf(dir) ??
    newRecord({ config: settings, engine: settings.engine });
  new RecordKeeper(new RunFolder(dir), record).enter("failed", reason);
}

/**
 * Reads the results in a cell's run folder.
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
  const common = { ...cell, steps, seconds, resumes, message: "" };
  if (hasEnded(record)) {
    const { commit = "", evaluations: { last, best } } = record;
    const known = { last, best, commit: asLine(commit) };
    return { ...common, ...known, state: "finished" };
  }
  const none = { ...common, last: null, best: null, commit: "" };
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

/** Makes a test of names from a pattern, such as `a2c/CartPole*`. */
function matcherOf(pattern: string): (name: string) => boolean {
  // Node 22 has no RegExp.escape.
  const parts = pattern.split("*")
    .map((it) => it.replaceAll(/[\\^$.+?()[\]{}|]/g, "\\$&"));
  const expression = new RegExp(`^${parts.join("[^/]*")}(/|$)`);
  return (name) => expression.test(name);
}

/**
 * Selects the cells of a command line.
 *
 * @param cells All cells of the plan.
 * @param options `only`, a pattern of names, and `shard`, such as `2/8`.
 * @throws {UsageError} If none matches, or the shard is not valid.
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
  const inShard = new Set(
    cells.filter((_, i) => i % shard.of === shard.part - 1),
  );
  return named.filter((it) => inShard.has(it));
}

/** Part of the cells, for one of several machines. */
export interface Shard {
  /** Number of the part, from 1. */
  part: number;
  /** Number of parts. */
  of: number;
}
