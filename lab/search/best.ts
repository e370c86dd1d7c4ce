import { writeYaml } from "@bellman/runs/settings";
import { FEW_RUNS, folderOf } from "@bellman/experiments";
import { changedSettings } from "@bellman/runs/training";
import { type Confirmation, CONFIRMED_EPISODES } from "./confirmation.ts";
import { configOf, type SearchPlan } from "./plan.ts";
import { givenParams } from "./search.ts";
import type { Estimate } from "@bellman/statistics";

/** Formats a number with four digits. */
export function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** Describes an estimate: `231.4 (95 % interval 220.1 to 240.3)`. */
function describeEstimate(
  { value, interval, fewRuns }: Estimate,
): string {
  if (interval === null) return `${short(value)} (one run: no interval)`;
  const [low, high] = interval.map(short);
  const warning = fewRuns ? `, ${FEW_RUNS}` : "";
  return `${short(value)} (95 % interval ${low} to ${high}${warning})`;
}

/** Describes consecutive seeds: `3 to 12`. */
export function rangeOf(seeds: readonly number[]): string {
  return seeds.length === 1 ? `${seeds[0]}` : `${seeds[0]} to ${seeds.at(-1)}`;
}

/** Describes the result of a confirmation. */
export function describeResult(
  plan: SearchPlan,
  { candidates, seeds }: Confirmation,
): string[] {
  const [best] = candidates;
  const first = candidates.find(({ trial }) => trial.number === 0);
  const measure = plan.environments.length === 1
    ? plan.objective === "area"
      ? "mean return of its evaluations"
      : `return over ${CONFIRMED_EPISODES} fresh episodes`
    : "mean normalized score";
  const on =
    `on ${best.scores.length} of ${seeds.length} seeds that no trial used (${
      rangeOf(seeds)
    })`;
  const result = `${measure} ${on}: ${describeEstimate(best.estimate!)}`;
  if (best === first) {
    return [
      `Trial 0, the settings without a search, is not beaten: ${result}`,
    ];
  }
  const lines = [`Trial ${best.trial.number} is best: ${result}`];
  if (first?.estimate === undefined || best.improvement === undefined) {
    return [
      ...lines,
      "Trial 0, the settings without a search, could not be run",
    ];
  }
  return [
    ...lines,
    `Trial 0, the settings without a search: ${
      describeEstimate(first.estimate)
    }`,
    `Probability that a run is better than one of trial 0: ${
      describeEstimate(best.improvement)
    }`,
  ];
}

/**
 * Writes the best settings as files for `--config`: one for each environment.
 *
 * @param plan The plan.
 * @param confirmation Result of the confirmation.
 * @param command Command of the search.
 * @returns Texts by file name.
 */
export function bestFiles(
  plan: SearchPlan,
  confirmation: Confirmation,
  { command, sampler, trials }: {
    command?: string;
    sampler: string;
    trials: number;
  },
): Record<string, string> {
  const [{ trial }] = confirmation.candidates;
  const comments = [
    `Found${
      command === undefined ? "" : ` by '${command}'`
    }: ${trials} trials of ${sampler}, seed ${plan.seed}.`,
    ...describeResult(plan, confirmation).map((line) => `${line}.`),
  ].map((line) => `# ${line}\n`).join("");
  return Object.fromEntries(plan.environments.map((environment) => {
    const config = configOf(plan, environment, givenParams(trial));
    const { algorithm, env } = config;
    const changed = changedSettings(config).map(({ key }) => key);
    const keys = new Set([...changed, ...Object.keys(plan.space)]);
    const settings = Object.fromEntries(
      Object.entries(config).filter(([key]) => keys.has(key)),
    );
    const name = plan.environments.length === 1
      ? "best.yaml"
      : `best-${folderOf(environment)}.yaml`;
    return [name, comments + writeYaml({ algorithm, env, ...settings })];
  }));
}
