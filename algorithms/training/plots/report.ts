import { Buffer } from "node:buffer";
import {
  type CurvesOptions,
  type CurveThreshold,
  renderCurves,
} from "./curves.ts";
import type { CurveRun } from "./lines.ts";
import type { EvaluationResult } from "../evaluate.ts";
import type { LoggedEpisode, LogRow } from "../logs/logger.ts";
import { STATISTICS, statisticTitle } from "../logs/statistics.ts";
import texts from "./texts.json" with { type: "json" };
import { escapeMarkup } from "./image.ts";

/** Evaluation, with its circumstances. */
export interface ReportedEvaluation extends EvaluationResult {
  /** Environment steps at the agent's checkpoint. */
  readonly checkpoint?: number;
  /** True for the most likely actions, false for sampled ones. */
  readonly deterministic?: boolean;
  /** Seed of the episodes. */
  readonly seed?: number;
}

/** Setting that differs from its default. */
export interface ReportedSetting {
  /** Name of the setting. */
  readonly key: string;
  /** Its value. */
  readonly value: unknown;
  /** Default value. */
  readonly default: unknown;
}

/** Video of an episode. */
export interface ReportedVideo {
  /** Caption of the video. */
  readonly title: string;
  /** Content of a GIF file. */
  readonly data: Uint8Array;
}

/** Content of a report. */
export interface Report {
  /** Heading, for example the algorithm and the environment. */
  title: string;
  /** Rows of the run, by {@link readProgress}. */
  progress: readonly LogRow[];
  /**
   * Text of the configuration.
   *
   * @default none is shown
   */
  configText?: string;
  /**
   * Settings that differ from the defaults.
   *
   * @default none are shown
   */
  settings?: readonly ReportedSetting[];
  /**
   * Version, date and the like, as one line under the heading.
   *
   * @default ""
   */
  origin?: string;
  /**
   * Command of the run.
   *
   * @default none is shown
   */
  command?: string;
  /**
   * Episodes of the run, by {@link readEpisodes}.
   *
   * @default none are drawn
   */
  episodes?: readonly LoggedEpisode[];
  /**
   * Final evaluations by name, as of the last and the best policy.
   *
   * @default {}
   */
  evaluations?: Readonly<Record<string, ReportedEvaluation>>;
  /**
   * Threshold line, such as the return that counts as solved.
   *
   * @default none
   */
  threshold?: CurveThreshold;
  /**
   * Videos of episodes, in the order of training.
   *
   * @default []
   */
  videos?: readonly ReportedVideo[];
  /**
   * Further facts by name, under the heading.
   *
   * @default {}
   */
  details?: Readonly<Record<string, string>>;
}

/** Section of curves: heading, colour and statistics. */
interface Section {
  readonly heading: string;
  /** Index of the colour; see {@link CurveSeries.color}. */
  readonly color: number;
  readonly statistics: RegExp;
}

/** Sections in order; a statistic belongs to the first that matches it. */
const SECTIONS: readonly Section[] = [
  { heading: "Self-play", color: 5, statistics: /(^|\/)self_play\// },
  { heading: "Losses", color: 1, statistics: /^train\/.*(loss|error)/ },
  {
    heading: "Gradients and steps",
    color: 4,
    statistics: /^train\/.*(grad|rate$|steps_|trust_|product|norm)/,
  },
  {
    heading: "Policy",
    color: 3,
    statistics: /^train\/.*(entropy|temperature|epsilon|policy|kl)/,
  },
  { heading: "Values", color: 2, statistics: /^train\// },
  { heading: "Episodes", color: 0, statistics: /^(rollout|eval)\// },
  { heading: "Speed", color: 5, statistics: /^time\// },
  { heading: "More", color: 2, statistics: /./ },
];

/** Statistics without curves: returns, shown elsewhere, and counters. */
const HIDDEN =
  /^(time\/(?!steps_per_second)|rollout\/return_mean$|eval\/(return|length)_)/;

/**
 * Renders a run as one self-contained HTML page without scripts: curves of return,
 * losses, entropy, explained variance and speed, final evaluations, videos, command and
 * configuration.
 *
 * @param report Content of the report.
 * @returns Text of the page.
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
 *     { step: 80, statistics: { "train/value_loss": 2 } },
 *     { step: 160, statistics: { "train/value_loss": 1 } },
 *   ],
 * });
 * assert(html.startsWith("<!doctype html>"));
 * assertStringIncludes(html, "Value loss");
 * assertStringIncludes(html, "seed: 1");
 * ```
 */
export function renderReport(report: Report): string {
  const { title, origin, command, configText, settings } = report;
  const parts = [
    `<h1>${escapeMarkup(title)}</h1>`,
    origin && `<p class="origin">${escapeMarkup(origin)}</p>`,
    facts(report.details ?? {}),
    command && `<pre class="command">${escapeMarkup(command)}</pre>`,
    figure(responsive(returnCurves(report)), "return"),
    ...evaluationParts(report.evaluations ?? {}),
    ...videoParts(report.videos ?? []),
    ...curveParts(report.progress),
    settings && heading("What differs from the defaults"),
    settings && settingsTable(settings),
    configText && heading("Whole configuration"),
    configText &&
    `<details><summary>config.yaml</summary><pre>${
      escapeMarkup(configText.trim())
    }</pre></details>`,
  ];
  return asPage(title, parts.filter(Boolean).join("\n"));
}

/**
 * Makes a self-contained page that also suits phones.
 *
 * @param title Title of the page.
 * @param body Markup of the content.
 * @returns Text of the page.
 *
 * @example
 * ```ts
 * import { asPage, renderCurves, responsive } from "@bellman/training/plots";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const runs = [{ x: [0, 100], y: [1, 5] }];
 * const draw = (size: object) => renderCurves([{ name: "a", runs }], size);
 * assertStringIncludes(asPage("Curves", responsive(draw)), "<h1>Curves</h1>");
 * ```
 */
export function asPage(title: string, body: string): string {
  const heading = body.includes("<h1>")
    ? ""
    : `<h1>${escapeMarkup(title)}</h1>\n`;
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
${heading}${body}
</main>
</body>
</html>
`;
}

/**
 * Draws an image in two sizes; the page shows the one that fits its width.
 *
 * @param draw Draws the image in a size.
 * @returns Markup for {@link asPage}.
 *
 * @example
 * ```ts
 * import { responsive } from "@bellman/training/plots";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const markup = responsive(({ width }) => `<svg width="${width}"/>`);
 * assertStringIncludes(markup, '<svg width="400"/>');
 * ```
 */
export function responsive(
  draw: (size: { width: number; height: number }) => string,
): string {
  const [wide, narrow] = [
    { width: 1080, height: 440 },
    { width: 400, height: 360 },
  ].map(draw);
  return `<div class="wide">${wide}</div><div class="narrow">${narrow}</div>`;
}

function returnCurves(
  { progress, episodes = [], threshold }: Report,
): (size: { width: number; height: number }) => string {
  const evaluations = curveOf("eval/return_mean", progress);
  const low = curveOf("eval/return_min", progress).y;
  const high = curveOf("eval/return_max", progress).y;
  const series = [
    {
      name: "training, mean of the last 100 episodes",
      color: 0,
      runs: [curveOf("rollout/return_mean", progress)],
    },
    {
      name: "evaluations, lowest to highest",
      color: 1,
      runs: [{ ...evaluations, low, high }],
    },
    {
      name: "episodes of training",
      style: "dots" as const,
      color: 2,
      runs: [{
        x: episodes.map(({ step }) => step),
        y: episodes.map((episode) => episode.return),
      }],
    },
  ].filter(({ runs }) => runs[0].x.length > 0);
  const options: CurvesOptions = { title: "Return", threshold };
  return (size) =>
    renderCurves(series, {
      ...options,
      ...size,
      yLabel: size.width > 600 ? "Return of an episode" : "",
    });
}

function curveParts(progress: readonly LogRow[]): string[] {
  const known = new Set(progress.flatMap((row) => Object.keys(row.statistics)));
  const ordered = [...STATISTICS.map(({ name }) => name), ...known];
  const names = [...new Set(ordered)]
    .filter((name) => known.has(name) && !HIDDEN.test(name));
  const sectionOf = (name: string) =>
    SECTIONS.find(({ statistics }) => statistics.test(name))!;
  const sections = SECTIONS.flatMap((section) => {
    const sectionNames = names.filter((name) => sectionOf(name) === section);
    if (sectionNames.length === 0) return [];
    const figures = sectionNames.map((name) =>
      figure(renderCurves(
        [{ name: "", color: section.color, runs: [curveOf(name, progress)] }],
        {
          title: statisticTitle(name),
          width: 400,
          height: 250,
          smoothing: 0.06,
        },
      ))
    );
    const charts = `<div class="charts">\n${figures.join("\n")}\n</div>`;
    return [`<section>\n${heading(section.heading)}\n${charts}\n</section>`];
  });
  // Small ones share a row.
  return [`<div class="sections">\n${sections.join("\n")}\n</div>`];
}

function videoParts(videos: readonly ReportedVideo[]): string[] {
  if (videos.length === 0) return [];
  const figures = videos.map(({ title, data }) => {
    const text = escapeMarkup(title);
    const base64 = Buffer.from(data).toString("base64");
    return `<figure><img alt="${text}" src="data:image/gif;base64,${base64}"><figcaption>${text}</figcaption></figure>`;
  });
  return [
    heading("Videos of episodes"),
    `<div class="videos">\n${figures.join("\n")}\n</div>`,
  ];
}

function settingsTable(settings: readonly ReportedSetting[]): string {
  if (settings.length === 0) return "<p>Nothing.</p>";
  const text = (value: unknown) =>
    typeof value === "string" ? value : JSON.stringify(value);
  return table(
    ["setting", "this run", "default"],
    settings.map((it) => [it.key, text(it.value), text(it.default)]),
  );
}

/** Makes a table whose first column names the rows. */
function table(
  names: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const row = (cells: readonly string[], tag: string) => {
    const [first, ...others] = cells.map(escapeMarkup);
    const rest = others.map((it) => `<${tag}>${it}</${tag}>`).join("");
    return `<tr><th>${first}</th>${rest}</tr>`;
  };
  return `<table>
${[row(names, "th"), ...rows.map((it) => row(it, "td"))].join("\n")}
</table>`;
}

function curveOf(name: string, progress: readonly LogRow[]): CurveRun {
  const rows = progress.filter(({ statistics }) => name in statistics);
  return {
    x: rows.map(({ step }) => step),
    y: rows.map(({ statistics }) => statistics[name]),
  };
}

function evaluationParts(
  evaluations: Readonly<Record<string, ReportedEvaluation>>,
): string[] {
  const names = Object.keys(evaluations);
  if (names.length === 0) return [];
  const rows = EVALUATION_ROWS.map(([name, textOf]) => [
    name,
    ...names.map((it) => textOf(evaluations[it]) ?? ""),
  ]).filter(([, ...texts]) => texts.some((it) => it !== ""));
  return [heading("Evaluation"), table(["", ...names], rows)];
}

/** Rows of the evaluation table, and the text of each. */
const EVALUATION_ROWS: readonly [
  name: string,
  textOf: (evaluation: ReportedEvaluation) => string | undefined,
][] = [
  ["mean return", (it) => `${round(it.meanReturn)} ± ${round(it.stdReturn)}`],
  ["lowest", (it) => round(it.minReturn)],
  ["median", (it) => round(it.medianReturn)],
  ["highest", (it) => round(it.maxReturn)],
  ["mean length", (it) => round(it.meanLength)],
  ["success rate", ({ successRate }) => successRate?.toFixed(2)],
  ["episodes", ({ returns }) => String(returns.length)],
  ["cut episodes", ({ cut }) => cut > 0 ? String(cut) : undefined],
  ["seed of the episodes", ({ seed }) => seed?.toString()],
  [
    "checkpoint",
    ({ checkpoint: step }) =>
      step === undefined ? undefined : `step ${step.toLocaleString("en-US")}`,
  ],
  [
    "actions",
    ({ deterministic: most }) =>
      most === undefined ? undefined : most ? "the most likely" : "sampled",
  ],
];

function heading(text: string): string {
  return `<h2>${escapeMarkup(text)}</h2>`;
}

function facts(entries: Readonly<Record<string, string>>): string {
  const items = Object.entries(entries).map(([name, value]) =>
    `<div><dt>${escapeMarkup(name)}</dt><dd>${escapeMarkup(value)}</dd></div>`
  );
  return items.length > 0 ? `<dl class="facts">${items.join("")}</dl>` : "";
}

function figure(content: string, classes = ""): string {
  return `<figure${classes ? ` class="${classes}"` : ""}>${content}</figure>`;
}

function round(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e15 || size > 0 && size < 0.05) {
    return String(Number(value.toPrecision(3)));
  }
  return (Math.round(value * 10) / 10).toLocaleString("en-US");
}
