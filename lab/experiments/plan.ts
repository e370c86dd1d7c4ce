import type { ConfigSchema } from "@bellman/agent";
import { hintAt } from "@bellman/files/options";
import { basename } from "node:path";
import {
  type Entry,
  parseMapping,
  validateEntries,
} from "@bellman/runs/settings";
import { UsageError } from "@bellman/runs/program";
import { atariScale } from "./atari_scale.ts";

/** Scale of an environment's normalized scores: `(return - low) / (high - low)`. */
export interface Scale {
  /** Return with score 0; that of random actions by default. */
  low?: number;
  /** Return with score 1; the environment's reward threshold by default. */
  high?: number;
}

/** Variant: settings of runs in several environments with several seeds. */
export interface Variant {
  /** Name of the variant, and of its folder. */
  name: string;
  /** Name of the algorithm. */
  algorithm: string;
  /** Name of a preset, or `none`; the environment's own by default. */
  preset?: string;
  /** Configuration file instead of a preset. */
  config?: string;
  /** Ids of environments. */
  environments: string[];
  /** Seeds of runs. */
  seeds: number[];
  /** Environment steps; those of the preset by default. */
  steps?: number;
  /** Other settings, as for `--set`. */
  set: Record<string, unknown>;
}

/** Plan of an experiment: variants in several environments with several seeds. */
export interface Plan {
  /** Name of the experiment, and of its folder. */
  name: string;
  /** Number of episodes of each run's final evaluations. */
  episodes: number;
  /** Variants to compare. */
  variants: Variant[];
  /** Score scales by environment. */
  scores: Record<string, Scale>;
  /** Pairs of variants to compare. */
  compare: [better: string, than: string][];
}

const COUNT = { type: "integer", minimum: 1, maximum: 1e15 };
const TEXT = { type: "string" };
const MAPPING = { type: "object" };
const ENVIRONMENTS = { type: "array", items: TEXT, minItems: 1 };

/** Largest number of seeds. */
const MOST_SEEDS = 1_000_000;
const SEED = { type: "integer", minimum: 0, maximum: 4_000_000_000 };
const SEEDS = {
  anyOf: [
    { type: "integer", minimum: 1, maximum: MOST_SEEDS },
    { type: "array", items: SEED, minItems: 1 },
    { type: "string" },
  ],
};

/** Schema of score scales by environment, or `atari`. */
export const SCORES = { anyOf: [MAPPING, { enum: ["atari"] }] };

const PLAN: ConfigSchema = {
  properties: {
    name: TEXT,
    environments: ENVIRONMENTS,
    seeds: SEEDS,
    steps: COUNT,
    episodes: { ...COUNT, maximum: 1_000_000 },
    set: MAPPING,
    variants: MAPPING,
    scores: SCORES,
    compare: { type: "array", items: { type: "array", items: TEXT } },
  },
};

const VARIANT: ConfigSchema = {
  properties: {
    algorithm: TEXT,
    preset: TEXT,
    config: TEXT,
    environments: ENVIRONMENTS,
    seeds: SEEDS,
    steps: COUNT,
    set: MAPPING,
  },
};

const FINITE = { type: "number", minimum: -1e300, maximum: 1e300 };
/** Schema of a {@linkcode Scale}. */
const SCALE: ConfigSchema = { properties: { low: FINITE, high: FINITE } };

/** Names that are valid folder names on every system. */
const FOLDER_NAME = /^\w[\w.-]{0,99}$/;

/**
 * Checks a folder name; errors call it `what`.
 *
 * @example
 * ```ts
 * import { checkName } from "@bellman/experiments";
 * import { assertThrows } from "@std/assert";
 *
 * checkName("first", "the name 'first'");
 * assertThrows(() => checkName("../up", "the name '../up'"));
 * ```
 */
export function checkName(name: string, what: string): void {
  if (FOLDER_NAME.test(name)) return;
  throw new UsageError(
    `Cannot use ${what}: expected up to 100 letters, digits, '-', '_' and '.' that begin with a letter, a digit or '_'`,
  );
}

/**
 * Makes the name of an experiment or a search from its file, as a folder name for every
 * system: `my plan.yaml` becomes `my-plan`.
 *
 * @example
 * ```ts
 * import { nameOfFile } from "@bellman/experiments";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(nameOfFile("plans/my plan.yaml"), "my-plan");
 * ```
 */
export function nameOfFile(path: string): string {
  const letters = basename(path).replace(/\.ya?ml$/, "").normalize("NFKD")
    .replaceAll(/\p{M}/gu, "").replaceAll("ß", "ss");
  const name = folderOf(letters).replaceAll(/^\W+|-+$/g, "").slice(0, 100);
  if (name !== "") return name;
  throw new UsageError(
    `Cannot name a folder after ${path}: expected a name in the file, as in 'name: mine'`,
  );
}

/**
 * Checks that names are distinct folders, even if the file system ignores case.
 *
 * @example
 * ```ts
 * import { checkApart } from "@bellman/experiments";
 * import { assertThrows } from "@std/assert";
 *
 * checkApart(["a2c", "ppo"], "variants");
 * assertThrows(() => checkApart(["a2c", "A2C"], "variants"));
 * ```
 */
export function checkApart(names: readonly string[], what: string): void {
  const folders = new Map<string, string>();
  for (const name of names) {
    const folder = folderOf(name).toLowerCase();
    const other = folders.get(folder);
    if (other !== undefined) {
      throw new UsageError(
        other === name
          ? `Cannot use ${what} with '${name}' twice: give it once`
          : `Cannot use ${what} with both '${other}' and '${name}': they may be the same folder, give them other names`,
      );
    }
    folders.set(folder, name);
  }
}

/**
 * Returns a folder name for an id, which may contain other characters: `ALE/Pong-v5`.
 *
 * @example
 * ```ts
 * import { folderOf } from "@bellman/experiments";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(folderOf("ALE/Pong-v5"), "ALE-Pong-v5");
 * ```
 */
export function folderOf(id: string): string {
  return id.replaceAll(/[^\w.-]+/g, "-");
}

function seedsOf(seeds: unknown, origin: string): number[] {
  if (typeof seeds === "number") {
    return Array.from({ length: seeds }, (_, i) => i);
  }
  if (Array.isArray(seeds)) {
    checkApart(seeds.map(String), `the seeds of ${origin}`);
    return seeds;
  }
  const [first, last] = /^(\d+)\.\.(\d+)$/.exec(String(seeds))?.slice(1)
    .map(Number) ?? [];
  const count = last - first + 1;
  if (count >= 1 && count <= MOST_SEEDS && last <= SEED.maximum) {
    return Array.from({ length: count }, (_, i) => first + i);
  }
  throw new UsageError(
    `Cannot use seeds = ${
      JSON.stringify(seeds)
    } of ${origin}: expected a number of seeds, a list such as [3, 5] or a range such as 200..209`,
  );
}

/** Parses a record of records with a schema. */
function entriesOf<T>(
  record: unknown,
  schema: ConfigSchema,
  where: (name: string) => string,
): [name: string, entry: T][] {
  return Object.entries(record ?? {}).map(([name, entry]) => {
    const origin = where(name);
    if (typeof entry !== "object" || Array.isArray(entry)) {
      throw new UsageError(
        `Cannot read ${origin}: expected a mapping of keys to values, which may be empty: {}`,
      );
    }
    const valid = validateEntries(Object.entries(entry ?? {}), {
      schema,
      origin,
    });
    return [name, valid as T];
  });
}

/**
 * Parses the score scales of environments; `atari` stands for those of its games.
 *
 * @param scores Value of `scores`.
 * @param plan All environments, and name of the file for error messages.
 * @returns Score scales by environment.
 * @throws {UsageError} If a name or a value is not valid.
 *
 * @example
 * ```ts
 * import { readScores } from "@bellman/experiments";
 * import { assertEquals } from "@std/assert";
 *
 * const plan = { environments: ["ALE/Pong-v5"], origin: "plan.yaml" };
 * const { low, high } = readScores("atari", plan)["ALE/Pong-v5"];
 * assertEquals([low, high], [-20.7, 14.6]);
 * ```
 */
export function readScores(
  scores: unknown,
  { environments, origin }: {
    environments: readonly string[];
    origin: string;
  },
): Record<string, Scale> {
  if (scores === "atari") {
    const games = environments.map((env) => [env, atariScale(env)] as const)
      .filter((it): it is [string, Required<Scale>] => it[1] !== undefined);
    if (games.length > 0) return Object.fromEntries(games);
    throw new UsageError(
      `Cannot use scores = atari of ${origin}: none of its environments is one of the 57 games, such as ALE/Pong-v5`,
    );
  }
  const scales = entriesOf<Scale>(
    scores,
    SCALE,
    (env) => `the scores of ${env}`,
  );
  for (const [env, { low = -Infinity, high = Infinity }] of scales) {
    checkKnown(env, environments, `environment of scores in ${origin}:`);
    if (low < high) continue;
    throw new UsageError(
      `Cannot use the scores of ${env}: low is ${low}, expected less than high, ${high}`,
    );
  }
  return Object.fromEntries(scales);
}

/** Checks that a name is one of the existing ones. */
function checkKnown(
  name: string,
  known: readonly string[],
  what: string,
): void {
  if (known.includes(name)) return;
  throw new UsageError(`Unknown ${what} '${name}': ${hintAt(name, known)}`);
}

function variantsOf(plan: Record<string, unknown>, origin: string): Variant[] {
  const { steps, environments = [], set = {} } = plan as Partial<Variant>;
  const entries = entriesOf<Partial<Variant>>(
    plan.variants,
    VARIANT,
    (name) => `the variant '${name}' of ${origin}`,
  );
  if (entries.length === 0) {
    throw new UsageError(
      `Cannot use ${origin}: it has no variants, expected some, as in 'variants: { a2c: {} }'`,
    );
  }
  checkApart(entries.map(([name]) => name), `variants of ${origin}`);
  const seeds = seedsOf(plan.seeds ?? 10, origin);
  return entries.map(([name, overrides]) => {
    checkName(name, `the variant '${name}'`);
    const variant: Variant = {
      algorithm: name,
      steps,
      // A copy, since YAML would write the same list as a reference.
      environments: [...environments],
      ...overrides,
      name,
      seeds: overrides.seeds === undefined
        ? [...seeds]
        : seedsOf(overrides.seeds, `the variant '${name}' of ${origin}`),
      set: { ...set, ...overrides.set },
    };
    if (variant.environments.length === 0) {
      throw new UsageError(
        `Cannot use the variant '${name}' of ${origin}: it has no environments, expected some, as in 'environments: [CartPole-v1]'`,
      );
    }
    checkApart(variant.environments, `the environments of '${name}'`);
    return variant;
  });
}

/** Plan as in its file: with names, lists and optional settings. */
export interface PlanObject {
  /** Name of the experiment, and of its folder. */
  name?: string;
  /** Ids of environments, for variants without their own. */
  environments?: string[];
  /** Number of seeds, their list, or a range such as `200..209`; 10 by default. */
  seeds?: number | number[] | string;
  /** Environment steps of each run; those of the preset by default. */
  steps?: number;
  /** Number of episodes of each run's final evaluations; 100 by default. */
  episodes?: number;
  /** Settings of all variants. */
  set?: Record<string, unknown>;
  /** Variants by name; the name is also the default algorithm. */
  variants: Record<string, VariantObject>;
  /** Score scales by environment, or `atari` for those of its games. */
  scores?: Record<string, Scale> | "atari";
  /** Pairs of variants to compare: the first is expected to be better. */
  compare?: [better: string, than: string][];
}

/** Variant as in the file of a plan. */
export interface VariantObject
  extends Pick<PlanObject, "environments" | "seeds" | "steps" | "set"> {
  /** Name of the algorithm. */
  algorithm?: string;
  /** Name of a preset, or `none`. */
  preset?: string;
  /** Path of a configuration file instead of a preset. */
  config?: string;
}

/**
 * Parses the plan of an experiment.
 *
 * @param text YAML.
 * @param origin Name of the file.
 * @param name Name of the experiment, if the plan has none; the file's by default.
 * @throws {UsageError} If a key or a value is not valid, at any depth.
 *
 * @example
 * ```ts
 * import { parsePlan } from "@bellman/experiments";
 * import { assertEquals } from "@std/assert";
 *
 * const text = "environments: [CartPole-v1]\nvariants: { a2c: {} }";
 * const { name, variants: [variant] } = parsePlan(text, "first.yaml");
 * assertEquals([name, variant.seeds.length], ["first", 10]);
 * ```
 */
export function parsePlan(text: string, origin: string, name?: string): Plan {
  return planFrom(parseMapping(text, origin), origin, name);
}

/**
 * Validates the plan of an experiment, given as an object.
 *
 * @param plan Plan as in a file.
 * @param origin Name for error messages, and the default name of the experiment.
 * @throws {UsageError} If a key or a value is not valid, at any depth.
 *
 * @example
 * ```ts
 * import { planOf } from "@bellman/experiments";
 * import { assertEquals } from "@std/assert";
 *
 * const variants = { a2c: { environments: ["CartPole-v1"], seeds: "3..5" } };
 * assertEquals(planOf({ variants }, "first").variants[0].seeds, [3, 4, 5]);
 * ```
 */
export function planOf(
  plan: PlanObject,
  origin: string = plan.name ?? "the plan",
): Plan {
  return planFrom(Object.entries(plan), origin);
}

function planFrom(
  entries: readonly Entry[],
  origin: string,
  name?: string,
): Plan {
  const values = validateEntries(entries, { schema: PLAN, origin });
  const variants = variantsOf(values, origin);
  const environments = variants.flatMap((it) => it.environments);
  const plan: Plan = {
    name: String(values.name ?? name ?? nameOfFile(origin)),
    episodes: Number(values.episodes ?? 100),
    variants,
    scores: readScores(values.scores, {
      environments: [...new Set(environments)],
      origin,
    }),
    compare: (values.compare ?? []) as Plan["compare"],
  };
  checkName(plan.name, `the name '${plan.name}'`);
  for (const pair of plan.compare) {
    for (const variant of pair) {
      checkKnown(
        variant,
        plan.variants.map(({ name }) => name),
        `variant of compare in ${origin}:`,
      );
    }
    if (pair.length === 2 && pair[0] !== pair[1]) continue;
    throw new UsageError(
      `Cannot compare [${
        pair.join(", ")
      }] in ${origin}: expected two variants, as in [[a2c, sac]]`,
    );
  }
  return plan;
}
