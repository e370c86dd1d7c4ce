import { findKey } from "@bellman/agent";
import { readText, UsageError } from "@bellman/runs/program";
import {
  option,
  type OptionSpec,
  type ParsedOptions,
  valueOf,
} from "../terminal/command.ts";
import {
  type ConfigSources,
  type Entry,
  importAlgorithmModules,
  parseYaml,
  runConfigSchema,
  validateEntries,
} from "@bellman/runs/settings";

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
  option("data PATH", "Recorded episodes to learn from, as of 'record'."),
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
  ["data", "data"],
  ["seed", "seed"],
  ["steps", "totalTimesteps"],
  ["workers", "workers"],
  ["engine", "engine"],
  ["backend", "backend"],
  ["every", "videoInterval"],
];

/** Options with a name as their value, which is not parsed as YAML. */
const NAMES: ReadonlySet<string> = new Set([
  "env",
  "data",
  "engine",
  "backend",
]);

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

/** Parses `KEY=VALUE` as `--set` has it. */
export function parseAssignment(text: string): Entry {
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

/** Lists the settings that a command line gives, by their keys. */
export function commandLineEntries(options: ParsedOptions): Entry[] {
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
  await importAlgorithmModules({
    algorithmModules: algorithmModules as string[],
  });
}

/** Returns the sources of a configuration that a command line names. */
export function sourcesOf(options: ParsedOptions): ConfigSources {
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
  return { preset, file, entries: commandLineEntries(options) };
}

/** Returns the prefix of the new folder's name, if one is given. */
export function folderWords(options: ParsedOptions): string | undefined {
  const name = valueOf(options, "name");
  if (name === undefined) return undefined;
  if (valueOf(options, "out") !== undefined) {
    throw new UsageError(
      "Cannot use both --name and --out: --name is for a folder under runs/, give one of them",
    );
  }
  if (/^\w[\w.-]{0,99}$/.test(name)) return name;
  throw new UsageError(
    `Cannot use --name ${name}: expected up to 100 letters, digits, '-', '_' and '.' that begin with a letter, a digit or '_'`,
  );
}

/** Option that admits code, files and links of others. */
export const TRUST_OPTION: OptionSpec = option(
  "trust",
  "Allow the code, files and links that a run names outside of the project.",
);
