import {
  episodeSteps,
  type LogRow,
  readProgress,
  statisticName,
  STATISTICS,
  statisticTitle,
} from "@bellman/training";
import type {
  CurveBand,
  CurvePanel,
  CurveRun,
  CurvesOptions,
  CurveThreshold,
} from "@bellman/training/plots";
import {
  checkWritable,
  hintAt,
  isLikelyTypo,
  nearest,
  UsageError,
  writeWhole,
} from "../terminal/errors.ts";
import { existsSync } from "node:fs";
import {
  type Command,
  option,
  type ParsedOptions,
  valueOf,
} from "../terminal/command.ts";
import type { ResolvedConfig } from "../config/resolve.ts";
import type { CommandIo } from "../terminal/process.ts";
import { rewardThreshold } from "../run/environment_modules.ts";
import { MAX_ROWS } from "../run/report.ts";
import { openRun, TRUST_OPTION } from "../run/saved_run.ts";
import { notices } from "../run/session.ts";

/** Quantity along the horizontal axis. */
type Axis = "steps" | "time" | "episodes";
const AXES: readonly Axis[] = ["steps", "time", "episodes"];

/** Statistic to draw, and the quantity on the horizontal axis. */
interface CurveChoice {
  key: string;
  /** Quantity along the horizontal axis, steps by default. */
  x?: Axis;
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

/** Says which of all names that a run's statistics have was meant. */
function statisticHint(key: string, names: readonly string[]): string {
  const whole = new Map(names.map((it) => [it.slice(it.indexOf("/") + 1), it]));
  const aliases = STATISTICS.filter(({ name }) => names.includes(name))
    .flatMap((it) => it.aliases);
  const found = nearest(key, [...names, ...aliases, ...whole.keys()]);
  return isLikelyTypo(key, found)
    ? `did you mean '${whole.get(found) ?? found}'?`
    : hintAt(key, names);
}

/** Finds the place of each row along an axis. */
function placesOf(
  { run, rows, episodesPath }: Parameters<typeof curveOf>[0],
  x: Axis,
): number[] {
  if (x === "steps") return rows.map(({ step }) => step);
  if (x === "time") {
    if (!rows.some(({ statistics }) => "time/seconds" in statistics)) {
      throw new UsageError(
        `Cannot plot ${run} over time: its log has no time/seconds`,
      );
    }
    let seconds = 0;
    // An evaluation has no time of its own: it follows the row before.
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

/** Units of training time: name, seconds, and the seconds from which on it is used. */
const UNITS = [
  { unit: "hours", scale: 3600, from: 7200 },
  { unit: "minutes", scale: 60, from: 180 },
  { unit: "seconds", scale: 1, from: 0 },
];

/** Names an axis in words, with the unit that suits the times. */
function axisOf(
  x: Axis,
  curves: readonly { x: number[] }[],
): { label: string; scale: number } {
  if (x === "steps") return { label: "Environment steps", scale: 1 };
  if (x === "episodes") return { label: "Episodes of training", scale: 1 };
  const last = Math.max(0, ...curves.map((it) => it.x.at(-1) ?? 0));
  const { unit, scale } = UNITS.find(({ from }) => last >= from)!;
  return { label: `Training time in ${unit}`, scale };
}

/** Keys that do not change what is learned. */
const NO_DIFFERENCE: ReadonlySet<string> = new Set([
  "seed",
  "threads",
  "stepTimeout",
  "logInterval",
  "evaluationInterval",
  "policyPlots",
  "videoInterval",
  "checkpointInterval",
  "keepCheckpoints",
]);

/**
 * Names the groups of runs: algorithm, environment, and the keys in which the runs
 * of both differ, but the seed and others that do not change what is learned.
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
  config: ResolvedConfig;
  rows: LogRow[];
  episodesPath: string;
}

/** Reads the runs that have logged something; skips the others, unless all are empty. */
function loggedRuns(
  { positionals: dirs, switches }: ParsedOptions,
  io: CommandIo,
): LoggedRun[] {
  const isTrusted = switches.has("trust");
  const runs = dirs.map((run) => {
    const { folder, config, notices: lines } = openRun(run, { isTrusted });
    lines.forEach(notices(io));
    // A run that failed at its start has no such file.
    const hasLog = existsSync(folder.progressPath);
    const rows = hasLog
      ? readProgress(folder.progressPath, { maxRows: MAX_ROWS })
      : [];
    return { run, config, rows, episodesPath: folder.episodesPath };
  });
  const logged = runs.filter(({ rows }) => rows.length > 0);
  if (logged.length === 0) return runs;
  for (const { run, rows } of runs) {
    if (rows.length > 0) continue;
    io.err(`Skipped ${run}: nothing has been logged yet\n`);
  }
  return logged;
}

/** A run, and the curve of it that is drawn. */
interface PlottedRun extends LoggedRun {
  curve: CurveRun;
}

/**
 * Makes a panel for each environment: runs that differ in the seed alone share a
 * curve, and curves of one name a colour.
 */
async function panelsOf(
  runs: readonly PlottedRun[],
  { key, threshold: value }: Pick<Choice, "key" | "threshold">,
): Promise<CurvePanel[]> {
  const names = groupNames(runs.map(({ config }) => config));
  const named = runs.map((run, i) => ({ ...run, name: names[i] }));
  const byEnv = [...Map.groupBy(named, ({ config }) => config.env)];
  const nameIn = (name: string, env: string) =>
    byEnv.length > 1 ? name.replace(` ${env}`, "") : name;
  const colors = [
    ...new Set(named.map((it) => nameIn(it.name, it.config.env))),
  ];
  return await Promise.all(byEnv.map(async ([env, alike]) => {
    const groups = Map.groupBy(alike, ({ name }) => nameIn(name, env));
    const series = [...groups].map(([name, runs]) => ({
      name,
      color: colors.indexOf(name),
      runs: runs.map(({ curve }) => curve),
    }));
    const threshold = value === undefined
      ? await solvedAt(env, key)
      : { value, label: String(value) };
    return { title: env, series, threshold };
  }));
}

/** Return from which on an environment counts as solved, if it is known. */
async function solvedAt(
  env: string,
  key: string,
): Promise<CurveThreshold | undefined> {
  if (!/\/return_(mean|median|min|max)$/.test(statisticName(key))) return;
  const value = await rewardThreshold(env);
  return value === undefined ? undefined : { value, label: `solved: ${value}` };
}

/** Chooses one of several words that an option takes. */
function wordOf<T extends string>(
  options: ParsedOptions,
  name: string,
  words: readonly T[],
): T {
  const text = valueOf(options, name) ?? words[0];
  const found = words.find((it) => it === text);
  if (found !== undefined) return found;
  throw new UsageError(
    `Cannot use --${name} ${text}: expected one of ${words.join(", ")}`,
  );
}

/** Parses an option as a number within bounds. */
function numberOf(
  options: ParsedOptions,
  name: string,
  { minimum = -Infinity, maximum = Infinity, words }: {
    minimum?: number;
    maximum?: number;
    words: string;
  },
): number | undefined {
  const text = valueOf(options, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isFinite(value) && value >= minimum && value <= maximum) {
    return value;
  }
  throw new UsageError(`Cannot use --${name} ${text}: expected ${words}`);
}

/** Checked options of a figure. */
type Choice = ReturnType<typeof choiceOf>;

/** Reads what is drawn, and how, before any run is read. */
function choiceOf(options: ParsedOptions) {
  const smoothing = numberOf(options, "smooth", {
    minimum: 0,
    maximum: 0.5,
    words: "a part of the curve from 0 to 0.5, such as 0.05",
  });
  const threshold = numberOf(options, "threshold", {
    words: "a number, such as 475",
  });
  return {
    key: valueOf(options, "key") ?? "rollout/return_mean",
    x: wordOf(options, "x", AXES),
    band: wordOf(options, "band", BANDS),
    smoothing,
    threshold,
  };
}

/** Bands, the default one first. */
const BANDS: readonly CurveBand[] = ["ci", "std", "iqr", "range", "none"];

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
    option("x AXIS", "Horizontal axis: steps (the default), time or episodes."),
    option(
      "band BAND",
      "Band over runs: ci (95 % bootstrap interval of the mean, the default), std, iqr (quartiles, around the median), range or none.",
    ),
    option(
      "smooth PART",
      "Smooth each run over this part of its points, 0 to 0.5; 0 by default.",
    ),
    option(
      "threshold N",
      "Dashed line; for returns by default where the environment counts as solved.",
    ),
    TRUST_OPTION,
  ],
  async run(options, io) {
    const dirs = options.positionals;
    if (dirs.length === 0) {
      throw new UsageError(
        "Cannot plot 0 runs: expected at least one run folder, as in 'plot runs/*'",
      );
    }
    const choice = choiceOf(options);
    const { key, x } = choice;
    const file = `${key.replaceAll("/", "-")}.svg`;
    const out = valueOf(options, "out") ?? `${dirs[0]}/${file}`;
    const extension = out.match(/\.(svg|html)$/)?.[1];
    if (extension === undefined) {
      throw new UsageError(
        `Cannot plot to ${out}: expected a file that ends in .svg or .html`,
      );
    }
    const { asPage, renderCurves, renderPanels, responsive } = await import(
      "@bellman/training/plots"
    );
    const runs = loggedRuns(options, io);
    const curves = runs.map((run) => curveOf(run, choice));
    const { label, scale } = axisOf(x, curves);
    const plotted = runs.map((run, i) => ({
      ...run,
      curve: { x: curves[i].x.map((at) => at / scale), y: curves[i].y },
    }));
    const panels = await panelsOf(plotted, choice);
    const what = statisticTitle(key);
    const title = `${what} on ${panels.map(({ title }) => title).join(", ")}`;
    const draw = (
      given: Pick<CurvesOptions, "title" | "width" | "height"> = {},
    ) => {
      const { band, smoothing } = choice;
      const look = { title, xLabel: label, yLabel: what, band, smoothing };
      const [{ series, threshold }, ...others] = panels;
      return others.length === 0
        ? renderCurves(series, { ...look, threshold, ...given })
        : renderPanels(panels, { ...look, ...given });
    };
    await checkWritable(out, "the curves");
    const html = () =>
      asPage(
        title,
        // The page has the title.
        `<figure>${responsive((it) => draw({ ...it, title: "" }))}</figure>`,
      );
    writeWhole(out, extension === "svg" ? draw() : html());
    io.out(`wrote ${out}\n`);
    return 0;
  },
};
