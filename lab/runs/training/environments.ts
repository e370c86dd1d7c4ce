import {
  defaultRegistry,
  make,
  makeVec,
  RecordEpisodeStatistics,
  SyncVecEnv,
  Wrapper,
} from "@bellman/envs";
import { RolesVecEnv } from "@bellman/envs/games";
import type { RestartEvent } from "@bellman/envs/workers";
import type { Env, EnvParameters, Space, VecEnv } from "@bellman/types";
import { findAlgorithm } from "../settings/algorithms.ts";
import type { ClusterOptions } from "../settings/cluster.ts";
import { isPage } from "../settings/pages.ts";
import { isGymnasium } from "../settings/gymnasium.ts";
import {
  type GameOptions,
  gameOptions,
  isGame,
  type RunPlayers,
  separateRoles,
} from "./games.ts";
import { heapWatch } from "./memory.ts";
import { curriculumOf, setParameters } from "./parameters.ts";
import type { ResolvedConfig } from "../settings/resolve.ts";
import { messageOf, UsageError } from "../program/errors.ts";
import { milliseconds } from "./environment_modules.ts";
import {
  type ScaledEnvironments,
  scaledEnvironments,
} from "./scaled_environments.ts";

/** Spaces of an environment, enough for acting without it. */
export interface EnvironmentSpaces
  extends Pick<VecEnv, "observationSpace" | "actionSpace" | "stackedFrames"> {
  /** True if the environment masks actions. */
  readonly masked?: boolean;
}

/** Placement and number of environments. */
export interface Hosting {
  /** Modules that register the environment, as absolute URLs. */
  imports: readonly string[];
  /** Receives lines for the user. */
  onNotice: (line: string) => void;
  /**
   * Only evaluate agents: the training environments then only provide spaces and
   * wrappers, and are not restored.
   *
   * @default false
   */
  isForEvaluation?: boolean;
  /**
   * Number of parallel evaluation environments; 0 for none.
   *
   * @default 0
   */
  evaluationEnvs?: number;
  /** Spaces that replace the environment. */
  spaces?: EnvironmentSpaces;
  /** Cluster of the training environments, if the configuration needs one. */
  cluster?: ClusterOptions;
  /** Finds the players of runs that are opponents in games. */
  runPlayer?: RunPlayers;
}

/** Training and evaluation environments of a run. */
export interface Environments extends Omit<ScaledEnvironments, "wrapped"> {
  /** Spaces of the environment without wrappers. */
  spaces: EnvironmentSpaces;
  /**
   * Makes evaluation environments: observations are normalized with frozen statistics
   * of training, rewards are raw. If the run has hosts, evaluations have some too.
   */
  evaluation(numEnvs: number): VecEnv;
  /**
   * Makes one evaluation environment without wrappers, for rendering: in this thread,
   * as hosts send no images.
   */
  single(): Env;
  /** Wraps an environment as for evaluation. */
  around(env: Env): VecEnv;
  /** Environments of each role of a game, where each has a policy. */
  roles?: Readonly<Record<string, Environments>>;
  /** Closes all environments made here. */
  close(): void;
}

/**
 * Makes the environments of a configuration.
 *
 * @param config Configuration; its environment must be registered.
 * @param hosting Placement and number of environments.
 *
 * @example
 * ```ts
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { makeEnvironments } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const config = resolveConfig("a2c", { entries: [["numEnvs", 2]] });
 * const hosting = { imports: [], onNotice: console.error };
 * const { training, close } = await makeEnvironments(config, hosting);
 * assertEquals(training.numEnvs, 2);
 * close();
 * ```
 */
export async function makeEnvironments(
  config: ResolvedConfig,
  hosting: Hosting,
): Promise<Environments> {
  const roles = hosting.spaces === undefined ? separateRoles(config) : [];
  if (roles.length === 0) return await environmentsOf(config, hosting);
  const { isForEvaluation } = hosting;
  return await roleEnvironments(config, {
    ...{ roles, isForEvaluation },
    make: (it) => environmentsOf(it, hosting),
  });
}

/** Makes the environments of each role, and joins them. */
async function roleEnvironments(
  config: ResolvedConfig,
  { roles, isForEvaluation, make }: {
    roles: readonly string[];
    isForEvaluation: Hosting["isForEvaluation"];
    make: (config: ResolvedConfig) => Promise<Environments>;
  },
): Promise<Environments> {
  const { numEnvs, envKwargs } = config, count = roles.length;
  if (numEnvs % count !== 0 && !isForEvaluation) {
    throw new UsageError(
      `Cannot train the roles ${
        roles.join(", ")
      } in ${numEnvs} environments: expected numEnvs that ${count} divides`,
    );
  }
  const parts: Record<string, Environments> = {};
  const close = () => Object.values(parts).forEach((it) => it.close());
  try {
    for (const role of roles) {
      parts[role] = await make({
        ...config,
        numEnvs: Math.ceil(numEnvs / count),
        envKwargs: { ...envKwargs, role },
      });
    }
  } catch (error) {
    close();
    throw error;
  }
  const joined = (of: (it: Environments) => VecEnv) =>
    new RolesVecEnv(Object.fromEntries(
      roles.map((role) => [role, of(parts[role])]),
    ));
  const training = joined((it) => it.training);
  const { observationSpace, actionSpace } = training;
  const [first] = roles;
  return {
    training,
    roles: parts,
    scales: {},
    spaces: { observationSpace, actionSpace },
    evaluation: (numEnvs) =>
      joined((it) => it.evaluation(Math.ceil(numEnvs / count))),
    // One person or picture has one seat, of the first role.
    single: () => parts[first].single(),
    around: (env) => new RolesVecEnv({ [first]: parts[first].around(env) }),
    close,
  };
}

/** Makes the environments of one policy. */
async function environmentsOf(
  config: ResolvedConfig,
  hosting: Hosting,
): Promise<Environments> {
  const { env: id } = config;
  const { hasReplay = false } = findAlgorithm(config.algorithm)!.meta;
  const maxEpisodeSteps = config.maxEpisodeSteps ?? undefined;
  const games = await gameOptions(config, hosting);
  const kwargs = {
    ...games.evaluation(1),
    ...config.envKwargs,
    ...config.evaluationEnvKwargs,
  };
  // MuJoCo's other engine, of training or of evaluation, must be imported too.
  if ([config.envKwargs, kwargs].some(({ engine }) => engine === "wasm")) {
    const { loadMujocoWasm } = await import("@bellman/envs/mujoco");
    await loadMujocoWasm();
  }
  const sets = await makeSets(config, hosting, games);
  const { wrapped, ...scaled } = scaledEnvironments(sets.training, {
    ...config,
    hasReplay,
  });
  return {
    ...scaled,
    spaces: spacesOf(sets.training),
    evaluation: (numEnvs) => wrapped(sets.evaluation(numEnvs)),
    single: () => make(id, { maxEpisodeSteps, kwargs, infoStatistics: [] }),
    around: (env) =>
      wrapped(new RecordEpisodeStatistics(new SyncVecEnv([() => env]))),
    close() {
      sets.close();
      games.close();
    },
  };
}

/**
 * Returns spaces with a single bound if all elements of a box have the same one, as
 * images do.
 */
function spacesOf(
  { observationSpace, actionSpace, stackedFrames, actionMasks }: VecEnv,
): EnvironmentSpaces {
  const bound = (values: number | readonly number[]) =>
    typeof values === "object" && new Set(values).size === 1
      ? values[0]
      : values;
  const compact = (space: Space): Space =>
    space.type === "box"
      ? { ...space, low: bound(space.low), high: bound(space.high) }
      : space;
  return {
    observationSpace: compact(observationSpace),
    actionSpace: compact(actionSpace),
    ...stackedFrames !== undefined && { stackedFrames },
    ...actionMasks && { masked: true },
  };
}

/** Lists the recorded entries of `info`; those of the agent have other names. */
export function infoStatisticsOf(
  { env, infoStatistics }: ResolvedConfig,
): string[] {
  const registered = defaultRegistry.get(env)?.infoStatistics ?? [];
  const names = [...new Set([...registered, ...infoStatistics])];
  const taken = names.find((it) => ["return", "length"].includes(it));
  if (taken === undefined) return names;
  throw new UsageError(
    `Cannot record info.${taken}: rollout/${taken}_mean is the agent's, expected an entry of another name`,
  );
}

/** Largest number of evaluation environments. */
const MAX_EVALUATION_ENVS = 20;

/**
 * Returns the number of environments for an evaluation's episodes.
 *
 * @example
 * ```ts
 * import { evaluationEnvsFor } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([5, 100].map(evaluationEnvsFor), [5, 20]);
 * ```
 */
export function evaluationEnvsFor(episodes: number): number {
  return Math.min(episodes, MAX_EVALUATION_ENVS);
}

/** Returns the number of hosts, if there are some: a run keeps it on any machine. */
export function groupsOf(
  { vectorization, workers }: ResolvedConfig,
): number | null {
  return vectorization === "sync"
    ? workers
    : workers ?? navigator.hardwareConcurrency;
}

/** Sets of environments without wrappers. */
interface EnvironmentSets {
  /** Training set; a stand-in if agents are only evaluated. */
  training: VecEnv;
  /** Returns an evaluation set; hosted ones are reused, others are new. */
  evaluation(numEnvs: number): VecEnv;
  /** Closes the training set and the hosts. */
  close(): void;
}

/** Size and options of a set of environments. */
interface SetOptions {
  numEnvs: number;
  kwargs: ResolvedConfig["envKwargs"];
  /** Recorded entries of `info`; in evaluations only `is_success`. */
  infoStatistics?: readonly string[];
}

/** Set that its owner closes. */
class Kept extends Wrapper<VecEnv> {
  /** Does nothing. */
  override close(): void {}
}

/** Set with the spaces of another one, for another number of environments. */
class StandIn extends Wrapper<VecEnv> {
  readonly #numEnvs: number;

  constructor(env: VecEnv, numEnvs: number) {
    super(env);
    this.#numEnvs = numEnvs;
  }

  override get numEnvs(): number {
    return this.#numEnvs;
  }

  /** Does nothing. */
  override load(): void {}
}

/** Makes environments of which only the spaces are known. */
function knownSpaces(
  numEnvs: number,
  { masked, ...spaces }: EnvironmentSpaces,
): VecEnv {
  const fail = (): never => {
    throw new TypeError(
      "Cannot act in an environment of which the spaces alone are known",
    );
  };
  const acting = { reset: fail, step: fail, save: fail, observations: fail };
  return {
    numEnvs,
    ...spaces,
    // Present, with unknown contents.
    ...(masked && { actionMasks: new Uint8Array() }),
    // Goals were checked when the run started.
    computeReward: fail,
    ...acting,
    load: () => {},
    close: () => {},
  };
}

/** Watches the memory during steps of user environments, which may keep anything. */
function watched(env: VecEnv, { envModules }: ResolvedConfig): VecEnv {
  if (envModules.length === 0) return env;
  const step = env.step.bind(env), watch = heapWatch();
  env.step = (actions) => {
    watch();
    return step(actions);
  };
  return env;
}

/** Reports errors of `close` as notices: there is nothing left to end. */
function closeNeverFails(env: VecEnv, { onNotice }: Hosting): VecEnv {
  const close = env.close.bind(env);
  env.close = () => {
    try {
      close();
    } catch (error) {
      onNotice(`Cannot close the environment: ${messageOf(error)}`);
    }
  };
  return env;
}

async function makeSets(
  config: ResolvedConfig,
  hosting: Hosting,
  games: GameOptions,
): Promise<EnvironmentSets> {
  const { env: id, vectorization, workers, numEnvs, envKwargs } = config;
  if (hosting.spaces !== undefined) {
    const known = knownSpaces(numEnvs, hosting.spaces);
    return { training: known, evaluation: () => known, close: () => {} };
  }
  if (vectorization === "sync" && workers !== null && !isPage(id)) {
    throw new UsageError(
      `Cannot use workers: ${workers} with vectorization: sync: expected workers or subprocesses`,
    );
  }
  const { isForEvaluation = false, evaluationEnvs = 0 } = hosting;
  const maxEpisodeSteps = config.maxEpisodeSteps ?? undefined;
  const curriculum = curriculumOf(config);
  const withParameters = (env: VecEnv, values?: EnvParameters): VecEnv => {
    if (values) setParameters(env, values, config);
    return env;
  };
  const here = (options: SetOptions) =>
    closeNeverFails(
      watched(makeVec(id, { ...options, maxEpisodeSteps }), config),
      hosting,
    );
  const host = vectorization === "sync"
    ? undefined
    : await makeHost(config, hosting);
  const kept = new Map<number, VecEnv>();
  const evaluation = (wanted: number): VecEnv => {
    // Agents of a page's world are rows: as many as in training fill whole worlds.
    const step = isPage(id) && !isGame(config) ? config.numEnvs : 1;
    const numEnvs = step * Math.ceil(wanted / step);
    const kwargs = {
      ...games.evaluation(numEnvs),
      ...envKwargs,
      ...config.evaluationEnvKwargs,
    };
    const infoStatistics = infoStatisticsOf(config)
      .filter((it) => it === "is_success");
    const options = { numEnvs, kwargs, infoStatistics };
    // A page is not opened for each evaluation.
    const made = () =>
      withParameters(host?.(options, true) ?? here(options), curriculum?.goal);
    if (host === undefined && !isPage(id)) return made();
    const set = kept.get(numEnvs) ?? made();
    kept.set(numEnvs, set);
    return new Kept(set);
  };
  const isEvaluationHosted = (host !== undefined || isPage(id)) &&
    evaluationEnvs > 0;
  const train = (): VecEnv => {
    const infoStatistics = infoStatisticsOf(config);
    const kwargs = { ...games.training(numEnvs), ...envKwargs };
    const options = { numEnvs, kwargs, infoStatistics };
    if (!isForEvaluation) {
      const env = host ? host(options, false) : here(options);
      return withParameters(env, curriculum?.values(0));
    }
    const inside = isEvaluationHosted ? evaluation(evaluationEnvs) : here({
      ...options,
      numEnvs: 1,
      kwargs: { ...games.evaluation(1), ...envKwargs },
    });
    return new StandIn(inside, numEnvs);
  };
  const training = train();
  const close = () => {
    training.close();
    for (const set of kept.values()) set.close();
  };
  try {
    // Evaluations that cannot be made should fail before training.
    if (isEvaluationHosted) evaluation(evaluationEnvs);
  } catch (error) {
    close();
    throw error;
  }
  return { training, evaluation, close };
}

/**
 * Makes a function that makes environments in threads, in processes, or on a cluster.
 * Those of evaluations are always on this machine.
 */
async function makeHost(
  config: ResolvedConfig,
  hosting: Hosting,
): Promise<(options: SetOptions, isEvaluation: boolean) => VecEnv> {
  const { env: id, vectorization } = config, { imports, onNotice } = hosting;
  const onCluster = vectorization === "ray"
    ? (await import("./ray_environments.ts")).rayEnvironments
    : undefined;
  if (isGymnasium(id) && onCluster === undefined) {
    throw new UsageError(
      `Cannot run ${id} with vectorization: ${vectorization}: expected sync, as Python is a process of its own, or ray`,
    );
  }
  const { WorkerVecEnv, SubprocessVecEnv, describeRestart } = await import(
    "@bellman/envs/workers"
  );
  const maxEpisodeSteps = config.maxEpisodeSteps ?? undefined;
  const most = onCluster ? navigator.hardwareConcurrency : groupsOf(config)!;
  return (request, isEvaluation) => {
    const stepTimeoutMs = milliseconds(config.stepTimeout);
    const startTimeoutMs = milliseconds(config.startTimeout);
    if (onCluster && !isEvaluation) {
      const cluster = hosting.cluster!, where = { cluster, imports, onNotice };
      return onCluster(config, { ...request, ...where, stepTimeoutMs });
    }
    if (isGymnasium(id)) return makeVec(id, { ...request, maxEpisodeSteps });
    const { numEnvs, kwargs, infoStatistics } = request;
    const groups = Math.min(most, numEnvs);
    const source = { id, kwargs, maxEpisodeSteps, infoStatistics, imports };
    const where = isEvaluation ? "Evaluation: " : "";
    const options = {
      numEnvs,
      stepTimeoutMs,
      startTimeoutMs,
      onRestart: (event: RestartEvent) =>
        onNotice(`${where}${describeRestart(event)}`),
    };
    if (vectorization !== "workers") {
      return new RecordEpisodeStatistics(
        new SubprocessVecEnv(source, { ...options, processes: groups }),
      );
    }
    // This thread steps some of them in training; it could not abandon an evaluation.
    const callerShare = !isEvaluation && groups > 1;
    const workers = groups - Number(callerShare);
    return new RecordEpisodeStatistics(
      new WorkerVecEnv(source, { ...options, workers, callerShare }),
    );
  };
}
