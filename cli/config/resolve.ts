import {
  type AlgorithmDefinition,
  type ConfigSchema,
  defaultsOf,
} from "@bellman/agent";
import { openPlainSync } from "@bellman/files";
import { registeredNetworks } from "@bellman/policies";
import { closeSync, fstatSync, readFileSync } from "node:fs";
import {
  fileProblem,
  hintAt,
  messageOf,
  UsageError,
} from "../terminal/errors.ts";
import { ALGORITHMS, findAlgorithm } from "./algorithms.ts";
import { idleLines } from "./idle.ts";
import { wrappersOf } from "./gymnasium.ts";
import { idleModules, importModules } from "./modules.ts";
import {
  type Entry,
  findKey,
  runConfigSchema,
  runSchema,
  validateEntries,
} from "./schema.ts";
import { hintAtAlgorithm } from "./elsewhere.ts";
import type { RunConfig } from "./run_config.ts";
import { isZoo, ZOO_DEFAULTS, zooEntries } from "./zoo.ts";
import {
  option,
  type OptionSpec,
  type ParsedOptions,
  valueOf,
} from "../terminal/command.ts";
import { parseYaml } from "./yaml.ts";

/** Whole configuration of a run: one flat mapping of all keys. */
export type ResolvedConfig = RunConfig & Record<string, unknown>;

/** Name that stands for the defaults, without a preset. */
export const NO_PRESET = "none";

/** Sources of a configuration, weakest first. */
export interface ConfigSources {
  /** Name of a preset, or `none`; by default the environment's own. */
  preset?: string;
  /** Text and name of a configuration file, instead of a preset. */
  file?: { name: string; text: string };
  /** Entries of the command line. */
  entries: Entry[];
}

/** Entries of a source, and its name for messages. */
interface Entries {
  entries: Entry[];
  origin: string;
  /** Settings that it leaves to others than this library. */
  defaults?: Record<string, unknown>;
}

/** A configuration, and the names of the settings that its user gave. */
interface Resolved {
  config: ResolvedConfig;
  given: string[];
}

/** Returns the settings of an algorithm, with the networks of the user's own. */
export function ownSchema({ schema }: AlgorithmDefinition): ConfigSchema {
  const { network } = schema.properties, own = registeredNetworks();
  if (!network?.enum?.includes("mlp") || own.length === 0) return schema;
  const named = { ...network, enum: [...network.enum, ...own] };
  return { properties: { ...schema.properties, network: named } };
}

/** Joins the schema of a run of an algorithm: the run's settings and its own. */
export function fullSchema(algorithm: AlgorithmDefinition): ConfigSchema {
  const { properties } = ownSchema(algorithm);
  return { properties: { ...runSchema().properties, ...properties } };
}

/**
 * Finds the name of the algorithm that the command, `--set` or the file gives; the
 * default where none of them does.
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
  // A name that there is not is the mistake, where one of two is.
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
    hintAt(name, ALGORITHMS.map((it) => it.name));
  return new UsageError(`Unknown algorithm '${name}'${place}: ${hint}`);
}

/** Returns true if entries name modules that may register an algorithm. */
function nameModules(entries: readonly Entry[]): boolean {
  return entries.some(([name, value]) =>
    findKey(runConfigSchema, name) === "algorithmModules" &&
    Array.isArray(value) && value.length > 0
  );
}

/** Parses a YAML mapping. */
export function parseMapping(text: string, origin: string): Entry[] {
  let value: unknown;
  try {
    value = parseYaml(text);
  } catch (error) {
    const reason = (error as Error).message.split("\n")[0];
    throw new UsageError(`Cannot read ${origin} as YAML: ${reason}`);
  }
  if (value === null || value === undefined) return [];
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new UsageError(
      `Cannot read ${origin}: expected a mapping of keys to values, such as 'numEnvs: 8'`,
    );
  }
  return Object.entries(value);
}

/** Finds a preset of an algorithm by its name. */
export function findPreset(
  { name: algorithm, presets }: AlgorithmDefinition,
  name: string,
): string {
  if (Object.hasOwn(presets, name)) return presets[name];
  const owner = ALGORITHMS.find((it) => Object.hasOwn(it.presets, name))?.name;
  const names = Object.keys(presets);
  const guess = owner === undefined
    ? names.length === 0 ? "it has none" : hintAt(name, names)
    : `it is one of ${owner}, as in 'train ${owner} --preset ${name}'`;
  throw new UsageError(`Unknown preset '${name}' of ${algorithm}: ${guess}`);
}

/** Returns the name of a preset for many environments: the start of their ids. */
function familyOf(env: string): string {
  // Former names of Atari games.
  return /(NoFrameskip|Deterministic)-v\d+$/.test(env)
    ? "ALE"
    : env.split("/")[0];
}

/**
 * Adds given options of an environment to those of the preset or the file; null
 * removes one of those.
 */
function withOptions(
  base: Record<string, unknown>,
  given: Record<string, unknown>,
): Record<string, unknown> {
  const merged = { ...base, ...given };
  for (const key of ["envKwargs", "evaluationEnvKwargs"]) {
    if (given[key] === undefined) continue;
    const before = base[key] as object;
    const both = Object.entries({ ...before, ...given[key] as object });
    merged[key] = Object.fromEntries(
      both.filter(([name, it]) => it !== null || !Object.hasOwn(before, name)),
    );
  }
  return merged;
}

/**
 * Names the preset that a run starts from.
 *
 * @param algorithm Algorithm that the preset is of.
 * @param given The preset of the command line, if any, and the environment.
 * @returns Its name; `undefined` for the defaults alone.
 */
export function presetFor(
  { presets }: AlgorithmDefinition,
  { preset, env }: { preset?: string; env: string },
): string | undefined {
  if (preset === NO_PRESET) return undefined;
  return preset ??
    [env, familyOf(env)].find((it) => Object.hasOwn(presets, it));
}

function presetEntries(
  algorithm: AlgorithmDefinition,
  given: { preset?: string; env: string },
): Entries {
  const name = presetFor(algorithm, given);
  if (name === undefined) return { entries: [], origin: "no preset" };
  const origin = `preset ${name}`;
  return { entries: parseMapping(findPreset(algorithm, name), origin), origin };
}

/**
 * Merges a configuration: defaults, then the preset or the file, then the command
 * line.
 *
 * @param command Algorithm that the command names, if any.
 * @param sources Sources of the values.
 * @param options With `isOpen`, the algorithm's settings are taken as they are
 * where there are `algorithmModules`, which may bring it or its network.
 * @throws {UsageError} If a key or a value is not valid, or two sources name
 * different algorithms.
 */
export function resolveConfig(
  command: string | undefined,
  sources: ConfigSources,
  options: { isOpen?: boolean } = {},
): ResolvedConfig {
  return resolved(command, sources, options).config;
}

function resolved(
  command: string | undefined,
  sources: ConfigSources,
  { isOpen = false }: { isOpen?: boolean },
): Resolved {
  const { entries } = sources;
  const text = sources.file === undefined ? undefined : {
    entries: parseMapping(sources.file.text, sources.file.name),
    origin: sources.file.name,
  };
  const { name, place } = namedAlgorithm(command, { entries, file: text });
  const file = text && settingsIn(text, { entries, algorithm: name });
  const all = [...file?.entries ?? [], ...entries];
  const given = all.map(([name]) => name);
  if (isOpen && nameModules(all)) {
    const none = { entries: [], origin: "no file" };
    return {
      config: merged({ name, base: () => file ?? none, entries }),
      given,
    };
  }
  const algorithm = findAlgorithm(name);
  if (algorithm === undefined) throw unknownAlgorithm(name, place);
  const { preset } = sources;
  const base = (env: string) =>
    file ?? presetEntries(algorithm, { preset, env });
  return { config: merged({ name, algorithm, base, entries }), given };
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
  return { origin, entries: translated, defaults: ZOO_DEFAULTS[algorithm] };
}

/** Merges defaults, a preset or file, and the command line. */
function merged(
  { name, algorithm, base, entries }: {
    name: string;
    /** Left out where it is not known yet. */
    algorithm?: AlgorithmDefinition;
    /** Finds the preset or the file. */
    base: (env: string) => Entries;
    entries: Entry[];
  },
): ResolvedConfig {
  const schema = algorithm === undefined
    ? runConfigSchema
    : fullSchema(algorithm);
  const isOpen = algorithm === undefined;
  const defaults = {
    ...defaultsOf<ResolvedConfig>(schema),
    ...algorithm?.runDefaults,
  };
  const given = validateEntries(entries, {
    schema,
    origin: "the command line",
    isOpen,
  });
  const file = base(String(given.env ?? defaults.env));
  const lasting = isOpen ? file.entries : withoutEpochs(file.entries, schema);
  const fromFile = validateEntries(lasting, {
    schema,
    origin: file.origin,
    isOpen,
  });
  const weaker = { ...defaults, ...file.defaults, ...fromFile };
  const config = {
    ...withOptions(weaker, given),
    algorithm: name,
  } as ResolvedConfig;
  wrappersOf(config); // Throws where they cannot be.
  if (config.loop !== "device" && config.numEnvs > MOST_HOSTED) {
    throw new UsageError(
      `Cannot use numEnvs = ${config.numEnvs} with loop: host: expected at most ${MOST_HOSTED}, or loop: device`,
    );
  }
  return config;
}

/** Leaves out `epochs` of runs of before, where it says no more than their `totalTimesteps`. */
function withoutEpochs(entries: Entry[], schema: ConfigSchema): Entry[] {
  if (findKey(schema, "epochs") !== undefined) return entries;
  const { epochs, evaluationInterval, totalTimesteps } = Object
    .fromEntries(entries) as Record<string, unknown>;
  const isLength =
    Number(epochs) * Number(evaluationInterval) === totalTimesteps;
  return epochs === null || isLength
    ? entries.filter(([name]) => name !== "epochs")
    : entries;
}

/** Most environments that are stepped one after the other. */
const MOST_HOSTED = 4096;

/** Imports the modules that may bring the algorithm of a configuration. */
async function importAlgorithmModules(
  config: ResolvedConfig,
): Promise<string[]> {
  const urls = await importModules(config, "algorithmModules");
  const { algorithm } = config;
  const [why] = idleModules(config, "algorithmModules");
  if (why === undefined || findAlgorithm(algorithm) !== undefined) return urls;
  throw new UsageError(`Unknown algorithm '${algorithm}': ${why}`);
}

/**
 * Imports the algorithms and networks of the user's own that a configuration
 * names, and checks the settings that they alone know.
 *
 * @throws {UsageError} If a module cannot be imported or lacks the algorithm, or
 * a setting is not valid.
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

/** Options that choose a configuration. */
export const CONFIG_OPTIONS: readonly OptionSpec[] = [
  option("env ID", "Environment id; 'list' prints them."),
  option(
    "preset NAME",
    "Start from a preset, or from the defaults (none); by default the environment's own.",
  ),
  option(
    "config FILE.yaml",
    "Start from a configuration file instead of a preset.",
  ),
  option("seed N", "Root seed of all random streams."),
  option("steps N", "Environment steps to train for."),
  option(
    "workers N",
    "Workers that learn (a3c, async-...), or groups of environments.",
  ),
  option(
    "engine NAME",
    "Engine that acts and learns: auto, onnx or xla (compiled) or eager.",
  ),
  option(
    "backend NAME",
    "Backend of the eager engine: auto, tensorflow, wasm or cpu.",
  ),
  option(
    "every N",
    "Record a video every N steps, and of the best agent, for the report.",
  ),
  option(
    "set KEY=VALUE",
    "Set a configuration key; may be given more than once.",
    { repeat: true },
  ),
];

/** Options for one configuration key each, most of them of the same name. */
const SHORTHANDS: readonly [name: string, key: string][] = [
  ["env", "env"],
  ["seed", "seed"],
  ["steps", "totalTimesteps"],
  ["workers", "workers"],
  ["engine", "engine"],
  ["backend", "backend"],
  ["every", "videoInterval"],
];

/** Options with a name as their value, which is not parsed as YAML. */
const NAMES: ReadonlySet<string> = new Set(["env", "engine", "backend"]);

/** Parses a value as YAML: `0.5`, `null`, `[64, 64]`. */
function parseValue(text: string, origin: string): unknown {
  try {
    return parseYaml(text);
  } catch {
    throw new UsageError(
      `Cannot read the value of ${origin}: expected a YAML value such as 0.5, linear or [64, 64]`,
    );
  }
}

function parseAssignment(text: string): Entry {
  const at = text.indexOf("=");
  if (text.slice(0, Math.max(at, 0)).trim() === "") {
    throw new UsageError(
      `Cannot read '--set ${text}': expected KEY=VALUE, as in '--set numEnvs=8'`,
    );
  }
  const key = text.slice(0, at).trim();
  const flag = `--set ${text}`;
  return [key, parseValue(text.slice(at + 1), `'${flag}'`), flag];
}

function commandLineEntries(options: ParsedOptions): Entry[] {
  const entries: Entry[] = [];
  for (const [name, key] of SHORTHANDS) {
    const text = valueOf(options, name);
    if (text === undefined) continue;
    const flag = `--${name}`;
    const value = NAMES.has(name) ? text : parseValue(text, `'${flag}'`);
    entries.push([key, value, flag]);
  }
  const assignments = options.values.get("set") ?? [];
  return [...entries, ...assignments.map(parseAssignment)];
}

/**
 * Imports the algorithms of the user's own that `--set` names, for help and lists.
 */
export async function importAlgorithms(options: ParsedOptions): Promise<void> {
  const named = commandLineEntries(options)
    .filter(([name]) => findKey(runConfigSchema, name) === "algorithmModules");
  const schema = runConfigSchema, origin = "the command line";
  const { algorithmModules = [] } = validateEntries(named, { schema, origin });
  const modules = { algorithmModules: algorithmModules as string[] };
  await importModules({ ...modules, envModules: [] }, "algorithmModules");
}

/** Most bytes of a file of settings. */
const MOST_BYTES = 1 << 26;

/** Reads a text file, or fails with one line that names it. */
export function readText(path: string, what: string): string {
  try {
    const file = openPlainSync(path, "read");
    try {
      const { size } = fstatSync(file);
      if (size > MOST_BYTES) {
        throw new Error(`it has ${size} bytes, expected some thousand`);
      }
      return readFileSync(file, "utf8");
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const why = messageOf(error).replace(`Cannot open ${path}: `, "");
    throw new UsageError(
      `Cannot read ${what} ${path}: ${fileProblem(error) ?? why}`,
      { cause: error },
    );
  }
}

/**
 * Resolves the configuration of a command line, and imports the algorithms of the
 * user's own that it names.
 *
 * @param algorithm Algorithm that the command names, if any.
 * @param options Options of the command.
 * @param hooks `onFile` takes the configuration before anything of a file's is
 * imported, `onNotice` lines that the user should see.
 */
export async function configFromOptions(
  algorithm: string | undefined,
  options: ParsedOptions,
  { onFile, onNotice }: {
    onFile: (config: ResolvedConfig) => void;
    onNotice: (line: string) => void;
  },
): Promise<ResolvedConfig> {
  const path = valueOf(options, "config");
  const preset = valueOf(options, "preset");
  if (path !== undefined && preset !== undefined) {
    throw new UsageError(
      "Cannot use both --preset and --config: give one of them",
    );
  }
  const file = path === undefined
    ? undefined
    : { name: path, text: readText(path, "the configuration file") };
  const sources = { preset, file, entries: commandLineEntries(options) };
  const open = resolveConfig(algorithm, sources, { isOpen: true });
  if (file !== undefined) onFile(open);
  await importAlgorithmModules(open);
  // With the settings and the presets that the modules have brought.
  const { config, given } = resolved(algorithm, sources, {});
  for (const key of ["stopReward", "patience"] as const) {
    if (config[key] === null || config.evaluationInterval !== 0) continue;
    throw new UsageError(
      `Cannot stop by ${key} with evaluationInterval = 0: expected the steps between evaluations`,
    );
  }
  const schema = fullSchema(findAlgorithm(config.algorithm)!);
  idleLines(config, { schema, given }).forEach(onNotice);
  return config;
}
