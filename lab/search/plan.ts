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

/** Resolved plan of a search. */
export interface SearchPlan {
  /** Name of the search, and of its folder. */
  name: string;
  /** Name of the algorithm. */
  algorithm: string;
  /** Ids of the environments. */
  environments: string[];
  /** Score scales by environment, if there are several environments. */
  scores: Record<string, Scale>;
  /** Preset of all trials; null for each environment's own. */
  preset: string | null;
  /** Environment steps of a run; null for those of the preset. */
  steps: number | null;
  /** Number of trials. */
  trials: number;
  /** Number of runs of a trial in each environment, with seeds 0, 1 and so on. */
  seeds: number;
  /** Search space. */
  space: Space;
  /** Settings of all trials; for searched settings, those of the first trial. */
  set: Record<string, unknown>;
  /** Final return of a run, or mean over its evaluations. */
  objective: "last" | "area";
  /** Sampler of trials: two of Optuna, two without Python. */
  sampler: "tpe" | "cmaes" | "random" | "grid";
  /** Rule that stops trials early. */
  pruner: "median" | "halving" | "none";
  /** Number of best trials to confirm, and of fresh seeds. */
  confirm: { top: number; seeds: number };
  /** Seed of the sampler. */
  seed: number;
}

/** Largest number of trials, and of combinations of a grid. */
const MOST = 1_000_000;

const COUNT = { type: "integer", minimum: 1, maximum: MOST } as const;
const NAME = { type: "string" } as const;
const MAPPING = { type: "object", default: {} } as const;

/** Schema of a file, with defaults. */
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

/** Settings with defaults and the same names in plan and file. */
type Defaulted = "seeds" | "objective" | "sampler" | "pruner" | "seed";

const CONFIRM: ConfigSchema = {
  properties: {
    top: { ...COUNT, maximum: 1000, default: 3 },
    seeds: { ...COUNT, maximum: 1000, default: 10 },
  },
};

/** Settings of runs that the search determines. */
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
  const ids = (environments ?? [environment]) as string[];
  checkApart(ids, `the environments of ${origin}`);
  return ids;
}

/**
 * Validates the settings of all trials; those of an algorithm that is not imported yet
 * are checked later.
 */
function readSettings(
  set: object,
  algorithm: string,
  origin: string,
): Record<string, unknown> {
  const settings = Object.entries(set), known = findAlgorithm(algorithm);
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

/** Counts the trials of a plan: for a grid its combinations, and the first trial. */
function countTrials(
  requested: unknown,
  { sampler, space }: Pick<SearchPlan, "sampler" | "space">,
  origin: string,
): number {
  if (sampler === "grid") {
    const size = gridSize(space);
    if (size <= MOST) return Math.min(Number(requested ?? Infinity), size + 1);
    throw new UsageError(
      size === Infinity
        ? `Cannot search the grid of ${origin}: expected lists or ranges with a step`
        : `Cannot search the grid of ${origin}: it has ${size} combinations, expected at most ${MOST}`,
    );
  }
  if (requested !== undefined) return Number(requested);
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
   * Accept code and files from outside of the project that the file names.
   *
   * @default false
   */
  isTrusted?: boolean;
}

/**
 * Reads the file of a search with all defaults, and imports the algorithms that it
 * names.
 *
 * @param path Path of the file.
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

/** Search as in its file, with optional settings. */
export type SearchObject =
  & Partial<Omit<SearchPlan, "space" | "confirm" | "preset" | "steps">>
  & {
    /** Name of the algorithm. */
    algorithm: string;
    /** Environment id, if there is only one. */
    environment?: string;
    /** Name of a preset. */
    preset?: string;
    /** Environment steps of a run. */
    steps?: number;
    /** Search space by setting: lists, or ranges `{ min, max, scale, step }`. */
    space: Record<string, unknown>;
    /** Number of best trials to confirm, and of fresh seeds. */
    confirm?: Partial<SearchPlan["confirm"]>;
  };

/**
 * Validates a search, given as an object, and fills in all defaults.
 *
 * @param search Search as in a file, with a name.
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
  search: SearchObject & { name: string },
): Promise<SearchPlan> {
  const options = { origin: search.name, isTrusted: true };
  return await planFrom(Object.entries(search), options);
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
  const values = {
    ...defaultsOf<Pick<SearchPlan, Defaulted>>(FILE),
    ...validateEntries(entries, { schema: FILE, origin }),
  } as Pick<SearchPlan, Defaulted> & Record<string, unknown>;
  const { algorithm, name = nameOfFile(origin), set = {} } = values;
  checkName(String(name), `name = ${JSON.stringify(name)} of ${origin}`);
  if (algorithm === undefined) {
    throw new UsageError(
      `Cannot search ${origin}: expected an algorithm, as in 'algorithm: ${
        ALGORITHMS[0].meta.name
      }'`,
    );
  }
  const environments = readEnvironments(values, origin);
  const settings = readSettings(set as object, String(algorithm), origin);
  const open = environments.map((it) =>
    openConfig(String(algorithm), it, {
      preset: values.preset as string | undefined,
      settings,
    })
  );
  if (!isTrusted) {
    open.forEach((it) => admitPlan(it, `search ${origin}`, path));
  }
  await importAlgorithmModules(open[0]);
  const space = readSpace(values.space, {
    algorithm: String(algorithm),
    origin,
  });
  const scores = readScores(values.scores, { environments, origin });
  if (environments.length === 1 && values.scores !== undefined) {
    throw new UsageError(
      `Cannot use scores of ${origin}: the returns of one environment need none, leave them out`,
    );
  }
  const { seeds, objective, sampler, pruner, seed } = values;
  const plan: SearchPlan = {
    name: String(name),
    algorithm: String(algorithm),
    environments,
    scores,
    preset: values.preset as string ?? null,
    steps: values.steps as number ?? null,
    trials: countTrials(trials ?? values.trials, { sampler, space }, origin),
    seeds,
    space,
    set: settings,
    objective,
    sampler,
    pruner,
    confirm: {
      ...defaultsOf<SearchPlan["confirm"]>(CONFIRM),
      ...validateEntries(Object.entries(values.confirm ?? {}), {
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

/** Resolves settings, possibly of a user algorithm. */
function openConfig(
  algorithm: string,
  env: string,
  { preset, settings }: { preset?: string; settings: Record<string, unknown> },
): ResolvedConfig {
  const entries: Entry[] = [["env", env], ...Object.entries(settings)];
  return resolveConfig(algorithm, { preset, entries }, { isOpen: true });
}

/**
 * Returns the configuration of a trial in an environment.
 *
 * @param plan The plan.
 * @param environment Environment id.
 * @param params Settings of the trial; by default those without a search.
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
 * Returns the settings of a trial's runs by name.
 *
 * @param plan The plan.
 * @param params Settings of the trial, which override the plan's.
 */
export function settingsOf(
  { algorithm, set }: SearchPlan,
  params: Params,
): Record<string, unknown> {
  const shared = Object.entries(set)
    .map(([name, it]) => [settingKey(algorithm, name), it] as const);
  return { ...Object.fromEntries(shared), ...params };
}

/** Returns the score of a return: the return itself if there is a single environment. */
export function scoreOf(
  { scores }: SearchPlan,
  environment: string,
  value: number,
): number {
  const { low = 0, high = 1 } = scores[environment] ?? {};
  return (value - low) / (high - low);
}

/**
 * Completes the score scales of several environments: by default 0 is the measured
 * return of random actions, and 1 the reward threshold.
 *
 * @param plan The plan.
 * @param dir Folder of measurements.
 * @param options Receiver of lines for the user, and abort signal.
 * @throws {UsageError} If there is no reward threshold, or it is not higher.
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
 * Validates the score scales in a search's record.
 *
 * @param scores Value in the record.
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
  const kept = environments.map((id) => {
    const { low, high } = Object(Object(scores)[id]);
    if (Number.isFinite(low) && low < high && high < Infinity) {
      return [id, { low, high }];
    }
    throw new UsageError(`Cannot resume ${dir}: it has no scores of ${id}`);
  });
  return Object.fromEntries(kept);
}

/** Settings of a plan that may change when a search is resumed. */
const FREE: ReadonlySet<string> = new Set(["name", "trials", "confirm"]);

/** Lists the settings of a plan that differ from those at the search's start. */
export function changesOf(plan: SearchPlan, begun: SearchPlan): string[] {
  return (Object.keys(plan) as (keyof SearchPlan)[]).filter((key) =>
    !FREE.has(key) &&
    JSON.stringify(plan[key]) !== JSON.stringify(Object(begun)[key])
  );
}

/** Returns the searched settings of the first trial that are equal in all environments. */
export function paramsOfFirst(plan: SearchPlan): Record<string, unknown> {
  const configs = plan.environments.map((it) => configOf(plan, it));
  const keys = Object.keys(plan.space).filter((key) =>
    new Set(configs.map((it) => JSON.stringify(it[key]))).size === 1
  );
  return Object.fromEntries(keys.map((key) => [key, configs[0][key]]));
}
