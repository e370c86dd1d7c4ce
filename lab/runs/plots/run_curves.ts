import { hintAt, typoOf } from "@bellman/files/options";
import {
  episodeSteps,
  type LogRow,
  readProgress,
  statisticName,
  STATISTICS,
} from "@bellman/training";
import type { CurvePanel, CurveThreshold } from "@bellman/training/plots";
import { existsSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import type { ResolvedConfig } from "../settings/resolve.ts";
import { UsageError } from "../program/errors.ts";
import { rewardThreshold } from "../training/environment_modules.ts";
import { MAX_ROWS, solvedAt } from "../training/report.ts";
import { refuseLinksIn } from "../training/run_entries.ts";
import { openSavedRun } from "../training/saved_run.ts";
import { logOf } from "../settings/shared_folder.ts";

/** Quantity of the horizontal axis. */
export type CurveAxis = "steps" | "time" | "episodes";

/** Quantities of the horizontal axis, the default first. */
export const AXES: readonly CurveAxis[] = ["steps", "time", "episodes"];

/** Statistic to draw, and quantity of the horizontal axis. */
interface CurveChoice {
  key: string;
  /** Quantity of the horizontal axis, steps by default. */
  x?: CurveAxis;
}

/** Returns a statistic of a run, without the rows that lack it. */
export function curveOf(
  { run, rows, episodesPath }: Pick<LoggedRun, "run" | "rows"> & {
    episodesPath?: string;
  },
  { key, x = "steps" }: CurveChoice,
): { x: number[]; y: number[] } {
  const names = [...new Set(rows.flatMap((it) => Object.keys(it.statistics)))];
  const name = [key, statisticName(key)].find((it) => names.includes(it));
  if (name === undefined) {
    throw new UsageError(
      names.length === 0
        ? `Cannot plot '${key}' of ${run}: nothing has been logged yet`
        : `Cannot plot '${key}' of ${run}: ${statisticHint(key, names)}`,
    );
  }
  const places = placesOf({ run, rows, episodesPath }, x);
  const kept = rows.map((_, i) => i)
    .filter((i) => Number.isFinite(rows[i].statistics[name]));
  return {
    x: kept.map((i) => places[i]),
    y: kept.map((i) => rows[i].statistics[name]),
  };
}

/** Suggests a statistic of a run with a similar name. */
function statisticHint(key: string, names: readonly string[]): string {
  const whole = new Map(names.map((it) => [it.slice(it.indexOf("/") + 1), it]));
  const aliases = STATISTICS.filter(({ name }) => names.includes(name))
    .flatMap((it) => it.aliases);
  const similar = typoOf(key, [...names, ...aliases, ...whole.keys()]);
  return similar === undefined
    ? hintAt(key, names)
    : `did you mean '${whole.get(similar) ?? similar}'?`;
}

/** Returns the x coordinate of each row. */
function placesOf(
  { run, rows, episodesPath }: Parameters<typeof curveOf>[0],
  x: CurveAxis,
): number[] {
  if (x === "steps") return rows.map(({ step }) => step);
  if (x === "time") {
    if (!rows.some(({ statistics }) => "time/seconds" in statistics)) {
      throw new UsageError(
        `Cannot plot ${run} over time: its log has no time/seconds`,
      );
    }
    let seconds = 0;
    // Evaluations have no time of their own: that of the row before is used.
    return rows.map(({ statistics }) =>
      seconds = statistics["time/seconds"] ?? seconds
    );
  }
  if (episodesPath === undefined || !existsSync(episodesPath)) {
    throw new UsageError(
      `Cannot plot ${run} over episodes: it has no episodes.csv`,
    );
  }
  const ends = episodeSteps(episodesPath);
  let count = 0, next = ends.next();
  const places = rows.map(({ step }) => {
    for (; !next.done && next.value <= step; next = ends.next()) count++;
    return count;
  });
  // Closes the file.
  ends.return(undefined);
  return places;
}

/** Units of training time: name, seconds, and the smallest time in seconds to use it for. */
const UNITS = [
  { unit: "hours", scale: 3600, from: 7200 },
  { unit: "minutes", scale: 60, from: 180 },
  { unit: "seconds", scale: 1, from: 0 },
];

/** Labels an axis, with a unit that suits the times. */
function axisOf(
  x: CurveAxis,
  curves: readonly { x: number[] }[],
): { label: string; scale: number } {
  if (x === "steps") return { label: "Environment steps", scale: 1 };
  if (x === "episodes") return { label: "Episodes of training", scale: 1 };
  const last = Math.max(0, ...curves.map((it) => it.x.at(-1) ?? 0));
  const { unit, scale } = UNITS.find(({ from }) => last >= from)!;
  return { label: `Training time in ${unit}`, scale };
}

/** Settings that do not affect learning. */
const NO_DIFFERENCE: ReadonlySet<string> = new Set([
  "seed",
  "threads",
  "stepTimeout",
  "startTimeout",
  "browser",
  "logInterval",
  "evaluationInterval",
  "policyPlots",
  "videoInterval",
  "checkpointInterval",
  "keepCheckpoints",
]);

/**
 * Names the groups of runs by algorithm, environment and the settings in which their
 * runs differ, other than the seed and settings that do not affect learning.
 */
export function groupNames(
  configs: readonly Record<string, unknown>[],
): string[] {
  const text = (value: unknown): string => JSON.stringify(value) ?? "";
  const nameOf = (config: Record<string, unknown>) =>
    `${config.algorithm} ${config.env}`;
  const groups = Map.groupBy(configs, nameOf);
  const varying = new Map([...groups].map(([name, alike]) => {
    const keys = [...new Set(alike.flatMap((it) => Object.keys(it)))];
    return [
      name,
      keys.filter((key) =>
        !NO_DIFFERENCE.has(key) &&
        new Set(alike.map((config) => text(config[key]))).size > 1
      ),
    ];
  }));
  return configs.map((config) => {
    const name = nameOf(config);
    const parts = varying.get(name)!.map((key) =>
      `${key}=${text(config[key])}`
    );
    return [name, ...parts].join(" ");
  });
}

interface LoggedRun {
  run: string;
  /** Name of its curve; by default its differences from the others. */
  group?: string;
  config: ResolvedConfig;
  rows: LogRow[];
  episodesPath: string;
}

/** Run folder, and the name of its curve, if given. */
type GroupedRun = Pick<LoggedRun, "run" | "group">;

/**
 * Lists run folders: experiments are replaced by their runs, grouped by variant.
 *
 * @throws {UsageError} If an experiment has no runs, or contains links.
 */
function runFoldersIn(dirs: readonly string[]): GroupedRun[] {
  const experiments = dirs.filter(isExperiment);
  return dirs.flatMap((dir): GroupedRun[] => {
    if (!isExperiment(dir)) return [{ run: dir }];
    refuseLinksIn(dir);
    const runs = foldersIn(`${dir}/${EXPERIMENT_RUNS}`).flatMap((variant) =>
      foldersIn(variant).flatMap(foldersIn).map((run) => ({
        run,
        group: experiments.length > 1
          ? `${basename(dir)}/${basename(variant)}`
          : basename(variant),
      }))
    ).filter(({ run }) => existsSync(`${run}/config.yaml`));
    if (runs.length > 0) return runs;
    throw new UsageError(`Cannot plot ${dir}: none of its runs has begun`);
  });
}

function foldersIn(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true })
    .filter((it) => it.isDirectory())
    .map(({ name }) => `${dir}/${name}`).sort();
}

/** Folder of an experiment's runs. */
const EXPERIMENT_RUNS = "runs";

function isExperiment(dir: string): boolean {
  return [EXPERIMENT_RUNS, "plan.yaml"].every((it) =>
    existsSync(`${dir}/${it}`)
  );
}

/** Reads the runs with logged rows; skips the others, unless all are empty. */
function loggedRuns(
  dirs: readonly GroupedRun[],
  { onNotice, isTrusted }: {
    onNotice: (line: string) => void;
    isTrusted: boolean;
  },
): LoggedRun[] {
  const runs = dirs.map(({ run, group }) => {
    const { folder, config, notices: lines } = openSavedRun(run, { isTrusted });
    lines.forEach(onNotice);
    const path = logOf(folder);
    // A run that failed at its start has no such file.
    const rows = existsSync(path)
      ? readProgress(path, { maxRows: MAX_ROWS })
      : [];
    return { run, group, config, rows, episodesPath: folder.episodesPath };
  });
  const logged = runs.filter(({ rows }) => rows.length > 0);
  if (logged.length === 0) return runs;
  for (const { run, rows } of runs) {
    if (rows.length > 0) continue;
    onNotice(`Skipped ${run}: nothing has been logged yet`);
  }
  return logged;
}

/** Options of {@linkcode runCurves}. */
export interface CurvesChoice {
  /** Statistic: a column of `progress.csv`, or one of its aliases. */
  key: string;
  /**
   * Quantity of the horizontal axis.
   *
   * @default "steps"
   */
  x?: CurveAxis;
  /**
   * Threshold line.
   *
   * @default for returns, the environment's reward threshold
   */
  threshold?: number;
  /**
   * Follow links in the runs.
   *
   * @default false
   */
  isTrusted?: boolean;
  /**
   * Receives lines for the user.
   *
   * @default they are dropped
   */
  onNotice?: (line: string) => void;
}

/** Learning curves of runs, ready to be drawn. */
export interface RunCurves {
  /** Panels, one for each environment. */
  panels: CurvePanel[];
  /** Label of the horizontal axis, with its unit. */
  xLabel: string;
}

/**
 * Reads the learning curves of runs, with a panel for each environment: runs that
 * differ only in the seed share a curve, and curves with the same name a colour.
 *
 * @param dirs Folders of runs, and of experiments, whose variants become curves.
 * @param choice Statistic, axis and threshold.
 * @returns The panels.
 * @throws {UsageError} If a folder contains no run, or a run has no such statistic.
 *
 * @example
 * ```ts
 * import { trainRun } from "@bellman/runs";
 * import { runCurves } from "@bellman/runs/plots";
 * import { assertEquals } from "@std/assert";
 *
 * const root = await Deno.makeTempDir();
 * const dirs = [0, 1].map((seed) => `${root}/${seed}`);
 * for (const [seed, dir] of dirs.entries()) {
 *   await trainRun({ algorithm: "a2c", totalTimesteps: 100, seed }, { dir });
 * }
 * const { panels } = await runCurves(dirs, { key: "eval/return_mean" });
 * const [{ title, series: [{ runs }] }] = panels;
 * assertEquals([title, runs.length], ["CartPole-v1", 2]);
 * ```
 */
export async function runCurves(
  dirs: readonly string[],
  choice: CurvesChoice,
): Promise<RunCurves> {
  const { key, x = "steps", threshold: value } = choice;
  const { isTrusted = false, onNotice = () => {} } = choice;
  const runs = loggedRuns(runFoldersIn(dirs), { onNotice, isTrusted });
  const curves = runs.map((run) => curveOf(run, choice));
  const { label: xLabel, scale } = axisOf(x, curves);
  const names = groupNames(runs.map(({ config }) => config));
  const named = runs.map((run, i) => ({
    name: run.group ?? names[i],
    env: run.config.env,
    curve: { x: curves[i].x.map((at) => at / scale), y: curves[i].y },
  }));
  const byEnv = [...Map.groupBy(named, ({ env }) => env)];
  const nameIn = (name: string, env: string) =>
    byEnv.length > 1 ? name.replace(` ${env}`, "") : name;
  const colors = [...new Set(named.map((it) => nameIn(it.name, it.env)))];
  const panels = await Promise.all(byEnv.map(async ([env, alike]) => {
    const groups = Map.groupBy(alike, ({ name }) => nameIn(name, env));
    const series = [...groups].map(([name, runs]) => ({
      name,
      color: colors.indexOf(name),
      runs: runs.map(({ curve }) => curve),
    }));
    const threshold = value === undefined
      ? await thresholdOf(env, key)
      : { value, label: String(value) };
    return { title: env, series, threshold };
  }));
  return { panels, xLabel };
}

/** Returns the reward threshold for a statistic of returns, if known. */
async function thresholdOf(
  env: string,
  key: string,
): Promise<CurveThreshold | undefined> {
  if (!/\/return_(mean|median|min|max)$/.test(statisticName(key))) return;
  return solvedAt(await rewardThreshold(env));
}
