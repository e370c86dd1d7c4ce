import { parse } from "@std/yaml";
import { type OptionSpec, type ParsedOptions, valueOf } from "../args.ts";
import { fileProblem, messageOf } from "../input_errors.ts";
import { UsageError } from "../usage_error.ts";
import { resolveConfig, type ResolvedConfig } from "./resolve.ts";
import type { Entry } from "./validate.ts";

/** The options that choose a configuration. */
export const CONFIG_OPTIONS: readonly OptionSpec[] = [
  { name: "env", value: "ID", help: "Environment, as 'list' prints them." },
  {
    name: "preset",
    value: "NAME",
    help: "Start from a preset; without one, the environment's own is taken.",
  },
  {
    name: "config",
    value: "FILE.yaml",
    help: "Start from a configuration file instead of a preset.",
  },
  { name: "seed", value: "N", help: "Root seed of every random stream." },
  { name: "steps", value: "N", help: "Environment steps to train for." },
  {
    name: "engine",
    value: "NAME",
    help: "What acts and learns: auto, onnx (compiled) or eager.",
  },
  {
    name: "backend",
    value: "NAME",
    help: "What computes eager tensors: auto, tensorflow, wasm or cpu.",
  },
  {
    name: "set",
    value: "KEY=VALUE",
    repeat: true,
    help: "Set a configuration key; may be given more than once.",
  },
];

/** Options that stand for one configuration key each. */
const SHORTHANDS: Readonly<Record<string, string>> = {
  env: "env",
  seed: "seed",
  steps: "totalTimesteps",
  engine: "engine",
  backend: "backend",
};

/** Options whose value is a name, whatever YAML would make of it. */
const NAMES: ReadonlySet<string> = new Set(["env", "engine", "backend"]);

/** Reads a value as YAML does, so that `0.5`, `null` and `[64, 64]` work. */
function parseValue(text: string, origin: string): unknown {
  try {
    return parse(text);
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
  const option = `--set ${text}`;
  return [key, parseValue(text.slice(at + 1), `'${option}'`), option];
}

function commandLineEntries(options: ParsedOptions): Entry[] {
  const entries: Entry[] = [];
  for (const [name, key] of Object.entries(SHORTHANDS)) {
    const text = valueOf(options, name);
    if (text === undefined) continue;
    const option = `--${name}`;
    const value = NAMES.has(name) ? text : parseValue(text, `'${option}'`);
    entries.push([key, value, option]);
  }
  const assignments = options.values.get("set") ?? [];
  return [...entries, ...assignments.map(parseAssignment)];
}

/** Reads a text file; one that is missing or unreadable is one clear line. */
export async function readText(path: string, what: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    throw new UsageError(
      `Cannot read ${what} ${path}: ${fileProblem(error) ?? messageOf(error)}`,
      { cause: error },
    );
  }
}

/**
 * Puts together the configuration that a command line describes.
 *
 * @param algorithm The algorithm that it names, if it does.
 * @param options Its options.
 */
export async function configFromOptions(
  algorithm: string | undefined,
  options: ParsedOptions,
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
    : { name: path, text: await readText(path, "the configuration file") };
  const entries = commandLineEntries(options);
  const config = resolveConfig(algorithm, { preset, file, entries });
  for (const key of ["stopReward", "patience"] as const) {
    if (config[key] === null || config.evaluationInterval > 0) continue;
    throw new UsageError(
      `Cannot stop by ${key} with evaluationInterval = 0: expected the steps between evaluations`,
    );
  }
  return config;
}
