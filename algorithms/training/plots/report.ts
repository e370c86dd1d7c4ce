import { type CurveRun, renderCurves } from "./curves.ts";
import type { EvaluationResult } from "../evaluate.ts";
import type { LoggedEpisode, LogRow } from "../logs/logger.ts";
import { STATISTICS, statisticTitle } from "../logs/statistics.ts";
import texts from "./texts.json" with { type: "json" };
import { escapeMarkup } from "./image.ts";

/** Content of a report. */
export interface Report {
  /** Heading, for example the algorithm and the environment. */
  title: string;
  /** The rows of the run, as {@link readProgress} gives them. */
  progress: readonly LogRow[];
  /**
   * Text of the configuration.
   *
   * @default none is shown
   */
  configText?: string;
  /**
   * The episodes of the run, as {@link readEpisodes} gives them.
   *
   * @default none are drawn
   */
  episodes?: readonly LoggedEpisode[];
  /**
   * The final evaluations by name, for example those of the last and the best
   * policy.
   *
   * @default {}
   */
  evaluations?: Readonly<Record<string, EvaluationResult>>;
  /**
   * More facts by name, shown under the heading.
   *
   * @default {}
   */
  details?: Readonly<Record<string, string>>;
}

/** Statistics that are no curves of their own. */
const hidden =
  /^(time\/(steps|updates|episodes|seconds)|rollout\/return_mean|eval\/.*)$/;

/**
 * Renders a run as one HTML page that needs no other file and no script: curves
 * of return, losses, entropy, explained variance and speed, the final
 * evaluations, the configuration.
 *
 * @param report Content of the report.
 * @returns The text of the page.
 *
 * @example
 * ```ts
 * import { renderReport } from "@bellman/training/plots";
 * import { assert, assertStringIncludes } from "@std/assert";
 *
 * const html = renderReport({
 *   title: "A2C on CartPole-v1",
 *   configText: "seed: 1",
 *   progress: [
 *     { step: 80, statistics: { "train/value_loss": 2, "rollout/return_mean": 20 } },
 *     { step: 160, statistics: { "train/value_loss": 1, "rollout/return_mean": 40 } },
 *   ],
 * });
 * assert(html.startsWith("<!doctype html>"));
 * assertStringIncludes(html, "Value loss");
 * assertStringIncludes(html, "seed: 1");
 * ```
 */
export function renderReport(report: Report): string {
  const { title, progress, configText, evaluations = {} } = report;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(title)}</title>
<style>${texts["report.css"]}</style>
</head>
<body>
<main>
<h1>${escapeMarkup(title)}</h1>
${facts(report.details ?? {})}
${figure(returnCurves(report), "wide")}
${
    Object.entries(evaluations).map(([name, evaluation]) =>
      `<h2>${escapeMarkup(name)}</h2>\n${facts(evaluationFacts(evaluation))}`
    ).join("\n")
  }
<h2>Statistics</h2>
<div class="charts">
${
    statisticsOf(progress).map((name) => figure(statisticCurve(name, progress)))
      .join("\n")
  }
</div>
${
    configText
      ? `<h2>Configuration</h2>\n<pre>${escapeMarkup(configText.trim())}</pre>`
      : ""
  }
</main>
</body>
</html>
`;
}

function returnCurves({ progress, episodes = [] }: Report): string {
  const training = curveOf("rollout/return_mean", progress);
  const evaluations = curveOf("eval/return_mean", progress);
  const low = curveOf("eval/return_min", progress).y;
  const high = curveOf("eval/return_max", progress).y;
  const series = [
    { name: "mean of the last episodes", runs: [training] },
    {
      name: "evaluation, lowest to highest",
      runs: [{ ...evaluations, low, high }],
    },
    {
      name: "episodes",
      style: "dots" as const,
      runs: [{
        x: episodes.map(({ step }) => step),
        y: episodes.map((episode) => episode.return),
      }],
    },
  ];
  return renderCurves(
    series.filter(({ runs }) => runs[0].x.length > 0),
    { title: "Return", width: 1080, height: 440 },
  );
}

function statisticCurve(name: string, progress: readonly LogRow[]): string {
  return renderCurves([{ name: "", runs: [curveOf(name, progress)] }], {
    title: statisticTitle(name),
    width: 540,
    height: 300,
    smoothing: 0.06,
  });
}

/** Chooses the statistics with curves: those of updates first, then others that are known. */
function statisticsOf(progress: readonly LogRow[]): string[] {
  const found = new Set(progress.flatMap((row) => Object.keys(row.statistics)));
  const known = STATISTICS.map(({ name }) => name);
  const ofUpdates = known.filter((name) => name.startsWith("train/"));
  return [...new Set([...ofUpdates, ...known, ...found])]
    .filter((name) => found.has(name) && !hidden.test(name));
}

function curveOf(name: string, progress: readonly LogRow[]): CurveRun {
  const rows = progress.filter(({ statistics }) => name in statistics);
  return {
    x: rows.map(({ step }) => step),
    y: rows.map(({ statistics }) => statistics[name]),
  };
}

function evaluationFacts(result: EvaluationResult): Record<string, string> {
  return {
    "episodes": String(result.returns.length),
    "mean return": `${round(result.meanReturn)} ± ${round(result.stdReturn)}`,
    "lowest": round(result.minReturn),
    "median": round(result.medianReturn),
    "highest": round(result.maxReturn),
    "mean length": round(result.meanLength),
  };
}

function facts(entries: Readonly<Record<string, string>>): string {
  const items = Object.entries(entries).map(([name, value]) =>
    `<div><dt>${escapeMarkup(name)}</dt><dd>${escapeMarkup(value)}</dd></div>`
  );
  return items.length > 0 ? `<dl class="facts">${items.join("")}</dl>` : "";
}

function figure(svg: string, classes = ""): string {
  return `<figure${classes ? ` class="${classes}"` : ""}>${svg}</figure>`;
}

function round(value: number): string {
  return (Math.round(value * 10) / 10).toLocaleString("en-US");
}
