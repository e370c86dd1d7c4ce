/**
 * Settings of runs: algorithms and loggers, presets and files, and validation.
 *
 * @example
 * ```ts
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * const entries: [string, unknown][] = [["env", "CartPole-v1"], ["lr", 0.01]];
 * const { numEnvs, learningRate } = resolveConfig("a2c", { entries });
 * assertEquals([numEnvs, learningRate], [8, 0.01]);
 * ```
 *
 * @module
 */
export { ALGORITHMS, findAlgorithm, registerAlgorithm } from "./algorithms.ts";
export { type ClusterOptions, type RunCluster } from "./cluster.ts";
export { type RegisteredRun, registerLogger } from "./loggers.ts";
export {
  type ConfigSources,
  fullSchema,
  importAlgorithmModules,
  presetFor,
  resolveConfig,
  type ResolvedConfig,
  type ResolveOptions,
  resolveWithModules,
  settingKey,
} from "./resolve.ts";
export { type RunConfig } from "./run_config.ts";
export { hintAtOption, runConfigSchema, runSchema } from "./schema.ts";
export { type Entry, validateEntries, type Validation } from "./settings.ts";
export {
  AGENT_FILE,
  agentName,
  EVALUATIONS_CSV,
  isShared,
  logOf,
  MODULES_FOLDER,
  outputPath,
} from "./shared_folder.ts";
export { parseMapping, parseYaml, writeYaml } from "./yaml.ts";
export { runDirOf, ZOO, type ZooAgent, zooAgents } from "./zoo_agents.ts";
