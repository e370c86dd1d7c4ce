import {
  type LogRow,
  readProgress,
  statisticName,
  STATISTICS,
} from "@bellman/training";
import type { CurveSeries } from "@bellman/training/plots";
import {
  checkWritable,
  nearest,
  UsageError,
  writeWhole,
} from "../terminal/errors.ts";
import { existsSync } from "node:fs";
import { type Command, option, valueOf } from "../terminal/command.ts";
import type { ResolvedConfig } from "../config/resolve.ts";
import type { CommandIo } from "../terminal/process.ts";
import { openRun } from "../run/saved_run.ts";

/** Returns a statistic of a run over its steps, without the rows that lack it. */
export function curveOf(
  rows: readonly LogRow[],
  { key, run }: { key: string; run: string },
): { x: number[]; y: number[] } {
  const names = [...new Set(rows.flatMap((it) => Object.keys(it.statistics)))];
  const name = [key, statisticName(key)].find((it) => names.includes(it));
  if (name === undefined) {
    throw new UsageError(
      names.length === 0
        ? `Cannot plot '${key}' of ${run}: nothing has been logged yet`
        : `Cannot plot '${key}' of ${run}: did you mean '${
          nearestStatistic(key, names)
        }'?`,
    );
  }
  const kept = rows.filter((it) => Number.isFinite(it.statistics[name]));
  return {
    x: kept.map((it) => it.step),
    y: kept.map((it) => it.statistics[name]),
  };
}

/** Returns the nearest of all names that a run's statistics have. */
function nearestStatistic(key: string, names: readonly string[]): string {
  const whole = new Map(names.map((it) => [it.slice(it.indexOf("/") + 1), it]));
  const aliases = STATISTICS.filter(({ name }) => names.includes(name))
    .flatMap((it) => it.aliases);
  const found = nearest(key, [...names, ...aliases, ...whole.keys()]);
  return whole.get(found) ?? found;
}

/**
 * Names the groups of runs: algorithm, environment, and all keys but the seed in
 * which the runs differ.
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

interface LoggedRun {
  run: string;
  config: ResolvedConfig;
  rows: LogRow[];
}

/** Reads the runs that have logged something; skips the others, unless all are empty. */
async function loggedRuns(
  dirs: readonly string[],
  io: CommandIo,
): Promise<LoggedRun[]> {
  const runs = await Promise.all(dirs.map(async (run) => {
    const { folder, config, edits } = await openRun(run);
    if (edits !== undefined) io.err(`${edits}\n`);
    // A run that failed at its start has no such file.
    const hasLog = existsSync(folder.progressPath);
    const rows = hasLog ? readProgress(folder.progressPath) : [];
    return { run, config, rows };
  }));
  const logged = runs.filter(({ rows }) => rows.length > 0);
  if (logged.length === 0) return runs;
  for (const { run, rows } of runs) {
    if (rows.length > 0) continue;
    io.err(`Skipped ${run}: nothing has been logged yet\n`);
  }
  return logged;
}

function seriesOf(runs: readonly LoggedRun[], key: string): CurveSeries[] {
  const names = groupNames(runs.map(({ config }) => config));
  const curves = runs.map(({ run, rows }) => curveOf(rows, { key, run }));
  const groups = Map.groupBy(curves, (_, i) => names[i]);
  return [...groups].map(([name, runs]) => ({ name, runs }));
}

function asHtml(svg: string, title: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${title}</title>
<style>body { max-width: 60rem; margin: 2rem auto; } svg { width: 100%; }</style>
${svg}
</html>
`;
}

/** `plot`: draws a statistic of runs, with the spread over their seeds. */
export const plotCommand: Command = {
  name: "plot",
  usage: "RUN... [OPTIONS]",
  summary: "Draw the learning curves of runs; the seeds of a run are averaged.",
  options: [
    option(
      "key STATISTIC",
      "Statistic to draw, a column of progress.csv or another of its names; rollout/return_mean by default.",
    ),
    option(
      "out FILE",
      "An .svg or .html file; by default in the first run's folder.",
    ),
  ],
  async run(options, io) {
    const dirs = options.positionals;
    if (dirs.length === 0) {
      throw new UsageError(
        "Cannot plot 0 runs: expected at least one run folder, as in 'plot runs/*'",
      );
    }
    const key = valueOf(options, "key") ?? "rollout/return_mean";
    const out = valueOf(options, "out") ??
      `${dirs[0]}/${key.replaceAll("/", "-")}.svg`;
    const extension = out.match(/\.(svg|html)$/)?.[1];
    if (extension === undefined) {
      throw new UsageError(
        `Cannot plot to ${out}: expected a file that ends in .svg or .html`,
      );
    }
    const { renderCurves } = await import("@bellman/training/plots");
    const svg = renderCurves(seriesOf(await loggedRuns(dirs, io), key), {
      title: key,
      xLabel: "environment steps",
      yLabel: key,
    });
    await checkWritable(out, "the curves");
    writeWhole(out, extension === "svg" ? svg : asHtml(svg, key));
    io.out(`wrote ${out}\n`);
    return 0;
  },
};
