/**
 * Settings of a run: algorithms, presets, files and their checks.
 *
 * @module
 */
export { ALGORITHMS, findAlgorithm, registerAlgorithm } from "./algorithms.ts";
export { type ClusterOptions, type RunCluster } from "./cluster.ts";
export { isGymnasium } from "./gymnasium.ts";
export { type RegisteredRun, registerLogger } from "./loggers.ts";
export { importModules } from "./modules.ts";
export {
  type ConfigSources,
  fullSchema,
  importAlgorithmModules,
  presetFor,
  resolveConfig,
  type ResolvedConfig,
  resolveWithModules,
  settingKey,
} from "./resolve.ts";
export { type RunConfig } from "./run_config.ts";
export { hintAtOption, runConfigSchema, runSchema } from "./schema.ts";
export { type Entry, validateEntries } from "./settings.ts";
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
export { runDirOf, ZOO, zooAgents } from "./zoo_agents.ts";
