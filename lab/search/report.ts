import {
  asPage,
  type CurveSeries,
  escapeMarkup,
  renderCurves,
  renderIntervals,
  responsive,
} from "@bellman/training/plots";
import type { Estimate } from "@bellman/statistics";
import { describeResult, short } from "./best.ts";
import type { Candidate, Confirmation } from "./confirmation.ts";
import { OptunaSampler } from "./optuna.ts";
import type { SearchPlan } from "./plan.ts";
import type { Trial } from "./record.ts";
import type { SearchOptions } from "./search.ts";

/** Names the objective. */
export function scoreName(
  { environments, objective }: SearchPlan,
): string {
  const score = environments.length === 1 ? "return" : "normalized score";
  return objective === "area"
    ? `Mean ${score} of all evaluations`
    : `${score[0].toUpperCase()}${score.slice(1)} of the last evaluation`;
}

function figure(
  draw: (size: { width: number; height: number }) => string,
  caption: string,
): string {
  return `<figure>${responsive(draw)}<figcaption>${
    escapeMarkup(caption)
  }</figcaption></figure>`;
}

/** Returns the score of a trial at its end. */
function scoreAtEnd({ value, evaluations }: Trial): number | undefined {
  return value ?? evaluations.at(-1)?.at(-1)?.value;
}

/** Draws the trials in order, with the best one so far. */
function history(trials: readonly Trial[], plan: SearchPlan): string {
  const label = scoreName(plan);
  const dots = (state: Trial["state"]) => {
    const some = trials.filter((it) =>
      it.state === state && scoreAtEnd(it) !== undefined
    );
    const [x, y] = [some.map((it) => it.number), some.map(scoreAtEnd)];
    return [{ x, y: y as number[] }];
  };
  const best: { x: number[]; y: number[] } = { x: [], y: [] };
  for (const { number, state, value } of trials) {
    if (state !== "complete") continue;
    const before = best.y.at(-1) ?? value!;
    best.x.push(number, number);
    best.y.push(before, Math.max(value!, before));
  }
  const series: CurveSeries[] = [
    { name: "best so far", color: 1, runs: [best] },
    { name: "complete", color: 0, style: "dots", runs: dots("complete") },
    { name: "pruned", color: 3, style: "dots", runs: dots("pruned") },
  ];
  const count = (state: Trial["state"]) =>
    trials.filter((it) => it.state === state).length;
  return figure(
    (size) =>
      renderCurves(series, {
        title: "History",
        xLabel: "Trial",
        yLabel: label,
        ...size,
      }),
    `${label} of ${
      count("complete")
    } complete trials, a mean over their runs, and of ${
      count("pruned")
    } pruned ones where they ended; ${count("failed")} failed.`,
  );
}

/** Draws the confirmation. */
function confirmed(
  plan: SearchPlan,
  { candidates, seeds }: Confirmation,
): string {
  const rowsOf = (pick: (it: Candidate) => Estimate | undefined) =>
    candidates.flatMap((candidate, color) => {
      const estimate = pick(candidate);
      const name = `trial ${candidate.trial.number}`;
      return estimate === undefined ? [] : [{ ...estimate, name, color }];
    });
  const improved = rowsOf(({ improvement }) => improvement);
  const panels = [
    {
      title: plan.environments.length === 1
        ? "Return"
        : "Mean normalized score",
      rows: rowsOf(({ estimate }) => estimate),
    },
    ...improved.length === 0 ? [] : [{
      title: "P(better than trial 0)",
      rows: improved,
      reference: 0.5,
    }],
  ];
  return figure(
    ({ width }) => renderIntervals(panels, { title: "Confirmation", width }),
    `The best trials and trial 0, the settings without a search, on ${seeds.length} seeds that no trial used: means, and probabilities that a run is better than one of trial 0, with 95 % intervals by 50,000 stratified bootstrap resamples.${
      seeds.length < 5 ? " With few runs, intervals are too narrow." : ""
    }`,
  );
}

/** Formats an estimate for a table. */
function cellOf({ value, interval }: Estimate): string {
  const ends = interval?.map(short).join(" to ");
  return ends === undefined ? short(value) : `${short(value)} (${ends})`;
}

/** Makes a table of the candidates. */
function table({ candidates, seeds }: Confirmation): string {
  const rows = candidates.map(({ trial, scores, estimate, improvement }) => [
    `trial ${trial.number}`,
    trial.value === undefined ? "–" : short(trial.value),
    estimate === undefined ? "–" : cellOf(estimate),
    improvement === undefined ? "–" : cellOf(improvement),
    `${scores.length} of ${seeds.length}`,
    Object.entries(trial.params)
      .map(([key, it]) =>
        `${key}=${typeof it === "number" ? short(it) : JSON.stringify(it)}`
      ).join(", "),
  ]);
  const names = [
    "",
    "In the search",
    "On fresh seeds",
    "P(better than trial 0)",
    "Seeds",
    "Settings",
  ];
  const cells = (tag: string, texts: readonly string[]) =>
    `<tr>${
      texts.map((it) => `<${tag}>${escapeMarkup(it)}</${tag}>`).join("")
    }</tr>`;
  return `<table>${cells("th", names)}${
    rows.map((it) => cells("td", it)).join("")
  }</table>`;
}

/** Draws the importance of each setting, if Optuna is available. */
async function importances(
  { sampler, record }: SearchOptions,
): Promise<string> {
  const byName = sampler instanceof OptunaSampler
    ? await sampler.importances(record.events)
    : undefined;
  if (byName === undefined) {
    return `<p>Importances of the settings need Optuna and two complete trials that differ.</p>`;
  }
  const rows = Object.entries(byName).map(([name, value]) => ({
    ...{ name, value, color: 0 },
    interval: [0, value] as const,
  }));
  const panels = [{ title: "Importance, of 1 in all", rows }];
  return figure(
    ({ width }) => renderIntervals(panels, { title: "Importances", width }),
    "How much each setting tells the good trials from the others, by Optuna's PED-ANOVA of the complete trials.",
  );
}

/**
 * Makes the page of a search.
 *
 * @param options Options of the search.
 * @param results Confirmation, and files of the best settings by name.
 */
export async function searchPage(
  options: SearchOptions,
  { confirmation, files }: {
    confirmation: Confirmation;
    files: Readonly<Record<string, string>>;
  },
): Promise<string> {
  const { plan, record: { trials } } = options;
  const title = `Search of ${plan.algorithm} on ${
    plan.environments.join(", ")
  }`;
  const parts = [
    `<h1>${escapeMarkup(title)}</h1>`,
    `<p>${
      escapeMarkup(`${describeResult(plan, confirmation).join(". ")}.`)
    }</p>`,
    confirmed(plan, confirmation),
    table(confirmation),
    history(trials, plan),
    await importances(options),
    ...Object.entries(files).map(([name, text]) =>
      `<h2>${escapeMarkup(name)}</h2><pre>${escapeMarkup(text)}</pre>`
    ),
  ];
  return asPage(title, parts.join("\n"));
}
