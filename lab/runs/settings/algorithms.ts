import { a2c } from "@bellman/a2c";
import { acer } from "@bellman/acer";
import { acktr } from "@bellman/acktr";
import { type Algorithm, aliasesOf, type ConfigSchema } from "@bellman/agent";
import { asyncAlgorithms } from "@bellman/async";
import { dqn } from "@bellman/dqn";
import { bc, iql } from "@bellman/offline";
import { ppo } from "@bellman/ppo";
import { sac } from "@bellman/sac";
import { sacV1 } from "@bellman/sac-v1";
import { ddpg, td3 } from "@bellman/td3";
import { addStatistics } from "@bellman/training";
import run from "./run_config.schema.json" with { type: "json" };

const algorithms: Algorithm[] = [
  a2c,
  acer,
  acktr,
  ...asyncAlgorithms,
  dqn,
  ppo,
  sac,
  sacV1,
  td3,
  ddpg,
  bc,
  iql,
];

for (const { meta } of algorithms) addStatistics(meta.statistics ?? {});

/**
 * All algorithms, in display order. Commands, help, presets and benches know an
 * algorithm only by its entry here.
 */
export const ALGORITHMS: readonly Algorithm[] = algorithms;

/** Names that are valid folder names and command-line arguments. */
const PLAIN_NAME = /^[a-z0-9][\w.-]*$/i;

/**
 * Registers a custom algorithm, which runs then name as any other. The module that
 * calls this is named in `algorithmModules`.
 *
 * @param algorithm The algorithm.
 * @throws {TypeError} If its name is invalid or in use, or one of its settings is a
 * setting of all runs.
 *
 * @example
 * ```ts
 * import { a2c } from "@bellman/a2c";
 * import { trainRun } from "@bellman/runs";
 * import { registerAlgorithm } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * registerAlgorithm({
 *   ...a2c,
 *   meta: { ...a2c.meta, name: "mine", runDefaults: { numEnvs: 2 } },
 * });
 * const dir = `${await Deno.makeTempDir()}/run`;
 * const settings = { algorithm: "mine", totalTimesteps: 100 };
 * const { record } = await trainRun(settings, { dir });
 * assertEquals(record.settings.algorithm, "mine");
 * ```
 */
export function registerAlgorithm(algorithm: Algorithm): void {
  const { name, schema, statistics = {} } = algorithm.meta;
  const refuse = (why: string) =>
    new TypeError(`Cannot register the algorithm '${name}': ${why}`);
  if (!PLAIN_NAME.test(name)) {
    throw refuse("expected a name of letters, digits, '-', '_' and '.'");
  }
  if (findAlgorithm(name) !== undefined) {
    throw refuse("there is one of that name");
  }
  const taken = takenName(schema);
  if (taken !== undefined) {
    throw refuse(`its setting '${taken}' is one of every run`);
  }
  algorithms.push(algorithm);
  addStatistics(statistics);
}

/** Finds a setting of an algorithm that has the name of a setting of all runs. */
export function takenName(schema: ConfigSchema): string | undefined {
  const taken = new Set(namesOf(run));
  return namesOf(schema).find((name) => taken.has(name));
}

/** Lists the names of settings, including aliases. */
function namesOf({ properties }: ConfigSchema): string[] {
  return Object.entries(properties)
    .flatMap(([key, property]) => [key, ...aliasesOf(property)]);
}

/**
 * Finds an algorithm by its name.
 *
 * @example
 * ```ts
 * import { findAlgorithm } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(findAlgorithm("ppo")?.meta.title, "PPO");
 * ```
 */
export function findAlgorithm(name: string): Algorithm | undefined {
  return algorithms.find((it) => it.meta.name === name);
}
