import { basename } from "node:path";
import { type ConfigSchema, defaultsOf } from "@bellman/agent";
import {
  ALGORITHMS,
  type Entry,
  findAlgorithm,
  fullSchema,
  importAlgorithmModules,
  parseMapping,
  resolveConfig,
  type ResolvedConfig,
  runConfigSchema,
  settingKey,
  validateEntries,
} from "@bellman/runs/settings";
import { admitPlan, loadEnvironment } from "@bellman/runs/training";
import {
  checkApart,
  checkName,
  measureScales,
  nameOfFile,
  readScores,
  type Scale,
  SCORES,
} from "@bellman/experiments";
import { readText, UsageError } from "@bellman/runs/program";
import type { Params } from "./record.ts";
import { gridSize } from "./sampler.ts";
import { readSpace, type Space } from "./space.ts";

/** What a search looks for, and how; all of it is resolved. */
export interface SearchPlan {
  /** Its name, and that of its folder. */
  name: string;
  /** Name of the algorithm. */
  algorithm: string;
  /** Ids of the environments. */
  environments: string[];
  /** Returns that count as 0 and as 1, by environment, where there are several. */
  scores: Record<string, Scale>;
  /** Preset that all trials start from; null for each environment's own. */
  preset: string | null;
  /** Environment steps of a run; null for those of the preset. */
  steps: number | null;
  /** Number of trials. */
  trials: number;
  /** Runs of a trial in each environment: those with seeds 0, 1 and so on. */
  seeds: number;
  /** Searched settings, with their values. */
  space: Space;
  /** Settings of all trials; of searched ones, those of the first trial. */
  set: Record<string, unknown>;
  /** Return at the end of a run, or the mean of those of its evaluations. */
  objective: "last" | "area";
  /** What draws the trials: two by Optuna, two that need no Python. */
  sampler: "tpe" | "cmaes" | "random" | "grid";
  /** Rule that ends trials early. */
  pruner: "median" | "halving" | "none";
  /** Number of trials, and of fresh seeds, that confirm the best. */
  confirm: { top: number; seeds: number };
  /** Seed of the sampler. */
  seed: number;
}

/** Most trials, and combinations of a grid. */
const MOST = 1_000_000;

const COUNT = { type: "integer", minimum: 1, maximum: MOST } as const;
const NAME = { type: "string" } as const;
const MAPPING = { type: "object", default: {} } as const;

/** Keys of a file, with their defaults. */
const FILE: ConfigSchema = {
  properties: {
    name: NAME,
    algorithm: NAME,
    environment: NAME,
    environments: { type: "array", items: NAME, minItems: 1 },
    scores: SCORES,
    preset: NAME,
    steps: {
      ...runConfigSchema.properties.totalTimesteps,
      alias: undefined,
      default: undefined,
    },
    trials: COUNT,
    seeds: { ...COUNT, maximum: 1000, default: 1 },
    space: MAPPING,
    set: MAPPING,
    objective: { type: "string", enum: ["last", "area"], default: "last" },
    sampler: {
      type: "string",
      enum: ["tpe", "cmaes", "random", "grid"],
      default: "tpe",
    },
    pruner: {
      type: "string",
      enum: ["median", "halving", "none"],
      default: "median",
    },
    confirm: MAPPING,
    seed: runConfigSchema.properties.seed,
  },
};

/** Keys of a plan that are in the file under the same names, with defaults. */
type Defaulted = "seeds" | "objective" | "sampler" | "pruner" | "seed";

const CONFIRM: ConfigSchema = {
  properties: {
    top: { ...COUNT, maximum: 1000, default: 3 },
    seeds: { ...COUNT, maximum: 1000, default: 10 },
  },
};

/** Settings of runs that a search gives itself. */
const OWN: Readonly<Record<string, string>> = {
  algorithm: "'algorithm' of the file names it",
  env: "'environment' of the file names it",
  totalTimesteps: "'steps' of the file are",
  seed: "each trial has the seeds 0, 1 and so on, as many as 'seeds' says",
  maxSeconds: "a search that is resumed must go on as it would have",
};

function readEnvironments(
  { environment, environments }: Record<string, unknown>,
  origin: string,
): string[] {
  if ((environment === undefined) === (environments === undefined)) {
    throw new UsageError(
      `Cannot search ${origin}: expected one of 'environment: ID' and 'environments: [ID, ID]'`,
    );
  }
  const all = (environments ?? [environment]) as string[];
  checkApart(all, `the environments of ${origin}`);
  return all;
}

/** Reads the settings of all trials; those of an algorithm that is not imported yet are checked later. */
function readSettings(
  given: object,
  algorithm: string,
  origin: string,
): Record<string, unknown> {
  const settings = Object.entries(given), known = findAlgorithm(algorithm);
  if (known !== undefined) {
    const schema = fullSchema(known);
    validateEntries(settings, { schema, origin: `set of ${origin}` });
  }
  for (const [name] of settings) {
    const key = settingKey(algorithm, name);
    if (!Object.hasOwn(OWN, key)) continue;
    throw new UsageError(
      `Cannot use set.${name} of ${origin}: ${OWN[key]}`,
    );
  }
  return Object.fromEntries(settings);
}

/** Counts the trials: a grid has as many as combinations, and the first one. */
function countTrials(
  given: unknown,
  { sampler, space }: Pick<SearchPlan, "sampler" | "space">,
  origin: string,
): number {
  if (sampler === "grid") {
    const size = gridSize(space);
    if (size <= MOST) return Math.min(Number(given ?? Infinity), size + 1);
    throw new UsageError(
      size === Infinity
        ? `Cannot search the grid of ${origin}: expected lists or ranges with a step`
        : `Cannot search the grid of ${origin}: it has ${size} combinations, expected at most ${MOST}`,
    );
  }
  if (given !== undefined) return Number(given);
  throw new UsageError(
    `Cannot search ${origin}: expected the number of trials, as in 'trials: 50'`,
  );
}

/** Options of {@linkcode readPlan}. */
export interface ReadPlanOptions {
  /**
   * Number of trials.
   *
   * @default that of the file
   */
  trials?: number;
  /**
   * Take code and files that the file names outside of the project.
   *
   * @default false
   */
  isTrusted?: boolean;
}

/**
 * Reads the file of a search, with all defaults, and imports the algorithms that it
 * names.
 *
 * @param path The file.
 * @param options Number of trials, and trust.
 * @returns The plan.
 * @throws {UsageError} If a key is unknown, or a value is not valid.
 *
 * @example
 * ```ts
 * import { readPlan } from "@bellman/search";
 * import { assertEquals } from "@std/assert";
 *
 * const path = `${await Deno.makeTempDir()}/rates.yaml`;
 * await Deno.writeTextFile(
 *   path,
 *   `algorithm: a2c
 * environment: CartPole-v1
 * trials: 20
 * space: { learningRate: { min: 1e-4, max: 1e-2, scale: log } }
 * `,
 * );
 * const { name, sampler, trials } = await readPlan(path);
 * assertEquals([name, sampler, trials], ["rates", "tpe", 20]);
 * ```
 */
export async function readPlan(
  path: string,
  { trials, isTrusted = false }: ReadPlanOptions = {},
): Promise<SearchPlan> {
  const text = readText(path, "the file of the search");
  const origin = basename(path);
  const entries = parseMapping(text, origin);
  return await planFrom(entries, { origin, path, trials, isTrusted });
}

/** A search as its file has it, with much left to defaults. */
export type SearchObject =
  & Partial<Omit<SearchPlan, "space" | "confirm" | "preset" | "steps">>
  & {
    /** Name of the algorithm. */
    algorithm: string;
    /** Id of the environment, where it is one. */
    environment?: string;
    /** Name of a preset. */
    preset?: string;
    /** Environment steps of a run. */
    steps?: number;
    /** Values of the searched settings by name: lists, or ranges `{ min, max, scale, step }`. */
    space: Record<string, unknown>;
    /** Number of trials, and of fresh seeds, that confirm the best. */
    confirm?: Partial<SearchPlan["confirm"]>;
  };

/**
 * Reads a search out of an object, with all defaults.
 *
 * @param given The search as its file would have it, with a name.
 * @returns The plan.
 * @throws {UsageError} If a key is unknown, or a value is not valid.
 *
 * @example
 * ```ts
 * import { searchPlanOf } from "@bellman/search";
 * import { assertEquals } from "@std/assert";
 *
 * const { trials } = await searchPlanOf({
 *   ...{ name: "rates", algorithm: "a2c", environment: "CartPole-v1" },
 *   ...{ space: { learningRate: [0.001, 0.01] }, sampler: "grid" },
 * });
 * // Those of the grid, after the settings without a search.
 * assertEquals(trials, 3);
 * ```
 */
export async function searchPlanOf(
  given: SearchObject & { name: string },
): Promise<SearchPlan> {
  const options = { origin: given.name, isTrusted: true };
  return await planFrom(Object.entries(given), options);
}

async function planFrom(
  entries: readonly Entry[],
  { origin, path, trials, isTrusted }: {
    origin: string;
    path?: string;
    trials?: number;
    isTrusted: boolean;
  },
): Promise<SearchPlan> {
  const given = {
    ...defaultsOf<Pick<SearchPlan, Defaulted>>(FILE),
    ...validateEntries(entries, { schema: FILE, origin }),
  } as Pick<SearchPlan, Defaulted> & Record<string, unknown>;
  const { algorithm, name = nameOfFile(origin), set = {} } = given;
  checkName(String(name), `name = ${JSON.stringify(name)} of ${origin}`);
  if (algorithm === undefined) {
    throw new UsageError(
      `Cannot search ${origin}: expected an algorithm, as in 'algorithm: ${
        ALGORITHMS[0].meta.name
      }'`,
    );
  }
  const environments = readEnvironments(given, origin);
  const settings = readSettings(set as object, String(algorithm), origin);
  const open = environments.map((it) =>
    openConfig(String(algorithm), it, {
      preset: given.preset as string | undefined,
      settings,
    })
  );
  if (!isTrusted) {
    open.forEach((it) => admitPlan(it, `search ${origin}`, path));
  }
  await importAlgorithmModules(open[0]);
  const space = readSpace(given.space, {
    algorithm: String(algorithm),
    origin,
  });
  const scores = readScores(given.scores, { environments, origin });
  if (environments.length === 1 && given.scores !== undefined) {
    throw new UsageError(
      `Cannot use scores of ${origin}: the returns of one environment need none, leave them out`,
    );
  }
  const { seeds, objective, sampler, pruner, seed } = given;
  const plan: SearchPlan = {
    name: String(name),
    algorithm: String(algorithm),
    environments,
    scores,
    preset: given.preset as string ?? null,
    steps: given.steps as number ?? null,
    trials: countTrials(trials ?? given.trials, { sampler, space }, origin),
    seeds,
    space,
    set: settings,
    objective,
    sampler,
    pruner,
    confirm: {
      ...defaultsOf<SearchPlan["confirm"]>(CONFIRM),
      ...validateEntries(Object.entries(given.confirm ?? {}), {
        schema: CONFIRM,
        origin: `confirm of ${origin}`,
      }),
    },
    seed,
  };
  for (const environment of environments) {
    await loadEnvironment(configOf(plan, environment));
  }
  return plan;
}

/** Resolves settings of which the algorithm may be one of the user's own. */
function openConfig(
  algorithm: string,
  env: string,
  { preset, settings }: { preset?: string; settings: Record<string, unknown> },
): ResolvedConfig {
  const entries: Entry[] = [["env", env], ...Object.entries(settings)];
  return resolveConfig(algorithm, { preset, entries }, { isOpen: true });
}

/**
 * Returns the configuration of the trials in an environment.
 *
 * @param plan The plan.
 * @param environment Id of the environment.
 * @param params Settings of the trial; by default what the user has without a search.
 */
export function configOf(
  plan: SearchPlan,
  environment: string,
  params: Params = {},
): ResolvedConfig {
  const entries: Entry[] = [
    ["env", environment],
    ...plan.steps === null ? [] : [["totalTimesteps", plan.steps] as Entry],
    ...Object.entries(settingsOf(plan, params)),
  ];
  return resolveConfig(plan.algorithm, {
    preset: plan.preset ?? undefined,
    entries,
  });
}

/**
 * Returns the settings that a trial gives its runs, by their own names.
 *
 * @param plan The plan.
 * @param params Settings of the trial, which replace those of the plan.
 */
export function settingsOf(
  { algorithm, set }: SearchPlan,
  params: Params,
): Record<string, unknown> {
  const own = Object.entries(set)
    .map(([name, it]) => [settingKey(algorithm, name), it] as const);
  return { ...Object.fromEntries(own), ...params };
}

/** Returns the score of a return: the return itself, where there is one environment. */
export function scoreOf(
  { scores }: SearchPlan,
  environment: string,
  value: number,
): number {
  const { low = 0, high = 1 } = scores[environment] ?? {};
  return (value - low) / (high - low);
}

/**
 * Completes the scores of several environments: by default 0 is the return of random
 * actions, which is measured, and 1 the reward threshold.
 *
 * @param plan The plan.
 * @param dir Folder that keeps what is measured.
 * @param options Where lines go, and the end.
 * @throws {UsageError} If there is no reward threshold, or it is no higher.
 */
export async function completeScores(
  plan: SearchPlan,
  dir: string,
  options: { onNotice: (line: string) => void; signal: AbortSignal },
): Promise<SearchPlan["scores"]> {
  if (plan.environments.length === 1) return {};
  const configs = new Map(
    plan.environments.map((it) => [it, configOf(plan, it)]),
  );
  const { known, leftOut } = await measureScales(plan, {
    ...options,
    configs,
    dir,
  });
  for (const [environment, why] of leftOut) {
    throw new UsageError(
      `Cannot search ${environment} with others: ${why}; give its scores, as in '${environment}: { low: 20, high: 500 }'`,
    );
  }
  const ends = [...known].map(([environment, { low, high }]) => [
    environment,
    { low, high },
  ]);
  return Object.fromEntries(ends);
}

/**
 * Reads the complete scores that a search was begun with.
 *
 * @param scores What its record holds.
 * @param plan The plan.
 * @param dir Folder of the search.
 * @throws {UsageError} If some are missing.
 */
export function keptScores(
  scores: unknown,
  { environments }: SearchPlan,
  dir: string,
): SearchPlan["scores"] {
  if (environments.length === 1) return {};
  const kept = environments.map((it) => {
    const { low, high } = Object(Object(scores)[it]);
    if (Number.isFinite(low) && low < high && high < Infinity) {
      return [it, { low, high }];
    }
    throw new UsageError(`Cannot resume ${dir}: it has no scores of ${it}`);
  });
  return Object.fromEntries(kept);
}

/** Keys of a plan that may differ when a search goes on. */
const FREE: ReadonlySet<string> = new Set(["name", "trials", "confirm"]);

/** Lists the keys in which a plan differs from the one that a search was begun with. */
export function changesOf(plan: SearchPlan, begun: SearchPlan): string[] {
  return (Object.keys(plan) as (keyof SearchPlan)[]).filter((key) =>
    !FREE.has(key) &&
    JSON.stringify(plan[key]) !== JSON.stringify(Object(begun)[key])
  );
}

/** Returns the settings of the first trial that are searched, where they are the same in all environments. */
export function paramsOfFirst(plan: SearchPlan): Record<string, unknown> {
  const configs = plan.environments.map((it) => configOf(plan, it));
  const keys = Object.keys(plan.space).filter((key) =>
    new Set(configs.map((it) => JSON.stringify(it[key]))).size === 1
  );
  return Object.fromEntries(keys.map((key) => [key, configs[0][key]]));
}
