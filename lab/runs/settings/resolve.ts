import {
  type Algorithm,
  type ConfigSchema,
  defaultsOf,
  describeProperty,
  findKey,
  ownSchema,
} from "@bellman/agent";
import { hintAt } from "@bellman/files/options";
import { UsageError } from "../program/errors.ts";
import { ALGORITHMS, findAlgorithm } from "./algorithms.ts";
import { wrappersOf } from "./gymnasium.ts";
import { idleModules, importModules } from "./modules.ts";
import { runConfigSchema, runSchema } from "./schema.ts";
import { type Entry, validateEntries, type Validation } from "./settings.ts";
import { hintAtAlgorithm } from "./elsewhere.ts";
import type { RunConfig } from "./run_config.ts";
import { isZoo, zooEntries } from "./zoo.ts";
import { ZOO_DEFAULTS } from "./zoo_defaults.ts";
import { parseMapping } from "./yaml.ts";

/** Complete configuration of a run: one flat mapping of all settings. */
export type ResolvedConfig = RunConfig & Record<string, unknown>;

/** Preset name for the defaults. */
export const NO_PRESET = "none";

/** Sources of a configuration, lowest priority first. */
export interface ConfigSources {
  /** Name of a preset, or `none`; the environment's own by default. */
  preset?: string;
  /** Configuration file, instead of a preset. */
  file?: { name: string; text: string };
  /** Entries of the command line. */
  entries: Entry[];
}

/** Entries of a source, and its name for error messages. */
interface Entries {
  entries: Entry[];
  origin: string;
  /** Defaults that differ from this library's. */
  defaults?: Record<string, unknown>;
  /** Lines about converted settings. */
  notes?: string[];
}

/** Configuration with notes for the user. */
interface Resolved {
  config: ResolvedConfig;
  /** Lines about converted settings of a file. */
  notes: string[];
}

/**
 * Combines the schemas of runs and of an algorithm.
 *
 * @example
 * ```ts
 * import { findAlgorithm, fullSchema } from "@bellman/runs/settings";
 * import { assert } from "@std/assert";
 *
 * const { properties } = fullSchema(findAlgorithm("a2c")!);
 * assert("seed" in properties && "gaeLambda" in properties);
 * ```
 */
export function fullSchema(algorithm: Algorithm): ConfigSchema {
  const own = ownSchema(algorithm.meta);
  const properties = { ...runSchema().properties, ...own.properties };
  return { ...own, properties };
}

/**
 * Resolves an alias to the setting's name. Other names stay the same, as does
 * everything if the algorithm is not known yet.
 *
 * @example
 * ```ts
 * import { settingKey } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(settingKey("a2c", "n_envs"), "numEnvs");
 * ```
 */
export function settingKey(algorithm: string, name: string): string {
  const known = findAlgorithm(algorithm);
  const schema = known === undefined ? runSchema() : fullSchema(known);
  return findKey(schema, name) ?? name;
}

/**
 * Returns the algorithm that the command, `--set` or the file names; the default if
 * none does.
 *
 * @throws {UsageError} If two of them differ.
 */
function namedAlgorithm(
  command: string | undefined,
  { entries, file }: { entries: readonly Entry[]; file: Entries | undefined },
): { name: string; place: string } {
  const named = command === undefined
    ? []
    : [{ name: command, where: `'train ${command}'` }];
  for (const [key, value, flag = key] of entries) {
    if (key !== "algorithm") continue;
    named.push({ name: String(value), where: `'${flag}'` });
  }
  for (const [key, value] of file?.entries ?? []) {
    if (key !== "algorithm") continue;
    const name = String(value);
    named.push({ name, where: `'algorithm: ${name}' of ${file!.origin}` });
  }
  const [first, ...others] = named;
  const other = others.find(({ name }) => name !== first.name);
  const unknown = named.find(({ name }) => findAlgorithm(name) === undefined);
  // An unknown name is the mistake, if one of two is.
  if (other !== undefined && unknown === undefined) {
    throw new UsageError(
      `Cannot use both ${first.where} and ${other.where}: give one algorithm`,
    );
  }
  const { name, where } = unknown ?? first ?? {
    name: String(runConfigSchema.properties.algorithm.default),
    where: "",
  };
  return { name, place: name === command ? "" : ` in ${where}` };
}

function unknownAlgorithm(name: string, place = ""): UsageError {
  const hint = hintAtAlgorithm(name) ??
    hintAt(name, ALGORITHMS.map((it) => it.meta.name));
  return new UsageError(`Unknown algorithm '${name}'${place}: ${hint}`);
}

/** Returns true if entries name modules that may register an algorithm. */
function nameModules(entries: readonly Entry[]): boolean {
  return entries.some(([name, value]) =>
    findKey(runConfigSchema, name) === "algorithmModules" &&
    [value].flat().some((it) => typeof it === "string" && it !== "")
  );
}

/** Finds a preset of an algorithm by its name. */
export function findPreset(
  { meta: { name: algorithm, presets = {} } }: Algorithm,
  name: string,
): string {
  if (Object.hasOwn(presets, name)) return presets[name];
  const owner = ALGORITHMS.find(({ meta: { presets = {} } }) =>
    Object.hasOwn(presets, name)
  )?.meta.name;
  const names = Object.keys(presets);
  const guess = owner === undefined
    ? names.length === 0 ? "it has none" : hintAt(name, names)
    : `it is one of ${owner}, as in 'train ${owner} --preset ${name}'`;
  throw new UsageError(`Unknown preset '${name}' of ${algorithm}: ${guess}`);
}

/** Returns the preset name of an environment family: the start of its id. */
function familyOf(env: string): string {
  // Old names of Atari games.
  return /(NoFrameskip|Deterministic)-v\d+$/.test(env)
    ? "ALE"
    : env.split("/")[0];
}

/** Settings that are mappings, which are added to those of the preset or the file. */
const MAPPINGS = [
  ...["envKwargs", "evaluationEnvKwargs", "opponents", "parameters"],
];

/** Merges settings into those of the preset or the file; null removes an option. */
function withOptions(
  base: Record<string, unknown>,
  entries: Record<string, unknown>,
): Record<string, unknown> {
  const merged = { ...base, ...entries };
  for (const key of MAPPINGS) {
    if (!entries[key]) continue;
    const before = base[key] as object ?? {};
    const both = Object.entries({ ...before, ...entries[key] as object });
    merged[key] = Object.fromEntries(
      both.filter(([name, it]) => it !== null || !Object.hasOwn(before, name)),
    );
  }
  return merged;
}

/**
 * Returns the name of the preset that a run starts from.
 *
 * @param algorithm Algorithm that the preset is of.
 * @param given Preset of the command line, if any, and environment.
 * @returns Name of the preset; `undefined` for the defaults only.
 *
 * @example
 * ```ts
 * import { findAlgorithm, presetFor } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * const a2c = findAlgorithm("a2c")!;
 * assertEquals(presetFor(a2c, { env: "CartPole-v1" }), "CartPole-v1");
 * assertEquals(presetFor(a2c, { preset: "none", env: "CartPole-v1" }), undefined);
 * ```
 */
export function presetFor(
  { meta: { presets = {} } }: Algorithm,
  { preset, env }: { preset?: string; env: string },
): string | undefined {
  if (preset === NO_PRESET) return undefined;
  return preset ??
    [env, familyOf(env)].find((it) => Object.hasOwn(presets, it));
}

function presetEntries(
  algorithm: Algorithm,
  request: { preset?: string; env: string },
): Entries {
  const name = presetFor(algorithm, request);
  if (name === undefined) return { entries: [], origin: "no preset" };
  const origin = `preset ${name}`;
  return { entries: parseMapping(findPreset(algorithm, name), origin), origin };
}

/** Options of {@linkcode resolveConfig}. */
export type ResolveOptions = Pick<Validation, "isOpen" | "keepsFormer">;

/**
 * Leaves out what a preset gives and the user's settings have defaults for, such as the
 * learning rate of another method.
 */
function overruled(
  preset: Entries,
  { algorithm, entries }: {
    algorithm: Algorithm;
    entries: readonly Entry[];
  },
): Entries {
  const schema = fullSchema(algorithm), { defaultedBy = {} } = algorithm.meta;
  const keyOf = ([name]: Entry) => findKey(schema, name);
  const gone = entries.flatMap((it) => {
    const key = keyOf(it)!;
    const same = preset.entries.some((own) =>
      keyOf(own) === key && own[1] === it[1]
    );
    return same ? [] : defaultedBy[key] ?? [];
  });
  return {
    ...preset,
    entries: preset.entries.filter((it) => !gone.includes(keyOf(it)!)),
  };
}

/**
 * Merges a configuration: defaults, then the preset or the file, then the command line.
 *
 * @param command Algorithm of the command, if it names one.
 * @param sources Sources of the values.
 * @param options With `isOpen`, the algorithm's settings are not validated if there are
 * `algorithmModules`, which may register it or its network; with `keepsFormer`, a file
 * may have settings of earlier versions.
 * @throws {UsageError} If a key or a value is not valid, or two sources name
 * different algorithms.
 *
 * @example
 * ```ts
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * const file = { name: "mine.yaml", text: "gamma: 0.9" };
 * const { gamma, seed } = resolveConfig("a2c", { file, entries: [["seed", 3]] });
 * assertEquals([gamma, seed], [0.9, 3]);
 * ```
 */
export function resolveConfig(
  command: string | undefined,
  sources: ConfigSources,
  options: ResolveOptions = {},
): ResolvedConfig {
  return resolveGiven(command, sources, options).config;
}

/** Resolves as {@linkcode resolveConfig} does, with notes about converted settings. */
export function resolveGiven(
  command: string | undefined,
  sources: ConfigSources,
  { isOpen = false, keepsFormer }: ResolveOptions = {},
): Resolved {
  const { entries } = sources;
  const text = sources.file === undefined ? undefined : {
    entries: parseMapping(sources.file.text, sources.file.name),
    origin: sources.file.name,
  };
  const { name, place } = namedAlgorithm(command, { entries, file: text });
  const file = text && settingsIn(text, { entries, algorithm: name });
  const allEntries = [...file?.entries ?? [], ...entries];
  if (isOpen && nameModules(allEntries)) {
    const none = { entries: [], origin: "no file" };
    return {
      config: merged({ name, base: () => file ?? none, entries }),
      notes: [],
    };
  }
  const algorithm = findAlgorithm(name);
  if (algorithm === undefined) throw unknownAlgorithm(name, place);
  const { preset } = sources;
  const base = (env: string) =>
    file ?? overruled(presetEntries(algorithm, { preset, env }), {
      algorithm,
      entries,
    });
  return {
    config: merged({ name, algorithm, base, entries, keepsFormer }),
    notes: file?.notes ?? [],
  };
}

/** Returns the settings of a file, which may be one of rl-baselines3-zoo. */
function settingsIn(
  file: Entries,
  { entries, algorithm }: { entries: readonly Entry[]; algorithm: string },
): Entries {
  if (!isZoo(file.entries)) return file;
  const { origin } = file;
  const env = entries
    .find(([name]) => findKey(runConfigSchema, name) === "env")?.[1];
  const definition = findAlgorithm(algorithm);
  const schema = definition && fullSchema(definition);
  const translated = zooEntries(file.entries, {
    origin,
    env: env === undefined ? undefined : String(env),
    isOwn: (name) =>
      schema === undefined || findKey(schema, name) !== undefined,
  });
  return { origin, ...translated, defaults: ZOO_DEFAULTS[algorithm] };
}

/** Merges defaults, a preset or file, and the command line. */
function merged(
  { name, algorithm, base, entries, keepsFormer }: {
    name: string;
    /** Omitted if it is not known yet. */
    algorithm?: Algorithm;
    /** Finds the preset or the file. */
    base: (env: string) => Entries;
    entries: Entry[];
    keepsFormer?: boolean;
  },
): ResolvedConfig {
  const schema = algorithm === undefined
    ? runConfigSchema
    : fullSchema(algorithm);
  const isOpen = algorithm === undefined;
  const defaults = {
    ...defaultsOf<ResolvedConfig>(schema),
    ...algorithm?.meta.runDefaults,
  };
  const fromCommand = validateEntries(entries, {
    schema,
    origin: "the command line",
    isOpen,
  });
  const file = base(String(fromCommand.env ?? defaults.env));
  const fromFile = validateEntries(file.entries, {
    schema,
    origin: file.origin,
    isOpen,
    keepsFormer,
  });
  const weaker = { ...defaults, ...file.defaults, ...fromFile };
  const config = {
    ...withOptions(weaker, fromCommand),
    algorithm: name,
  } as ResolvedConfig;
  const idle = algorithm?.meta.unusedSettings?.(config, {}) ?? {};
  for (const key in file.defaults) {
    const isGiven = key in fromFile || key in fromCommand;
    // A default, not a choice.
    if (key in idle && !isGiven) {
      Object.assign(config, { [key]: defaults[key] });
    }
  }
  wrappersOf(config); // Throws if they are not possible.
  if (config.loop !== "device" && config.numEnvs > MOST_HOSTED) {
    throw new UsageError(
      `Cannot use numEnvs = ${config.numEnvs}: expected ${
        describeProperty(schema.properties.numEnvs)
      }`,
    );
  }
  return config;
}

/** Largest number of environments that are stepped one after the other. */
const MOST_HOSTED = 4096;

/**
 * Imports the modules of `algorithmModules`, which may register the named algorithm.
 *
 * @param config Modules, and the algorithm if it is known.
 * @returns Absolute URLs of the modules.
 * @throws {UsageError} If one cannot be imported, or none registers the algorithm.
 *
 * @example
 * ```ts
 * import { importAlgorithmModules } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * const path = await Deno.makeTempFile({ suffix: ".ts" });
 * await Deno.writeTextFile(path, "// It would call registerAlgorithm.");
 * const urls = await importAlgorithmModules({ algorithmModules: [path] });
 * assertEquals(urls, [`file://${path}`]);
 * ```
 */
export async function importAlgorithmModules(
  config:
    & Pick<RunConfig, "algorithmModules">
    & Partial<Pick<RunConfig, "algorithm">>,
): Promise<string[]> {
  const urls = await importModules(config, "algorithmModules");
  const { algorithm } = config;
  const [why] = idleModules(config, "algorithmModules");
  if (why === undefined || algorithm === undefined) return urls;
  if (findAlgorithm(algorithm) !== undefined) return urls;
  throw new UsageError(`Unknown algorithm '${algorithm}': ${why}`);
}

/**
 * Imports the user's algorithms and networks that a configuration names, and validates
 * their settings.
 *
 * @throws {UsageError} If a module cannot be imported or does not register the
 * algorithm, or a setting is not valid.
 */
export async function withOwnAlgorithm(
  config: ResolvedConfig,
): Promise<ResolvedConfig> {
  if (config.algorithmModules.length === 0) return config;
  const algorithmModules = await importAlgorithmModules(config);
  const file = { entries: Object.entries(config), origin: "the configuration" };
  const { algorithm: name } = config, algorithm = findAlgorithm(name);
  if (algorithm === undefined) throw unknownAlgorithm(name);
  const checked = merged({ name, algorithm, base: () => file, entries: [] });
  return { ...checked, algorithmModules };
}

/**
 * Resolves a configuration, and imports the user's algorithms that it names.
 *
 * @param algorithm Algorithm of the command, if it names one.
 * @param sources Sources of the values.
 * @param hooks `admit` receives the configuration before anything is imported;
 * `onNotice` receives lines for the user.
 * @returns The configuration.
 * @throws {UsageError} If a key or a value is not valid.
 *
 * @example
 * ```ts
 * import { resolveWithModules } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * const { env } = await resolveWithModules("sac", {
 *   entries: [["env", "Pendulum-v1"]],
 * });
 * assertEquals(env, "Pendulum-v1");
 * ```
 */
export async function resolveWithModules(
  algorithm: string | undefined,
  sources: ConfigSources,
  { admit, onNotice = () => {} }: {
    admit?: (config: ResolvedConfig) => void;
    onNotice?: (line: string) => void;
  } = {},
): Promise<ResolvedConfig> {
  const open = resolveConfig(algorithm, sources, { isOpen: true });
  admit?.(open);
  await importAlgorithmModules(open);
  // With the settings and presets that the modules have registered.
  const { config, notes } = resolveGiven(algorithm, sources);
  for (const key of ["stopReward", "patience"] as const) {
    if (config[key] === null || config.evaluationInterval !== 0) continue;
    throw new UsageError(
      `Cannot stop by ${key} with evaluationInterval = 0: expected the steps between evaluations`,
    );
  }
  notes.forEach(onNotice);
  const { name, isGreedy } = findAlgorithm(config.algorithm)!.meta;
  if (isGreedy && !config.evaluationDeterministic) {
    onNotice(
      `evaluationDeterministic: false does nothing here: ${name} has nothing to sample, evaluations take the best action`,
    );
  }
  return config;
}
