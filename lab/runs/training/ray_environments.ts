import { type EnvKwargs, RecordEpisodeStatistics } from "@bellman/envs";
import { type RaySource, RayVecEnv } from "@bellman/envs/ray";
import { describeRestart } from "@bellman/envs/workers";
import type { VecEnv } from "@bellman/types";
import type { ClusterOptions } from "../settings/cluster.ts";
import { GYMNASIUM, isGymnasium, wrappersOf } from "../settings/gymnasium.ts";
import type { ResolvedConfig } from "../settings/resolve.ts";

/** Number, options and placement of environments. */
interface RayEnvironments {
  readonly numEnvs: number;
  readonly kwargs: EnvKwargs;
  readonly infoStatistics?: readonly string[];
  readonly cluster: ClusterOptions;
  readonly stepTimeoutMs: number;
  /** Modules that register the environment: absolute URLs, or names of Python modules. */
  readonly imports: readonly string[];
  readonly onNotice: (line: string) => void;
}

/** Returns the source of environments for the nodes. */
function sourceOf(
  config: ResolvedConfig,
  { kwargs, infoStatistics, imports }: RayEnvironments,
): RaySource {
  const { env: id } = config;
  const maxEpisodeSteps = config.maxEpisodeSteps ?? undefined;
  if (!isGymnasium(id)) {
    return { id, kwargs, maxEpisodeSteps, infoStatistics, imports };
  }
  const { useActionMasks, ...own } = kwargs;
  return {
    gymnasium: id.slice(GYMNASIUM.length),
    modules: imports,
    wrappers: wrappersOf(config),
    infoStatistics,
    useActionMasks: useActionMasks as boolean | undefined,
    kwargs: {
      ...own,
      ...maxEpisodeSteps !== undefined &&
        { max_episode_steps: maxEpisodeSteps },
    },
  };
}

/**
 * Makes environments on the nodes of a cluster.
 *
 * @param config The configuration, with vectorization: ray.
 * @param options Cluster, number and options of environments.
 */
export function rayEnvironments(
  config: ResolvedConfig,
  options: RayEnvironments,
): VecEnv {
  const { numEnvs, cluster, stepTimeoutMs, onNotice } = options;
  const env = new RayVecEnv(sourceOf(config, options), {
    ...cluster,
    numEnvs,
    processes: Math.min(config.workers!, numEnvs),
    stepTimeoutMs,
    onNotice,
    onRestart: (event) => onNotice(describeRestart(event)),
  });
  return isGymnasium(config.env) ? env : new RecordEpisodeStatistics(env);
}
