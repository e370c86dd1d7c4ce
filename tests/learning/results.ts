/** Results of `deno task bench:learning`, and their figures across seeds. */
import { FEW_RUNS } from "../../lab/experiments/section.ts";
import type { EvaluatedPolicy } from "../../lab/experiments/cells.ts";
import { SeededRandom } from "@bellman/envs";
import {
  interquartileMean,
  stratifiedBootstrap,
  studentInterval,
} from "@bellman/statistics";

/** The policies of one seed: both played the same episodes. */
export interface SeedResult {
  seed: number;
  /** Seconds of the whole training, its evaluations included. */
  seconds: number;
  /** The policy at the end of training; null where it was not evaluated. */
  last: EvaluatedPolicy | null;
  /** The checkpoint with the highest of the evaluations during training; null where it was not evaluated. */
  best: EvaluatedPolicy | null;
  /** Mean return of the last 100 episodes of training; null where there were fewer. */
  training?: number | null;
  /** Of runs until a return: steps of the first evaluation that reached it; null where none did. */
  reached?: number | null;
}

/** A file of `algorithms/NAME/results`. */
export interface LearningResults {
  /** Algorithm of a package of several; by default the package's own. */
  program?: string;
  env: string;
  /** Name of the preset, or {@linkcode NO_PRESET}; empty for the environment's own. */
  preset: string;
  command: string;
  commit: string;
  /** Settings of the plan beside the preset's, where there are some. */
  set?: Readonly<Record<string, unknown>>;
  /** Environment steps of each seed. */
  steps: number;
  /** Episodes that each policy played. */
  episodes: number;
  /** Mean return that counts as learned. */
  bar: number | null;
  /** Success rate that counts as learned; none where returns alone do. */
  successBar?: number;
  /** Of runs until a return: environment steps between two evaluations. */
  every?: number;
  seeds: SeedResult[];
}

/**
 * File of an algorithm's results with the mean returns that count as learned,
 * over deterministic episodes, by the name of the results.
 */
export const BARS_FILE = "bars.json";

/** Folder in an algorithm's results with those of runs until a return. */
export const UNTIL_FOLDER = "until";

/** Preset that stands for an algorithm's defaults. */
export const NO_PRESET = "none";

/** Name of the results: the preset's, or the environment's. */
export function nameOf(
  { preset, env }: { preset?: string; env: string },
): string {
  return preset === NO_PRESET ? `${env}-defaults` : preset || env;
}

/** Policies of all seeds; null unless each was evaluated so. */
export function policiesOf(
  seeds: readonly SeedResult[],
  which: "last" | "best",
): EvaluatedPolicy[] | null {
  const evaluated = seeds.flatMap((it) => it[which] ?? []);
  return evaluated.length === seeds.length ? evaluated : null;
}

/** Counts the policies at the bars; null where there is none. */
export function countReached(
  policies: readonly EvaluatedPolicy[],
  { bar, successBar }: Pick<LearningResults, "bar" | "successBar">,
): number | null {
  if (bar === null && successBar === undefined) return null;
  return policies.filter(({ meanReturn, successRate = 0 }) =>
    meanReturn >= (bar ?? -Infinity) && successRate >= (successBar ?? 0)
  ).length;
}

/** The bars in words: `-2, success 0.98`; a dash where there is none. */
export function barText(
  { bar, successBar }: Pick<LearningResults, "bar" | "successBar">,
): string {
  const success = successBar === undefined ? [] : [`success ${successBar}`];
  return [...bar === null ? [] : [bar], ...success].join(", ") || "-";
}

/** The figures of some policies, with their success rates where there are some. */
export function describePolicies(policies: readonly EvaluatedPolicy[]): string {
  const returns = describeSeeds(policies.map((it) => it.meanReturn));
  const rates = policies.flatMap((it) => it.successRate ?? []);
  if (rates.length === 0) return returns;
  const mean = rates.reduce((sum, it) => sum + it, 0) / rates.length;
  const lowest = Math.min(...rates).toFixed(2);
  return `${returns}; success ${mean.toFixed(2)}, lowest ${lowest}`;
}

/**
 * The figures of some seeds: `475.1 ± 78.6 [418.9, 531.3]; IQM 490.2 [431.6, 500.0]`.
 */
export function describeSeeds(values: readonly number[]): string {
  const { mean, deviation, interval } = studentInterval(values);
  if (deviation === null) return mean.toFixed(1);
  const text = (ends: readonly number[] | null) =>
    `[${ends!.map((it) => it.toFixed(1)).join(", ")}]`;
  const iqm = stratifiedBootstrap(
    values.map((it) => [it]),
    interquartileMean,
    { random: new SeededRandom(0) },
  );
  const few = iqm.fewRuns ? ` (${FEW_RUNS})` : "";
  return `${mean.toFixed(1)} ± ${deviation.toFixed(1)} ${text(interval)}; IQM ${
    iqm.value.toFixed(1)
  } ${text(iqm.interval)}${few}`;
}

/** Tells after how many steps seeds reached a return: `10,500 [8,000, 13,000]`. */
export function describeSteps(seeds: readonly SeedResult[]): string {
  const steps = seeds.map(({ reached }) => reached ?? Infinity)
    .sort((a, b) => a - b);
  const middle = (steps.length - 1) / 2;
  const median = (steps[Math.floor(middle)] + steps[Math.ceil(middle)]) / 2;
  const [low, high] = [steps[0], steps.at(-1)!];
  const text = (it: number) =>
    it === Infinity ? "never" : it.toLocaleString("en-US");
  return `${text(median)} [${text(low)}, ${text(high)}]`;
}
