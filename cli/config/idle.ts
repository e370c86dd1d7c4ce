import type { AlgorithmDefinition, ConfigSchema } from "@bellman/agent";
import { findKey } from "./schema.ts";

/** Settings of a run, and those that were given. */
interface GivenSettings {
  /** All settings. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly schema: ConfigSchema;
  /** Names of those that the command line or a file gives. */
  readonly given: readonly string[];
}

/** Tells of given settings that do nothing beside the others. */
export function idleLines(
  { name, idle, isGreedy }: AlgorithmDefinition,
  { config, schema, given }: GivenSettings,
): string[] {
  const keys = new Set(given.map((it) => findKey(schema, it)));
  const lines = Object.entries(idle?.(config) ?? {})
    .filter(([key]) => keys.has(key) && config[key] !== null)
    .map(([key, why]) => `${key} does nothing here: ${why}`);
  return isGreedy && config.evaluationDeterministic === false
    ? [
      ...lines,
      `evaluationDeterministic: false does nothing here: ${name} has nothing to sample, evaluations take the best action`,
    ]
    : lines;
}
