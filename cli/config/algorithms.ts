import { a2c } from "@bellman/a2c";
import {
  Agent,
  type AgentOptions,
  type AgentSpaces,
  type AlgorithmDefinition,
} from "@bellman/agent";
import {
  SAC,
  type SacConfig,
  sacConfigSchema,
  type SacNormalization,
  sacPresets,
} from "@bellman/sac";
import type { Algorithm } from "@bellman/types";

/** SAC, until it is a definition itself. */
const sac: AlgorithmDefinition = {
  name: "sac",
  summary: "Soft actor-critic, off-policy (Haarnoja et al. 2018)",
  schema: sacConfigSchema,
  presets: sacPresets,
  runDefaults: { numEnvs: 1 },
  hasReplay: true,
  build: () => {
    throw new TypeError("Cannot build the parts of SAC");
  },
};

const algorithms: AlgorithmDefinition[] = [
  a2c,
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

/** Makes an agent of an algorithm. */
export function makeAgent(
  definition: AlgorithmDefinition,
  spaces: AgentSpaces,
  options: AgentOptions,
): Algorithm {
  return definition === sac
    ? new SAC(spaces, {
      ...options as AgentOptions<SacConfig>,
      normalization: options.normalization as SacNormalization,
    })
    : new Agent(definition, spaces, options);
}
