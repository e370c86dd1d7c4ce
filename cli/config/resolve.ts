import { parse } from "@std/yaml";
import { UsageError } from "../usage_error.ts";
import { type AlgorithmName, ALGORITHMS } from "../algorithms.ts";
import { nearest } from "./schema.ts";
import type { RunConfig } from "./run_config.ts";
import { runConfigSchema } from "./run_config_schema.ts";
import { type Entry, validateEntries } from "./validate.ts";
import type { ConfigSchema } from "./schema.ts";

/** A run's whole configuration: one flat mapping of every key. */
export type ResolvedConfig = RunConfig & Record<string, unknown>;

/** Where the values of a configuration come from, weakest first. */
export interface ConfigSources {
  /** Name of a preset; without one the environment's own is taken. */
  preset?: string;
  /** A configuration file's text and name, instead of a preset. */
  file?: { name: string; text: string };
  /** What the command line gave, key by key. */
  entries: Entry[];
}

/** The schema of a run of `algorithm`: the run's keys and the algorithm's. */
export function fullSchema(algorithm: AlgorithmName): ConfigSchema {
  return {
    properties: {
      ...runConfigSchema.properties,
      ...ALGORITHMS[algorithm].schema.properties,
    },
  };
}

function defaultsOf(schema: ConfigSchema): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema.properties).map((
      [key, property],
    ) => [key, property.default]),
  );
}

/** Reads a YAML mapping; anything else is one clear line. */
export function parseMapping(text: string, origin: string): Entry[] {
  let value: unknown;
  try {
    value = parse(text);
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

/** The preset called `name`, or one line with the nearest name. */
export function findPreset(algorithm: AlgorithmName, name: string): string {
  const { presets } = ALGORITHMS[algorithm];
  if (Object.hasOwn(presets, name)) return presets[name];
  throw new UsageError(
    `Unknown preset '${name}' of ${algorithm}: did you mean '${
      nearest(name, Object.keys(presets))
    }'?`,
  );
}

/** What a preset for many environments is called: what their ids begin with. */
function familyOf(env: string): string {
  // Names that Atari games had before.
  return /(NoFrameskip|Deterministic)-v\d+$/.test(env)
    ? "ALE"
    : env.split("/")[0];
}

/**
 * Options of an environment are added to those of the preset or the file; null
 * takes one of them away.
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

function presetEntries(
  algorithm: AlgorithmName,
  { preset, env }: { preset?: string; env: string },
): { entries: Entry[]; origin: string } {
  const { presets } = ALGORITHMS[algorithm];
  const name = preset ??
    [env, familyOf(env)].find((it) => Object.hasOwn(presets, it));
  if (name === undefined) return { entries: [], origin: "no preset" };
  const origin = `preset ${name}`;
  return { entries: parseMapping(findPreset(algorithm, name), origin), origin };
}

/**
 * Puts a configuration together: defaults, then the preset or the file, then
 * what the command line says.
 */
export function resolveConfig(
  algorithm: AlgorithmName,
  sources: ConfigSources,
): ResolvedConfig {
  const schema = fullSchema(algorithm);
  const defaults = {
    ...defaultsOf(schema),
    ...ALGORITHMS[algorithm].runDefaults,
  };
  const origin = "the command line";
  const given = validateEntries(sources.entries, { schema, origin });
  const base = sources.file === undefined
    ? presetEntries(algorithm, {
      preset: sources.preset,
      env: String(given.env ?? defaults.env),
    })
    : {
      entries: parseMapping(sources.file.text, sources.file.name),
      origin: sources.file.name,
    };
  const fromBase = validateEntries(base.entries, {
    schema,
    origin: base.origin,
  });
  const resolved = {
    ...withOptions({ ...defaults, ...fromBase }, given),
    algorithm,
  };
  return withEpochs(resolved as ResolvedConfig);
}

/** The length of a run that is given in evaluation intervals. */
function withEpochs(config: ResolvedConfig): ResolvedConfig {
  const { epochs, evaluationInterval } = config;
  if (epochs === null) return config;
  if (evaluationInterval === 0) {
    throw new UsageError(
      `Cannot run for ${epochs} epochs with evaluationInterval = 0: expected the steps of an epoch`,
    );
  }
  return { ...config, totalTimesteps: epochs * evaluationInterval };
}
