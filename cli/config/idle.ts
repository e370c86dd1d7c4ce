import type { ConfigSchema } from "@bellman/agent";
import { findAlgorithm } from "./algorithms.ts";
import type { RunConfig } from "./run_config.ts";
import { findKey } from "./schema.ts";

/** Settings that were given. */
interface GivenSettings {
  readonly schema: ConfigSchema;
  /** Names of those that the command line or a file gives. */
  readonly given: readonly string[];
}

/** Tells of given settings without effect beside the others. */
export function idleLines(
  config: RunConfig & Record<string, unknown>,
  { schema, given }: GivenSettings,
): string[] {
  const { name, idle, isGreedy } = findAlgorithm(config.algorithm)!;
  const keys = new Set(given.map((it) => findKey(schema, it)));
  const lines = Object.entries(idle?.(config) ?? {})
    .filter(([key]) => keys.has(key) && config[key] !== null)
    .map(([key, why]) => `${key} does nothing here: ${why}`);
  return isGreedy && !config.evaluationDeterministic
    ? [
      ...lines,
      `evaluationDeterministic: false does nothing here: ${name} has nothing to sample, evaluations take the best action`,
    ]
    : lines;
}
