import {
  Agent,
  type Algorithm,
  DeviceAgent,
  unusedLines,
} from "@bellman/agent";
import {
  type BackendInfo,
  type BackendName,
  type EngineInfo,
  selectBackend,
  selectEngine,
} from "@bellman/compute";
import { isXlaInstalled } from "@bellman/compute/xla";
import { describeSpace, spacesEqual } from "@bellman/envs";
import { gameOf, RoleAgents, type RolesVecEnv } from "@bellman/envs/games";
import { tensorVecEnv } from "@bellman/envs/tensor";
import type {
  GoalFunctions,
  SteppingAlgorithm,
  Trainable,
} from "@bellman/types";
import { findAlgorithm } from "../settings/algorithms.ts";
import { absoluteWrappers, isPython } from "../settings/gymnasium.ts";
import { idleModules } from "../settings/modules.ts";
import { type ResolvedConfig, withOwnAlgorithm } from "../settings/resolve.ts";
import { runConfigSchema } from "../settings/schema.ts";
import { refuseFormer } from "../settings/settings.ts";
import { messageOf, UsageError } from "../program/errors.ts";
import type { Dataset } from "@bellman/buffers/datasets";
import { loadEnvironment, milliseconds } from "./environment_modules.ts";
import {
  type Environments,
  type EnvironmentSpaces,
  evaluationEnvsFor,
  groupsOf,
  type Hosting,
  infoStatisticsOf,
  makeEnvironments,
} from "./environments.ts";
import { absolutePaths, checkGame } from "./games.ts";
import { checkData, dataOf, learnsFromData, scaleByData } from "./data.ts";
import { memoryError } from "./memory.ts";
// Loaded by its address in the workers, which packing for npm does not follow.
import "./worker_environment.ts";

/** Environments and agent of a configuration. */
export interface RunSetup {
  /** Settings, including those chosen for this machine. */
  config: ResolvedConfig;
  /** Description of the engine. */
  engine: string;
  /** Environments to train on and to evaluate in. */
  environments: Environments;
  /** Recorded episodes that are learned from. */
  data?: Dataset;
  /** The agent. */
  algorithm: Trainable | SteppingAlgorithm;
  /** Describes the current speed of learning workers. */
  speed?: () => string;
  /** Frees the agent and the environments. */
  close(): void;
}

/** Returns a configuration for any machine: a compiled agent may act eagerly. */
export function onAnyEngine(config: ResolvedConfig): ResolvedConfig {
  return config.engine === "eager"
    ? config
    : { ...config, engine: "auto", backend: "auto", plugin: null };
}

/** Returns a configuration with another engine, if given, on any device. */
export function withEngine(
  config: ResolvedConfig,
  engine: ResolvedConfig["engine"] | undefined,
): ResolvedConfig {
  return engine === undefined
    ? config
    : { ...config, engine, backend: "auto", plugin: null };
}

/** Selects engine and backend; a named backend implies the eager engine. */
async function selectCompute(
  config: ResolvedConfig,
  onNotice: (line: string) => void,
): Promise<{ engine: EngineInfo; backend: BackendInfo }> {
  const isNamed = config.backend !== "auto";
  // On CPUs the device loop is faster with it, too.
  const isLoop = config.loop === "device" && isXlaInstalled();
  const auto = isNamed ? "eager" : isLoop ? "xla" : "auto";
  try {
    const engine = selectEngine(
      config.engine === "auto" ? auto : config.engine,
      { onNotice },
    );
    checkPlugin(config, pluginOf(engine));
    // Compiled functions need a backend only for their initial parameters.
    const isCompiled = engine.name !== "eager" && !isNamed;
    const backend: BackendName = isCompiled ? "cpu" : config.backend;
    return { engine, backend: await selectBackend(backend, { onNotice }) };
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}

/** Names the plugin and device of XLA. */
function pluginOf({ name, library, device }: EngineInfo): string | null {
  return name === "xla" ? `${library} on ${device}` : null;
}

/** Throws if plugin or device differ from the run's: its numbers would differ. */
function checkPlugin(
  { plugin }: ResolvedConfig,
  present: string | null,
): void {
  if (plugin === null || plugin === present) return;
  throw new UsageError(
    `Cannot resume with ${
      present ?? "another engine"
    }: the run was made with ${plugin}; name an engine with --engine to take it all the same`,
  );
}

/** Makes the environments; missing software counts as invalid input. */
async function requestedEnvironments(
  ...[config, hosting]: Parameters<typeof makeEnvironments>
): Promise<Environments> {
  let environments: Environments | undefined;
  try {
    environments = await makeEnvironments(config, hosting);
    if (hosting.spaces === undefined) {
      checkEvaluation(config, environments, hosting);
    }
    return environments;
  } catch (error) {
    environments?.close();
    const message = messageOf(error);
    // Other errors need not name the environment.
    const isOwn = /^(Cannot|Unknown|Wrong) /.test(message);
    throw new UsageError(
      isOwn ? message : `Cannot make the environment ${config.env}: ${message}`,
      { cause: error },
    );
  }
}

/**
 * Checks that evaluation environments with other options can be made and have fitting
 * spaces.
 */
function checkEvaluation(
  { evaluationEnvKwargs, vectorization }: ResolvedConfig,
  { training, evaluation }: Environments,
  { evaluationEnvs = 0 }: Hosting,
): void {
  if (Object.keys(evaluationEnvKwargs).length === 0) return;
  const isHosted = vectorization !== "sync";
  if (isHosted && evaluationEnvs === 0) return;
  const env = evaluation(isHosted ? evaluationEnvs : 1);
  env.close();
  for (const space of ["observationSpace", "actionSpace"] as const) {
    const [theirs, ours] = [env[space], training[space]];
    if (spacesEqual(theirs, ours)) continue;
    throw new TypeError(
      `Cannot evaluate with these evaluationEnvKwargs: the ${space} is ${
        describeSpace(theirs)
      }, expected ${describeSpace(ours)} as in training`,
    );
  }
}

/** Engine and backend of a run. */
type Compute = Awaited<ReturnType<typeof selectCompute>>;

/** Inputs of an agent. */
interface AgentSource
  extends Pick<Hosting, "onNotice" | "imports" | "cluster"> {
  config: ResolvedConfig;
  environments: Environments;
  compute: Compute;
  isForEvaluation: boolean;
  /** Recorded episodes to learn from. */
  data?: Dataset;
}

/** Agent with settings for its run. */
interface MadeAgent extends Pick<RunSetup, "algorithm" | "speed"> {
  /** Number of workers or groups, which a run keeps on any machine. */
  workers?: number | null;
}

/**
 * Makes the environments and the agent of a configuration.
 *
 * @param config The configuration.
 * @param onNotice Receives lines for the user.
 * @param options Placement of environments; by default for training, with as many
 * evaluation environments as the configuration needs.
 */
export async function setUpRun(
  requested: ResolvedConfig,
  onNotice: (line: string) => void,
  {
    isForEvaluation = false,
    evaluationEnvs = isForEvaluation
      ? 0
      : evaluationEnvsFor(requested.evaluationEpisodes),
    ...hosting
  }: Omit<Hosting, "imports" | "onNotice"> = {},
): Promise<RunSetup> {
  const loaded = await withOwnAlgorithm(requested);
  const { startWorkers, meta } = findAlgorithm(loaded.algorithm)!;
  if (!isForEvaluation) refuseFormer(loaded, meta.schema);
  if (loaded.loop === "device") checkLoop(loaded);
  const config = startWorkers === undefined ? loaded : ofOneWorker(loaded);
  const { cluster } = hosting;
  const imports = hosting.spaces === undefined
    ? await loadEnvironment(config)
    : [];
  // Names of Python modules are not URLs.
  const keys = isPython(config.env)
    ? ["algorithmModules"] as const
    : ["algorithmModules", "envModules"] as const;
  keys.flatMap((key) => idleModules(requested, key)).forEach(onNotice);
  const environments = await requestedEnvironments(config, {
    imports,
    onNotice,
    isForEvaluation,
    evaluationEnvs,
    ...hosting,
  });
  // Paths are relative to the folder where the run was started, wherever it is resumed.
  const envModules = imports.length > 0 ? imports : config.envModules;
  try {
    if (environments.roles === undefined) {
      checkActions(config, environments.spaces);
    }
    const wrappers = absoluteWrappers(config);
    const data = isForEvaluation
      ? undefined
      : await dataOf(config, environments.training);
    const { observations } = environments.normalization ?? {};
    if (data && observations && learnsFromData(config)) {
      scaleByData(data, observations);
    }
    const compute = await selectCompute(config, onNotice);
    const source = {
      config: {
        ...loaded,
        ...{ envModules, wrappers },
        ...absolutePaths(loaded),
      },
      data,
      environments,
      compute,
      onNotice,
      imports,
      isForEvaluation,
      cluster,
    };
    const agent = config.loop === "device"
      ? agentOnDevice(source)
      : environments.roles !== undefined
      ? agentsOfRoles(source, environments.roles)
      : startWorkers === undefined
      ? agentIn(source)
      : await workersOf(source, startWorkers);
    return setupOf(source, agent);
  } catch (error) {
    environments.close();
    throw (isForEvaluation ? undefined : memoryError(error)) ?? error;
  }
}

function setupOf(
  { config, compute: { engine, backend }, environments, data }: AgentSource,
  { algorithm, workers = config.workers, speed }: MadeAgent,
): RunSetup {
  return {
    config: {
      ...config,
      workers,
      engine: engine.name,
      plugin: pluginOf(engine),
      backend: backend.name as ResolvedConfig["backend"],
    },
    engine: engine.name === "eager"
      ? `${engine.description}, on ${backend.description}`
      : engine.description,
    environments,
    data,
    algorithm,
    speed,
    close: () => {
      algorithm.close?.();
      environments.close();
    },
  };
}

/** Throws for nested actions, which no algorithm supports. */
function checkActions(
  { algorithm, env }: ResolvedConfig,
  { actionSpace: { type } }: EnvironmentSpaces,
): void {
  if (type !== "dict" && type !== "tuple") return;
  throw new UsageError(
    `Cannot train ${algorithm} on ${env}, whose actions are a ${type}: expected one box, discrete, multiDiscrete or multiBinary space, which a wrapper can make of it`,
  );
}

/** Returns the settings of the algorithm. */
function ownSettings(config: ResolvedConfig): Record<string, unknown> {
  const { schema } = findAlgorithm(config.algorithm)!.meta;
  const keys = Object.keys(schema.properties);
  return Object.fromEntries(keys.map((key) => [key, config[key]]));
}

/** Spaces and goal functions of an environment. */
type FoundSpaces = EnvironmentSpaces & { readonly goals: GoalFunctions };

/** Makes one environment of a configuration to find the spaces of each policy. */
async function findSpaces(
  config: ResolvedConfig,
  players: Pick<Hosting, "runPlayer">,
): Promise<FoundSpaces[]> {
  const imports = await loadEnvironment(config);
  const environments = await requestedEnvironments(config, {
    imports,
    onNotice: () => {},
    isForEvaluation: true,
    ...players,
  });
  const { roles = { own: environments } } = environments;
  environments.close();
  return Object.values(roles)
    .map(({ training: goals, spaces }) => ({ ...spaces, goals }));
}

/**
 * Makes a check that an algorithm can learn in the environment of a configuration,
 * faster than making an agent. One environment is made for equal requests, as a Python
 * environment takes a second.
 *
 * @param players Finds the players of runs that are opponents in games; without it there
 * are none.
 * @returns A function of a configuration that returns a line for each setting without
 * effect. It throws a UsageError if there is no such environment, and a TypeError if
 * the algorithm or a setting does not fit its spaces.
 *
 * @example
 * ```ts
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { runChecker } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const check = runChecker();
 * assertEquals(await check(resolveConfig("a2c", { entries: [] })), []);
 * ```
 */
export function runChecker(
  players: Pick<Hosting, "runPlayer"> = {},
): (requested: ResolvedConfig) => Promise<string[]> {
  const known = new Map<string, FoundSpaces[]>();
  return async (requested) => {
    const config = await withOwnAlgorithm(requested);
    const { check, meta, startWorkers } = findAlgorithm(config.algorithm)!;
    const takesWorkers = config.vectorization !== "sync" ||
      startWorkers !== undefined;
    const single = {
      ...config,
      numEnvs: 1,
      vectorization: "sync" as const,
      workers: takesWorkers ? null : config.workers,
    };
    const place = { algorithm: meta.hasReplay, seed: 0, totalTimesteps: 0 };
    const asked = Object.keys(runConfigSchema.properties)
      .map((key) => ({ ...single, ...place })[key]);
    const text = JSON.stringify(asked);
    const found = known.get(text) ?? await findSpaces(single, players);
    known.set(text, found);
    checkGame(config);
    checkData(config);
    const { totalTimesteps } = config, settings = ownSettings(config);
    const numEnvs = config.numEnvs / found.length;
    for (const spaces of found) {
      checkActions(config, spaces);
      check?.(settings, { ...spaces, numEnvs, totalTimesteps });
    }
    return unusedLines(meta, settings, found[0]);
  };
}

/** Makes an agent for the environments. */
function agentIn(source: AgentSource): MadeAgent {
  const algorithm = agentOf(source);
  const { training } = source.environments;
  if (!source.isForEvaluation) gameOf(training)?.play(algorithm);
  return { algorithm, workers: groupsOf(source.config) };
}

function agentOf(source: AgentSource): Agent {
  const { config, environments: { training, normalization } } = source;
  return new Agent(findAlgorithm(config.algorithm)!, training, {
    ...agentOptions(source),
    normalization,
    data: source.data,
  });
}

/** Makes an agent for each role of a game. */
function agentsOfRoles(
  source: AgentSource,
  roles: NonNullable<Environments["roles"]>,
): MadeAgent {
  const { config } = source, entries = Object.entries(roles);
  if (findAlgorithm(config.algorithm)!.startWorkers !== undefined) {
    throw new UsageError(
      `Cannot train ${config.algorithm} on the roles ${
        Object.keys(roles).join(", ")
      } of ${config.env}: expected an algorithm of one agent, such as ppo`,
    );
  }
  const agents = entries.map(([role, environments], i) => {
    const totalTimesteps = Math.ceil(config.totalTimesteps / entries.length);
    const own = { ...config, totalTimesteps, seed: config.seed + i };
    return [role, agentOf({ ...source, environments, config: own })] as const;
  });
  if (agents.some(([, { rows }]) => rows !== undefined)) {
    throw new UsageError(
      `Cannot train several roles of ${config.env} with replayStorage: file: expected memory`,
    );
  }
  const training = source.environments.training as RolesVecEnv;
  const algorithm = new RoleAgents(training, Object.fromEntries(agents));
  if (!source.isForEvaluation) training.play(algorithm);
  return { algorithm, workers: groupsOf(config) };
}

/** Returns the common options of all agents. */
function agentOptions(
  { config, compute: { engine }, onNotice, isForEvaluation }: AgentSource,
) {
  const { seed, totalTimesteps, threads } = config;
  return {
    config: ownSettings(config),
    seed,
    totalTimesteps,
    engine: engine.name,
    threads: threads ?? "auto" as const,
    // Warnings about settings without effect are given where they are set.
    onNotice: isForEvaluation ? () => {} : onNotice,
  };
}

/** Settings that a device loop does not support, and their expected values. */
const HOST_SETTINGS = {
  vectorization: "sync",
  normalizeObservation: false,
  normalizeReward: false,
  clipReward: false,
  frameStack: 1,
} as const;

/** Throws for settings that a device loop does not support. */
function checkLoop(config: ResolvedConfig): void {
  const { algorithm, envKwargs } = config;
  const refuse = (setting: string, wanted: string) =>
    new UsageError(
      `Cannot train ${algorithm} with loop: device and ${setting}: expected ${wanted}, or loop: host`,
    );
  if (findAlgorithm(algorithm)!.startWorkers !== undefined) {
    throw refuse("workers that learn", "an algorithm such as a2c");
  }
  for (const [key, wanted] of Object.entries(HOST_SETTINGS)) {
    if (config[key] === wanted) continue;
    throw refuse(`${key}: ${config[key]}`, String(wanted));
  }
  const [parameter] = Object.keys(config.parameters);
  if (parameter !== undefined) throw refuse(`parameters: ${parameter}`, "none");
  const [option] = Object.keys(envKwargs);
  if (option !== undefined) throw refuse(`envKwargs: ${option}`, "none");
  const [statistic] = infoStatisticsOf(config);
  if (statistic !== undefined) {
    throw refuse(`infoStatistics: ${statistic}`, "none");
  }
}

/** Makes an agent with tensor environments, in one compiled program. */
function agentOnDevice(source: AgentSource): MadeAgent {
  const { config } = source;
  const { evaluationInterval, checkpointInterval, maxEpisodeSteps } = config;
  const env = tensorVecEnv(config.env, {
    maxEpisodeSteps: maxEpisodeSteps ?? undefined,
  });
  const algorithm = new DeviceAgent(findAlgorithm(config.algorithm)!, env, {
    ...agentOptions(source),
    numEnvs: config.numEnvs,
    stepsPerCall: Math.min(
      // Default intervals of rows and evaluations are fractions of the run.
      config.logInterval ?? Math.ceil(config.totalTimesteps / 100),
      evaluationInterval || Infinity,
      checkpointInterval || Infinity,
      config.totalTimesteps,
      MAX_STEPS_PER_CALL,
    ),
  });
  return { algorithm };
}

/** Largest number of steps of a device loop's call: a second or two. */
const MAX_STEPS_PER_CALL = 2 ** 20;

/** Returns the configuration of one worker's environment. */
function ofOneWorker(config: ResolvedConfig): ResolvedConfig {
  const { algorithm, vectorization, numEnvs, normalizeObservation } = config;
  const refuse = (setting: string, wanted: string) =>
    new UsageError(
      `Cannot train ${algorithm} with ${setting}: expected ${wanted}`,
    );
  if (numEnvs !== 1) {
    throw refuse(`numEnvs: ${numEnvs}`, "1, and as many workers");
  }
  if (vectorization === "workers") {
    throw refuse(
      "vectorization: workers",
      "sync or subprocesses, as each worker has its environment",
    );
  }
  const [parameter] = Object.keys(config.parameters);
  if (parameter !== undefined) {
    throw refuse(
      `parameters: ${parameter}`,
      "none, as each worker has its environment",
    );
  }
  if (normalizeObservation) {
    throw refuse(
      "normalizeObservation: true",
      "false, as each worker would have statistics of its own",
    );
  }
  if (vectorization === "subprocesses") return { ...config, workers: 1 };
  // On a cluster, too, a worker has its environment in its own process.
  return { ...config, vectorization: "sync", workers: null };
}

type Start = NonNullable<Algorithm["startWorkers"]>;

/** Starts workers; missing software counts as invalid input. */
async function startOf(start: Start, run: Parameters<Start>[0]) {
  try {
    return await start(run);
  } catch (error) {
    const message = messageOf(error);
    if (!message.startsWith("Cannot start worker")) throw error;
    throw new UsageError(message, { cause: error });
  }
}

/** Makes an algorithm whose workers have their own environments. */
async function workersOf(
  source: AgentSource,
  start: Start,
): Promise<MadeAgent> {
  const { config, environments, compute, imports, cluster } = source;
  const workers = config.workers ?? navigator.hardwareConcurrency;
  const { threads: _, ...options } = agentOptions(source);
  const algorithm = await startOf(start, {
    ...options,
    source: {
      module: import.meta.resolve("./worker_environment.ts"),
      options: { config: ofOneWorker(config), imports },
    },
    spaces: environments.training,
    workers,
    cluster,
    stepTimeoutMs: milliseconds(config.stepTimeout),
    backend: compute.backend.name,
    isForEvaluation: source.isForEvaluation,
  });
  const rates = () =>
    algorithm.workerRates.map((it) => Math.round(it).toLocaleString("en-US"));
  return {
    algorithm,
    workers,
    speed: () => `workers ${rates().join(" + ")}/s`,
  };
}
