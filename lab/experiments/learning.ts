import {
  type CurveRun,
  type CurveSeries,
  renderCurves,
  renderPanels,
} from "@bellman/training/plots";
import { seedBand } from "@bellman/statistics";
import { CURVE_RESAMPLES, type IqmCurve, iqmCurve } from "./iqm_curve.ts";
import { readReturns } from "@bellman/runs/tasks";
import type { CellResult } from "./cells.ts";
import type { Results } from "./results.ts";
import { environmentsOf, type Scales } from "./scales.ts";
import {
  fewRunsNote,
  type Figure,
  type Section,
  sentences,
} from "./section.ts";

/** Description of the band over several tasks. */
const BAND = `Bands: pointwise 95 % percentile intervals of ${
  CURVE_RESAMPLES.toLocaleString("en-US")
} bootstrap resamples, which draw whole runs`;

/** Reads the evaluations of a run during training. */
function evaluationCurve(
  { dir }: Pick<CellResult, "dir">,
  onNotice: (line: string) => void,
): CurveRun {
  const evaluations = readReturns(dir, onNotice);
  return {
    x: evaluations.map(({ step }) => step),
    y: evaluations.map(({ value }) => value),
  };
}

/** Reads the evaluations of a run. */
export type CurveOf = (cell: Pick<CellResult, "dir">) => CurveRun;

/** Makes a reader that reads each run once; an unreadable log has no evaluations. */
export function curveReader(onNotice: (line: string) => void): CurveOf {
  const curves = new Map<string, CurveRun>();
  return (cell) => {
    const known = curves.get(cell.dir);
    if (known !== undefined) return known;
    const curve = evaluationCurve(
      cell,
      (line) => onNotice(`Left out of the curves: ${line}`),
    );
    curves.set(cell.dir, curve);
    return curve;
  };
}

/** Makes the section of learning curves and sample efficiency. */
export function learningSection(
  results: Results,
  scales: Scales,
  curveOf: CurveOf,
): Section {
  const figures = [
    curvesFigure(results, curveOf),
    efficiencyFigure(results, { scales, curveOf }),
  ];
  return {
    title: "Learning",
    intro:
      "Evaluations during training, of the policy of the moment; on episodes of their own, so that they differ from the tables below.",
    figures: figures.filter((it) => it !== undefined),
    tables: [],
  };
}

/** Curve of a variant, with its number of runs. */
interface VariantCurve {
  variant: string;
  series: CurveSeries;
  fewRuns: boolean;
  /** Description of its runs. */
  runs: string;
}

function variantCurve(
  results: Results,
  { variant, runs, environments, summed }: {
    variant: string;
    runs: readonly (readonly CurveRun[])[];
    environments: readonly string[];
    /** Aggregates runs that all have points. */
    summed: (runs: readonly (readonly CurveRun[])[]) => IqmCurve | undefined;
  },
): VariantCurve[] {
  const evaluated = runs.filter((tasks) =>
    tasks.every(({ x }) => x.length > 0)
  );
  const summary = evaluated.length === 0 ? undefined : summed(evaluated);
  if (summary === undefined) return [];
  const count = evaluated.length, without = runs.length - count;
  const missing = [
    results.missingText(variant, environments),
    without === 0 ? "" : `${without} without evaluations`,
  ].filter((it) => it !== "").join(", ");
  return [{
    variant,
    series: {
      name: `${variant} (${count} ${count === 1 ? "run" : "runs"})`,
      color: results.variants.indexOf(variant),
      runs: [summary.curve],
    },
    fewRuns: summary.fewRuns,
    runs: `${variant} ${results.countText(variant, count, missing)}`,
  }];
}

function noteOf(curves: readonly VariantCurve[]): string {
  return fewRunsNote(curves.map((it) => ({ ...it, name: it.variant })));
}

function curvesFigure(
  results: Results,
  curveOf: CurveOf,
): Figure | undefined {
  const panels = environmentsOf(results.plan).map((environment) => ({
    title: environment,
    curves: results.variants
      .filter((it) => results.environmentsOf(it).includes(environment))
      .flatMap((variant) =>
        variantCurve(results, {
          variant,
          runs: results.finished(variant, environment)
            .map((cell) => [curveOf(cell)]),
          environments: [environment],
          summed: (tasks) => {
            const { fewRuns, ...curve } = seedBand(tasks.flat());
            return { curve, fewRuns };
          },
        })
      ),
  })).filter(({ curves }) => curves.length > 0);
  if (panels.length === 0) return undefined;
  const note = noteOf(panels.flatMap(({ curves }) => curves));
  const runs = panels.map(({ title, curves }) =>
    `${title}: ${curves.map((it) => it.runs).join(", ")}`
  );
  return {
    name: "learning-curves",
    title: "Learning curves",
    caption: sentences(
      "Mean return of the evaluations during training, over the finished runs",
      "Bands: pointwise 95 % percentile bootstrap intervals of the mean over the runs",
      `Seeds on ${runs.join("; on ")}`,
      note,
    ),
    draw: ({ title, width, height }) =>
      renderPanels(
        panels.map(({ title, curves }) => ({
          title,
          series: curves.map(({ series }) => series),
        })),
        { title, subtitle: note, yLabel: "Return", width, height },
      ),
  };
}

/** Curves of normalized scores, over steps where all runs have as many. */
function efficiencyFigure(
  results: Results,
  { scales, curveOf }: { scales: Scales; curveOf: CurveOf },
): Figure | undefined {
  const variants = results.variants.map((variant) => {
    const environments = results.environmentsOf(variant)
      .filter((it) => scales.known.has(it));
    const seeds = results.commonSeeds(variant, environments);
    return {
      variant,
      environments,
      runs: environments.length === 0
        ? []
        : seeds.map((seed) =>
          environments.map((environment) => {
            const cell = results.finished(variant, environment)
              .find((it) => it.seed === seed)!;
            const { low, high } = scales.known.get(environment)!;
            const { x, y } = curveOf(cell);
            return { x, y: y.map((it) => (it - low) / (high - low)) };
          })
        ),
    };
  });
  const ends = variants.flatMap(({ runs }) => runs.flat())
    .map(({ x }) => x.at(-1) ?? 0);
  const isShare = new Set(ends).size > 1;
  const scaled = ({ x, y }: CurveRun): CurveRun => ({
    x: isShare ? x.map((it) => 100 * it / x.at(-1)!) : x,
    y,
  });
  const curves = variants.flatMap((variant) =>
    variantCurve(results, {
      ...variant,
      runs: variant.runs.map((tasks) => tasks.map(scaled)),
      summed: iqmCurve,
    })
  );
  if (curves.length === 0) return undefined;
  return {
    name: "sample-efficiency",
    title: "Sample efficiency",
    caption: sentences(
      "Interquartile mean of the normalized scores of the evaluations during training, over all runs and environments of a variant",
      isShare
        ? "Runs differ in their steps: the axis is the share of each one's training"
        : "",
      BAND,
      `Seeds: ${
        curves.map((it) => it.runs).join("; ")
      }; a seed counts where all environments of the variant have it`,
      noteOf(curves),
    ),
    draw: ({ title, width, height }) =>
      renderCurves(curves.map(({ series }) => series), {
        title,
        subtitle: noteOf(curves),
        xLabel: isShare ? "Share of training in percent" : "Environment steps",
        yLabel: "Normalized score",
        width,
        height,
      }),
  };
}
