import { a2c } from "@bellman/a2c";
import { acer } from "@bellman/acer";
import { acktr } from "@bellman/acktr";
import type { AlgorithmDefinition } from "@bellman/agent";
import { asyncAlgorithms } from "@bellman/async";
import { sac } from "@bellman/sac";

const algorithms: AlgorithmDefinition[] = [
  a2c,
  acer,
  acktr,
  ...asyncAlgorithms,
  sac,
];

/**
 * All algorithms, in the order in which lists show them. Commands, help,
 * presets and benches know an algorithm by its entry here alone.
 */
export const ALGORITHMS: readonly AlgorithmDefinition[] = algorithms;

/**
 * Adds an algorithm of your own to the command line.
 *
 * @param definition The algorithm.
 * @throws {TypeError} If there is one of that name.
 *
 * @example
 * ```ts
 * import { a2c } from "@bellman/a2c";
 * import { registerAlgorithm, run } from "@bellman/cli";
 * import { assertEquals } from "@std/assert";
 *
 * registerAlgorithm({ ...a2c, name: "mine", runDefaults: { numEnvs: 2 } });
 * const out = `${await Deno.makeTempDir()}/run`;
 * const args = ["train", "mine", "--steps", "100", "--quiet", "--out", out];
 * assertEquals(await run(args), 0);
 * ```
 */
export function registerAlgorithm(definition: AlgorithmDefinition): void {
  const { name } = definition;
  if (findAlgorithm(name) !== undefined) {
    throw new TypeError(
      `Cannot register the algorithm '${name}': there is one of that name`,
    );
  }
  algorithms.push(definition);
}

/** Finds an algorithm by its name. */
export function findAlgorithm(name: string): AlgorithmDefinition | undefined {
  return algorithms.find((it) => it.name === name);
}
