/** Results of an algorithm out of the runs of its plan. */
import { openRunFolder, type RecordedEvaluation } from "@bellman/runs";
import { readEpisodes } from "@bellman/training";
import { parse } from "@std/yaml";
import { existsSync } from "node:fs";
import {
  type CellResult,
  cellsOf,
  chosenCells,
  readCell,
} from "../../lab/experiments/cells.ts";
import {
  folderOf,
  type Plan,
  type Variant,
} from "../../lab/experiments/plan.ts";
import { readReturns } from "../../lab/runs/tasks/run_task.ts";
import { fileNameOf } from "./result_paths.ts";
import {
  BARS_FILE,
  type LearningResults,
  nameOf,
  type SeedResult,
  UNTIL_FOLDER,
} from "./results.ts";

/** The runs of a variant in an environment, which one file of results is of. */
export interface ResultCells {
  variant: Variant;
  environment: string;
  /** All seeds of the plan. */
  cells: readonly CellResult[];
}

/** Results that a plan is of. */
export interface ResultsPlace {
  /** Name of the package, such as `a2c`. */
  name: string;
  /** Folder of its results: `algorithms/NAME/results`. */
  folder: string;
}

/**
 * Lists the results of a plan and the runs in a folder that they are made of.
 *
 * @param plan The plan.
 * @param dir Folder of its experiment.
 * @param only Pattern of the runs that results must have one of, if not all.
 */
export function resultCells(
  plan: Plan,
  dir: string,
  only?: string,
): ResultCells[] {
  const cells = cellsOf(plan, dir).map(readCell);
  const chosen = new Set(chosenCells(cells, { only }));
  return plan.variants.flatMap((variant) =>
    variant.environments.map((environment) => ({
      variant,
      environment,
      cells: cells.filter((it) =>
        it.variant === variant.name && it.environment === environment
      ),
    }))
  ).filter(({ cells }) => cells.some((it) => chosen.has(it)));
}

/** Name of the results among those of the package. */
function keyOf(
  { variant, environment }: ResultCells,
  { name }: ResultsPlace,
): string {
  const { algorithm, preset } = variant;
  const own = nameOf({ preset, env: environment });
  return algorithm === name ? own : `${algorithm}-${own}`;
}

/** True where runs end at a return. */
function isUntil({ variant }: ResultCells): boolean {
  return variant.set.stopReward !== undefined;
}

/** Path of the results. */
export function resultsPath(of: ResultCells, place: ResultsPlace): string {
  const folder = isUntil(of) ? `${place.folder}/${UNTIL_FOLDER}` : place.folder;
  return `${folder}/${fileNameOf(keyOf(of, place))}.json`;
}

/** What counts as learned: a mean return, or one and a success rate. */
function barsOf(
  of: ResultCells,
  place: ResultsPlace,
): Pick<LearningResults, "bar" | "successBar"> {
  const path = `${place.folder}/${BARS_FILE}`;
  const bars = existsSync(path) ? JSON.parse(Deno.readTextFileSync(path)) : {};
  const own = bars[keyOf(of, place)] ?? null;
  if (typeof own !== "object" || own === null) return { bar: own };
  return { bar: own.return ?? null, successBar: own.success };
}

/** Returns the steps of a run's first evaluation that reached a return. */
function stepsTo(meanReturn: number, dir: string): number | null {
  const first = readReturns(dir).find(({ value }) => value >= meanReturn);
  return first?.step ?? null;
}

/** Mean return of the last 100 episodes of a training. */
function trainingReturn(dir: string): number | null {
  const last = readEpisodes(openRunFolder(dir).episodesPath).slice(-100);
  if (last.length < 100) return null;
  return last.reduce((sum, it) => sum + it.return, 0) / last.length;
}

/** Leaves out what a plan says of all evaluations. */
function policyOf(policy: CellResult["last"]): SeedResult["last"] {
  if (policy === null) return null;
  const { seed: _, episodes: __, ...own } = policy as RecordedEvaluation;
  return own;
}

function seedResult(
  { seed, seconds, last, best, dir }: CellResult,
  stopReward: number | undefined,
): SeedResult {
  return {
    seed,
    seconds,
    last: policyOf(last),
    best: policyOf(best),
    training: trainingReturn(dir),
    ...(stopReward !== undefined && { reached: stepsTo(stopReward, dir) }),
  };
}

/** Settings of a run. */
interface SavedConfig {
  totalTimesteps: number;
  stopReward: number;
  evaluationInterval: number;
}

/**
 * Makes the results of the runs that are finished, of which there must be one.
 *
 * @param of The runs.
 * @param options Episodes of the plan, the command line's words that such runs need
 * (`--jobs 2`), and where the results belong.
 */
export function resultsFrom(
  of: ResultCells,
  { episodes, words, place }: {
    episodes: number;
    words: readonly string[];
    place: ResultsPlace;
  },
): LearningResults {
  const { variant, environment, cells } = of;
  const finished = cells.filter(({ state }) => state === "finished");
  const { algorithm, preset = "", set } = variant;
  const { totalTimesteps, stopReward, evaluationInterval } = parse(
    Deno.readTextFileSync(openRunFolder(finished[0].dir).configPath),
  ) as SavedConfig;
  const only = `'${variant.name}/${folderOf(environment)}'`;
  const command = ["deno task bench:learning", place.name, "--only", only];
  const bars = isUntil(of)
    ? { bar: stopReward, every: evaluationInterval }
    : barsOf(of, place);
  return {
    ...(algorithm !== place.name && {
      program: `@bellman/${place.name} ${algorithm}`,
    }),
    env: environment,
    preset,
    command: [...command, ...words].join(" "),
    commit: [...new Set(finished.map(({ commit }) => commit))].join(", "),
    ...(Object.keys(set).length > 0 && { set }),
    steps: totalTimesteps,
    episodes,
    ...bars,
    seeds: finished.map((it) =>
      seedResult(it, isUntil(of) ? stopReward : undefined)
    ).sort((a, b) => a.seed - b.seed),
  };
}
