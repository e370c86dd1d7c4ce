import {
  checkWritable,
  notices,
  UsageError,
  writeWhole,
} from "@bellman/runs/program";
import { seedBand } from "@bellman/statistics";
import { statisticTitle } from "@bellman/training";
import type {
  CurveBand,
  CurvePanel,
  CurvesOptions,
} from "@bellman/training/plots";
import { FEW_RUNS } from "@bellman/experiments";
import {
  type Command,
  option,
  type ParsedOptions,
  valueOf,
} from "../terminal/command.ts";
import { AXES, runCurves } from "@bellman/runs/plots";
import { TRUST_OPTION } from "../options/options.ts";
import { isShared, runDirOf } from "@bellman/runs/settings";

/** Parses an option with a fixed set of values. */
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

/** Reads what is drawn, and how, before any run is read. */
function choiceOf(options: ParsedOptions, dirs: readonly string[]) {
  const smoothing = numberOf(options, "smooth", {
    minimum: 0,
    maximum: 0.5,
    words: "a part of the curve from 0 to 0.5, such as 0.05",
  });
  const threshold = numberOf(options, "threshold", {
    words: "a number, such as 475",
  });
  const aggregate = wordOf(options, "aggregate", AGGREGATES);
  const band = wordOf(options, "band", BANDS);
  if (aggregate === "iqm" && (!IQM_BANDS.includes(band) || smoothing)) {
    throw new UsageError(
      "Cannot use --aggregate iqm with another --band than ci or none, or with --smooth",
    );
  }
  return {
    // Of training, a shared agent has the evaluations alone.
    key: valueOf(options, "key") ??
      (dirs.some(isShared) ? "eval/return_mean" : "rollout/return_mean"),
    x: wordOf(options, "x", AXES),
    band,
    aggregate,
    smoothing,
    threshold,
  };
}

/** Middles of runs, the default one first. */
const AGGREGATES = ["mean", "iqm"] as const;

/** Replaces the runs of each curve by their interquartile mean, with its band. */
function withIqm(
  panels: readonly CurvePanel[],
  hasBand: boolean,
): { panels: CurvePanel[]; subtitle: string } {
  const few = new Set<string>();
  const aggregated = panels.map((panel) => ({
    ...panel,
    series: panel.series.map((series) => {
      const { name, runs } = series;
      if (runs.length < 2) return series;
      const { fewRuns, low, high, ...line } = seedBand(runs, { center: "iqm" });
      if (line.x.length === 0) return series;
      if (fewRuns) few.add(name);
      return {
        ...series,
        name: `${name} (${runs.length} runs)`,
        runs: [hasBand ? { ...line, low, high } : line],
      };
    }),
  }));
  const marks = few.size > 0 && hasBand
    ? `; ${FEW_RUNS} (${[...few].join(", ")})`
    : "";
  const band = hasBand ? "; band: 95 % bootstrap interval" : "";
  return {
    panels: aggregated,
    subtitle: `interquartile mean of the runs${band}${marks}`,
  };
}

/** Bands, the default one first. */
const BANDS: readonly CurveBand[] = ["ci", "std", "iqr", "range", "none"];

/** Bands of the interquartile mean. */
const IQM_BANDS: readonly CurveBand[] = ["ci", "none"];

/** `plot`: draws a statistic of runs, with the spread over their seeds. */
export const plotCommand: Command = {
  name: "plot",
  usage: "RUN... [OPTIONS]",
  summary:
    "Draw the learning curves of runs or experiments; seeds are averaged.",
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
      "aggregate NAME",
      "Middle of the runs: mean (the default) or iqm, their interquartile mean.",
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
    const dirs = options.positionals.map(runDirOf);
    if (dirs.length === 0) {
      throw new UsageError(
        "Cannot plot 0 runs: expected at least one run folder, as in 'plot runs/*'",
      );
    }
    const choice = choiceOf(options, dirs);
    const { key } = choice;
    const file = `${key.replaceAll("/", "-")}.svg`;
    const out = valueOf(options, "out") ??
      (isShared(dirs[0]) ? file : `${dirs[0]}/${file}`);
    const extension = out.match(/\.(svg|html)$/)?.[1];
    if (extension === undefined) {
      throw new UsageError(
        `Cannot plot to ${out}: expected a file that ends in .svg or .html`,
      );
    }
    const { asPage, renderCurves, renderPanels, responsive } = await import(
      "@bellman/training/plots"
    );
    const found = await runCurves(dirs, {
      ...choice,
      isTrusted: options.switches.has("trust"),
      onNotice: notices(io),
    });
    const { panels, subtitle } = choice.aggregate === "iqm"
      ? withIqm(found.panels, choice.band === "ci")
      : { panels: found.panels, subtitle: undefined };
    const what = statisticTitle(key);
    const title = `${what} on ${panels.map(({ title }) => title).join(", ")}`;
    const draw = (
      given: Pick<CurvesOptions, "title" | "width" | "height"> = {},
    ) => {
      const { band, smoothing } = choice;
      const look = {
        title,
        subtitle,
        xLabel: found.xLabel,
        yLabel: what,
        band,
        smoothing,
      };
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
