import { SeededRandom } from "@bellman/envs";
import {
  type BootstrapOptions,
  type Estimate,
  interquartileMean,
  mean,
  median,
  optimalityGap,
  performanceProfile,
  probabilityOfImprovement,
  seedInterval,
  type Statistic,
  stratifiedBootstrap,
} from "@bellman/statistics";
import { renderCurves, renderIntervals } from "@bellman/training/plots";
import { CURVE_RESAMPLES } from "./iqm_curve.ts";
import { folderOf } from "./plan.ts";
import type { Results, Scored, Which } from "./results.ts";
import { environmentsOf, type Scales } from "./scales.ts";
import {
  FEW_RUNS,
  fewRunsNote,
  type Figure,
  type Section,
  sentences,
} from "./section.ts";
import type { Table } from "./tables.ts";

/** Aggregates of normalized scores. */
const AGGREGATES: readonly [name: string, statistic: Statistic][] = [
  ["IQM", interquartileMean],
  ["median", median],
  ["mean", mean],
  ["optimality gap", optimalityGap],
];

/** Number of points of a performance profile. */
const THRESHOLDS = 81;

const TITLES: Readonly<Record<Which, string>> = {
  last: "Last agents",
  best: "Best checkpoints",
};

const INTROS: Readonly<Record<Which, string>> = {
  last: "The policies at the end of training.",
  best:
    "The checkpoints with the highest evaluations during training, on other episodes than those that chose them: never to be compared with the last agents of another variant.",
};

const INTERVALS =
  "95 % intervals: percentiles of 50,000 stratified bootstrap resamples of the runs";

/** Bootstrap options with fixed random numbers, so that reports are reproducible. */
const bootstrap = (
  options: Partial<BootstrapOptions> = {},
): BootstrapOptions => ({ random: new SeededRandom(0), ...options });

/** Makes the section of one kind of policy: `last` or `best`, never mixed. */
export function policiesSection(
  results: Results,
  { which, scales }: { which: Which; scales: Scales },
): Section {
  const scored = results.variants.map((variant) =>
    results.scored(
      variant,
      results.environmentsOf(variant).filter((it) => scales.known.has(it)),
      { which, scales: scales.known },
    )
  ).filter(({ environments, seeds }) =>
    environments.length > 0 && seeds.length > 0
  );
  const aggregates = aggregatesOf(scored);
  const improvements = improvementsOf(results, which);
  const common = { which, results };
  return {
    title: TITLES[which],
    intro: INTROS[which],
    figures: [
      ...scored.length === 0 ? [] : [
        aggregateFigure(aggregates, scored, common),
        profileFigure(scored, common),
      ],
      ...improvements.length === 0
        ? []
        : [improvementFigure(improvements, common)],
    ],
    tables: [
      ...scored.length === 0
        ? []
        : [aggregateTable(aggregates, scored, common)],
      ...improvements.length === 0
        ? []
        : [improvementTable(improvements, common)],
      ...environmentsOf(results.plan).map((environment) =>
        environmentTable(environment, common)
      ),
    ],
  };
}

interface Common {
  which: Which;
  results: Results;
}

/** Aggregate of a variant with its confidence interval. */
interface Aggregate extends Estimate {
  variant: string;
  name: string;
}

function aggregatesOf(scored: readonly Scored[]): Aggregate[] {
  return AGGREGATES.flatMap(([name, statistic]) =>
    scored.map(({ variant, scores }) => ({
      variant,
      name,
      ...stratifiedBootstrap(scores, statistic, bootstrap()),
    }))
  );
}

const rowsOf = (
  estimates: readonly (Estimate & { variant: string })[],
  { results }: Common,
) =>
  estimates.map(({ variant, value, interval }) => ({
    name: variant,
    value,
    interval,
    color: results.variants.indexOf(variant),
  }));

const marked = (
  estimates: readonly { variant: string; fewRuns: boolean }[],
): string => fewRunsNote(estimates.map((it) => ({ ...it, name: it.variant })));

/** Describes the runs of scores. */
function runsOf(scored: readonly Scored[], { results }: Common): string {
  const texts = scored.map(({ variant, environments, seeds }) => {
    const missing = results.missingText(variant, environments);
    const on = environments.length === 1
      ? environments[0]
      : `${environments.length} environments`;
    return `${variant} ${
      results.countText(variant, seeds.length, missing)
    } on ${on}`;
  });
  const sets = new Set(scored.map((it) => it.environments.join()));
  return sentences(
    `Seeds: ${
      texts.join("; ")
    }; a seed counts where all environments of the variant have it`,
    sets.size > 1
      ? "Variants differ in their environments: their scores are not comparable"
      : "",
  );
}

function aggregateFigure(
  aggregates: readonly Aggregate[],
  scored: readonly Scored[],
  common: Common,
): Figure {
  return {
    name: `${common.which}-aggregates`,
    title: `Normalized scores, ${TITLES[common.which].toLowerCase()}`,
    caption: sentences(
      "Interquartile mean, median and mean of the normalized scores (0 to 1 is low to high), and the optimality gap to 1, where less is better",
      INTERVALS,
      runsOf(scored, common),
      marked(aggregates),
    ),
    draw: ({ title, width }) =>
      renderIntervals(
        AGGREGATES.map(([name]) => ({
          title: name,
          rows: rowsOf(aggregates.filter((it) => it.name === name), common),
        })),
        { title, subtitle: marked(aggregates), width },
      ),
  };
}

function aggregateTable(
  aggregates: readonly Aggregate[],
  scored: readonly Scored[],
  common: Common,
): Table {
  return {
    name: `${common.which}-aggregates`,
    title: `Normalized scores, ${TITLES[common.which].toLowerCase()}`,
    columns: [
      { name: "variant" },
      { name: "aggregate" },
      { name: "value", digits: 3 },
      { name: "interval", digits: 3, isInterval: true },
      { name: "environments", digits: 0 },
      { name: "seeds" },
      { name: "note" },
    ],
    rows: scored.flatMap(({ variant, environments, seeds }) =>
      aggregates.filter((row) => row.variant === variant).map((it) => [
        variant,
        it.name,
        it.value,
        it.interval,
        environments.length,
        common.results.countText(variant, seeds.length),
        noteOf(variant, environments, { ...common, fewRuns: it.fewRuns }),
      ])
    ),
    caption: sentences(INTERVALS, runsOf(scored, common)),
  };
}

function noteOf(
  variant: string,
  environments: readonly string[],
  { results, fewRuns }: Common & { fewRuns: boolean },
): string {
  const missing = results.missingText(variant, environments);
  return [missing, fewRuns ? FEW_RUNS : ""].filter((it) => it !== "")
    .join("; ");
}

function profileFigure(scored: readonly Scored[], common: Common): Figure {
  const flat = scored.flatMap(({ scores }) => scores.flat());
  const [low, high] = [Math.min(0, ...flat), Math.max(1, ...flat)];
  const thresholds = Array.from(
    { length: THRESHOLDS },
    (_, i) => low + (high - low) * i / (THRESHOLDS - 1),
  );
  const profiles = scored.map(({ variant, scores }) => ({
    variant,
    ...performanceProfile(
      scores,
      thresholds,
      bootstrap({ resamples: CURVE_RESAMPLES }),
    ),
  }));
  return {
    name: `${common.which}-profile`,
    title: `Performance profile, ${TITLES[common.which].toLowerCase()}`,
    caption: sentences(
      "Share of the runs with a normalized score above each threshold: higher is better",
      `Bands: pointwise 95 % percentile intervals of ${
        CURVE_RESAMPLES.toLocaleString("en-US")
      } stratified bootstrap resamples`,
      runsOf(scored, common),
      marked(profiles),
    ),
    draw: ({ title, width, height }) =>
      renderCurves(
        profiles.map(({ variant, values, intervals }) => ({
          name: variant,
          color: common.results.variants.indexOf(variant),
          runs: [{
            x: thresholds,
            y: Array.from(values),
            low: intervals?.map(([low]) => low),
            high: intervals?.map(([, high]) => high),
          }],
        })),
        {
          title,
          subtitle: marked(profiles),
          xLabel: "Normalized score",
          yLabel: "Share of runs above",
          width,
          height,
        },
      ),
  };
}

/** Probability of improvement between two variants. */
interface Improvement extends Estimate {
  variant: string;
  pair: readonly [x: string, y: string];
  environments: readonly string[];
  counts: readonly [x: number, y: number];
}

/** Compares the pairs of the plan in the environments that both have. */
function improvementsOf(results: Results, which: Which): Improvement[] {
  return results.plan.compare.flatMap(([x, y]) => {
    const ofY = results.environmentsOf(y);
    const environments = results.environmentsOf(x)
      .filter((it) => ofY.includes(it));
    const [ours, theirs] = [x, y].map((it) =>
      results.scored(it, environments, { which })
    );
    const counts = [ours.seeds.length, theirs.seeds.length] as const;
    if (environments.length === 0 || Math.min(...counts) === 0) return [];
    return [{
      variant: `${x} > ${y}`,
      pair: [x, y] as const,
      environments,
      counts,
      ...probabilityOfImprovement(ours.scores, theirs.scores, bootstrap()),
    }];
  });
}

function improvementCaption(
  improvements: readonly Improvement[],
  { results }: Common,
): string {
  const texts = improvements.map(({ pair, environments, counts }) => {
    const sides = pair.map((variant, i) => {
      const missing = results.missingText(variant, environments);
      return `${variant} ${results.countText(variant, counts[i], missing)}`;
    });
    return `${sides.join(" and ")} on ${environments.join(", ")}`;
  });
  return sentences(
    "Probability that a run of the first variant has a higher mean return than one of the second, as a mean over the environments that both have; ties count one half",
    INTERVALS,
    `Seeds: ${texts.join("; ")}`,
    marked(improvements),
  );
}

function improvementFigure(
  improvements: readonly Improvement[],
  common: Common,
): Figure {
  return {
    name: `${common.which}-improvement`,
    title: `P(X > Y), ${TITLES[common.which].toLowerCase()}`,
    caption: improvementCaption(improvements, common),
    draw: ({ title, width }) =>
      renderIntervals([{
        title: "Probability of improvement",
        rows: improvements.map(({ variant, value, interval }) => ({
          name: variant,
          value,
          interval,
          color: 0,
        })),
        reference: 0.5,
      }], { title, subtitle: marked(improvements), width }),
  };
}

function improvementTable(
  improvements: readonly Improvement[],
  common: Common,
): Table {
  return {
    name: `${common.which}-improvement`,
    title: `P(X > Y), ${TITLES[common.which].toLowerCase()}`,
    columns: [
      { name: "X" },
      { name: "Y" },
      { name: "P(X > Y)", digits: 3 },
      { name: "interval", digits: 3, isInterval: true },
      { name: "environments", digits: 0 },
      { name: "seeds of X" },
      { name: "seeds of Y" },
      { name: "note" },
    ],
    rows: improvements.map((pair) => [
      ...pair.pair,
      pair.value,
      pair.interval,
      pair.environments.length,
      ...pair.pair.map((variant, i) =>
        common.results.countText(variant, pair.counts[i])
      ),
      pair.fewRuns ? FEW_RUNS : "",
    ]),
    caption: improvementCaption(improvements, common),
  };
}

/** Makes the table of all variants' returns in an environment. */
function environmentTable(environment: string, common: Common): Table {
  const { results, which } = common;
  const variants = results.variants
    .filter((it) => results.environmentsOf(it).includes(environment));
  return {
    name: `${which}-${folderOf(environment)}`,
    title: `${environment}, ${TITLES[which].toLowerCase()}`,
    columns: [
      { name: "variant" },
      { name: "mean", digits: 1 },
      { name: "IQM", digits: 1 },
      { name: "interval", digits: 1, isInterval: true },
      { name: "seeds" },
      { name: "note" },
    ],
    rows: variants.map((variant) => {
      const { seeds, scores } = results.scored(variant, [environment], {
        which,
      });
      const count = results.countText(variant, seeds.length);
      const note = (fewRuns: boolean) =>
        noteOf(variant, [environment], { ...common, fewRuns });
      if (seeds.length === 0) {
        return [variant, null, null, null, count, note(false)];
      }
      const { value, interval, fewRuns } = seedInterval(scores.flat(), {
        center: "iqm",
      });
      return [variant, mean(scores), value, interval, count, note(fewRuns)];
    }),
    caption: sentences(
      `Mean returns of ${results.plan.episodes} episodes of each run, over the seeds: their mean, and their interquartile mean with its interval`,
      "95 % intervals: percentiles of the bootstrap resamples of the runs",
    ),
  };
}
