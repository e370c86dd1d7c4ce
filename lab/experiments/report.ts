import { asPage, escapeMarkup, responsive } from "@bellman/training/plots";
import { mkdirSync } from "node:fs";
import { writeWhole } from "@bellman/runs/program";
import { type CellResult, nameOf } from "./cells.ts";
import type { Plan } from "./plan.ts";
import { curveReader, learningSection } from "./learning.ts";
import { policiesSection } from "./policies.ts";
import { Results } from "./results.ts";
import {
  environmentsOf,
  type MeasureOptions,
  measureScales,
  type Scales,
} from "./scales.ts";
import type { Figure, Section } from "./section.ts";
import {
  EXTENSIONS,
  filledColumns,
  formatTable,
  type Table,
  TABLE_FORMATS,
  textsOf,
} from "./tables.ts";

/** Experiment to report. */
export interface ReportedExperiment {
  /** The plan. */
  plan: Plan;
  /** Folder of the experiment. */
  dir: string;
  /** All cells of the plan. */
  cells: readonly CellResult[];
}

/** Options of {@linkcode reportOf}. */
export type ReportOptions = Omit<MeasureOptions, "dir">;

/** Report of an experiment. */
export interface ExperimentReport {
  /** The plan. */
  plan: Plan;
  /** All cells of the plan. */
  cells: readonly CellResult[];
  /** Scales of the normalized scores. */
  scales: Scales;
  /** Figures and tables by section. */
  sections: readonly Section[];
}

/** Computes the figures and tables of an experiment. */
export async function reportOf(
  { plan, dir, cells }: ReportedExperiment,
  options: ReportOptions,
): Promise<ExperimentReport> {
  const scales = await measureScales(
    { environments: environmentsOf(plan), scores: plan.scores },
    { ...options, dir },
  );
  const results = new Results(plan, cells);
  return {
    plan,
    cells,
    scales,
    sections: [
      learningSection(results, scales, curveReader(options.onNotice)),
      policiesSection(results, { which: "last", scales }),
      policiesSection(results, { which: "best", scales }),
      {
        title: "Scales and time",
        intro: "",
        figures: [],
        tables: [scalesTable(results, scales), timeTable(results)],
      },
    ],
  };
}

/** Lists all tables of a report. */
export function tablesOf({ sections }: ExperimentReport): Table[] {
  return sections.flatMap(({ tables }) => tables);
}

/**
 * Writes `report.html`, `figures/*.svg` and `tables/*` into the folder of an
 * experiment.
 *
 * @returns Path of the page.
 */
export function writeExperimentReport(
  dir: string,
  report: ExperimentReport,
): string {
  mkdirSync(`${dir}/figures`, { recursive: true });
  mkdirSync(`${dir}/tables`, { recursive: true });
  for (
    const { name, title, draw } of report.sections.flatMap((it) => it.figures)
  ) {
    const svg = draw({ title, width: 760, height: 360 });
    writeWhole(`${dir}/figures/${name}.svg`, svg);
  }
  for (const table of tablesOf(report)) {
    for (const format of TABLE_FORMATS) {
      const path = `${dir}/tables/${table.name}.${EXTENSIONS[format]}`;
      writeWhole(path, formatTable(table, format));
    }
  }
  const path = `${dir}/report.html`;
  writeWhole(path, pageOf(report));
  return path;
}

function pageOf({ plan, cells, scales, sections }: ExperimentReport): string {
  const finished = cells.filter(({ state }) => state === "finished").length;
  const count = (n: number, word: string) =>
    `${n} ${word}${n === 1 ? "" : "s"}`;
  const seeds = new Set(plan.variants.flatMap((it) => it.seeds)).size;
  const origin = `${count(plan.variants.length, "variant")}, ${
    count(environmentsOf(plan).length, "environment")
  }, ${count(seeds, "seed")}: ${finished} of ${
    count(cells.length, "run")
  } finished`;
  return asPage(
    plan.name,
    [
      `<h1>${escapeMarkup(plan.name)}</h1>`,
      `<p class="origin">${escapeMarkup(origin)}</p>`,
      list(cells.flatMap(unfinishedLine)),
      list(
        [...scales.leftOut].map(([environment, why]) =>
          `${environment} is left out of the normalized figures: ${why}`
        ),
      ),
      ...sections.map(sectionMarkup),
    ].filter((it) => it !== "").join("\n"),
  );
}

function unfinishedLine(cell: CellResult): string[] {
  const { state, steps, message } = cell;
  switch (state) {
    case "finished":
      return [];
    case "failed":
      return [`${nameOf(cell)} failed: ${message}`];
    case "unfinished":
      return [
        `${nameOf(cell)} is unfinished, after ${
          steps.toLocaleString("en-US")
        } steps`,
      ];
    case "missing":
      return [`${nameOf(cell)} is missing`];
  }
}

function list(lines: readonly string[]): string {
  if (lines.length === 0) return "";
  const items = lines.map((it) => `<li>${escapeMarkup(it)}</li>`);
  return `<ul>\n${items.join("\n")}\n</ul>`;
}

function sectionMarkup({ title, intro, figures, tables }: Section): string {
  return [
    `<h2>${escapeMarkup(title)}</h2>`,
    intro && `<p>${escapeMarkup(intro)}</p>`,
    ...figures.map(figureMarkup),
    ...tables.map((table) =>
      `<h3>${escapeMarkup(table.title)}</h3>\n${
        tableMarkup(table)
      }\n<p class="origin">${
        escapeMarkup(table.caption)
      } <a href="tables/${table.name}.csv">CSV</a> <a href="tables/${table.name}.tex">LaTeX</a></p>`
    ),
  ].filter((it) => it !== "").join("\n");
}

/** Formats a table as HTML. */
function tableMarkup(whole: Table): string {
  const table = filledColumns(whole);
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${
      cells.map((text, i) => {
        const name = i === 0 ? "th" : tag;
        return `<${name}>${escapeMarkup(text)}</${name}>`;
      }).join("")
    }</tr>`;
  const rows = [
    row(table.columns.map(({ name }) => name), "th"),
    ...textsOf(table).map((it) => row(it, "td")),
  ];
  return `<table>\n${rows.join("\n")}\n</table>`;
}

function figureMarkup({ name, title, caption, draw }: Figure): string {
  const drawn = responsive((size) => draw({ ...size, title }));
  return `<figure class="return">${drawn}<figcaption>${
    escapeMarkup(caption)
  } <a href="figures/${name}.svg">SVG</a></figcaption></figure>`;
}

function scalesTable({ plan }: Results, { known, leftOut }: Scales): Table {
  return {
    name: "scales",
    title: "Scales of the normalized scores",
    columns: [
      { name: "environment" },
      { name: "low", digits: 1 },
      { name: "high", digits: 1 },
      { name: "origin" },
    ],
    rows: environmentsOf(plan).map((environment) => {
      const scale = known.get(environment);
      return scale === undefined
        ? [environment, null, null, `left out: ${leftOut.get(environment)}`]
        : [environment, scale.low, scale.high, scale.origin];
    }),
    caption: "A score is (return - low) / (high - low).",
  };
}

function timeTable(results: Results): Table {
  const pairs = results.variants.flatMap((variant) =>
    results.environmentsOf(variant).map((environment) => ({
      variant,
      environment,
      cells: results.finished(variant, environment),
    }))
  );
  return {
    name: "time",
    title: "Time",
    columns: [
      { name: "variant" },
      { name: "environment" },
      { name: "steps", digits: 0 },
      { name: "seconds a run", digits: 1 },
      { name: "steps a second", digits: 0 },
      { name: "seeds" },
    ],
    rows: pairs.map(({ variant, environment, cells }) => {
      const mean = (numberOf: (cell: CellResult) => number) =>
        cells.reduce((sum, it) => sum + numberOf(it), 0) / cells.length;
      const seeds = results.countText(variant, cells.length);
      if (cells.length === 0) {
        return [variant, environment, null, null, null, seeds];
      }
      const steps = mean((it) => it.steps), seconds = mean((it) => it.seconds);
      const rate = seconds > 0 ? steps / seconds : null;
      return [variant, environment, steps, seconds, rate, seeds];
    }),
    caption:
      "Means over the finished runs; seconds of the whole training, its evaluations included, with as many runs at a time as there were.",
  };
}
