import type { ActionsOf, ObservationsOf } from "@bellman/types";
import { GymnasiumHosts } from "../../gymnasium/_gymnasium_hosts.ts";
import type { GymnasiumOptions } from "../../gymnasium/python.ts";
import { type EnvSlice, splitEnvs } from "../group_hosts.ts";
import {
  checkSource,
  type GroupSource,
  type HostedVecEnv,
} from "../group_source.ts";
import { AsyncVecEnv } from "../async_vec_env.ts";
import { MAIN } from "../processes/_process_hosts.ts";
import type { HostOptions } from "../restarts.ts";
import { WorkerHosts } from "../threads/_worker_hosts.ts";
import {
  checkRay,
  codeFolder,
  nodeProgram,
  pathInCopy,
} from "./code_on_nodes.ts";
import { RayLauncher } from "./_ray_thread.ts";
import type { RayOptions } from "./ray_options.ts";

/** Environments of Python's Gymnasium, by the Python of the nodes. */
export interface GymnasiumSource extends
  Omit<
    GymnasiumOptions,
    "python" | "showOutput" | "startTimeoutMs" | "stepTimeoutMs"
  > {
  /** The environment's name as Gymnasium knows it. */
  readonly gymnasium: string;
  /**
   * Entries of `info` that Python sums up for each episode.
   *
   * @default []
   */
  readonly infoStatistics?: readonly string[];
}

/** Source of the environments of a {@linkcode RayVecEnv}. */
export type RaySource = GroupSource | GymnasiumSource;

/** Settings of a {@linkcode RayVecEnv}. */
export interface RayVecEnvOptions extends HostOptions, RayOptions {
  /** Number of environments. */
  numEnvs: number;
  /**
   * Number of processes, each on a CPU of the cluster, with a group of environments.
   *
   * @default one for each environment
   */
  processes?: number;
  /**
   * Deno's flags for what the processes may do, as of `SubprocessVecEnv`.
   *
   * @default those permissions that this process has without bounds
   */
  permissions?: readonly string[];
}

/** Stands in a command for the Python of a node: its variable BELLMAN_PYTHON, or python3. */
const PYTHON = "{python}";

function denoHosts(
  groups: readonly EnvSlice[],
  given: GroupSource,
  options: RayVecEnvOptions,
): WorkerHosts {
  const source = checkSource(given);
  const { command, root, ...code } = nodeProgram(MAIN, source, options);
  return new WorkerHosts({
    groups,
    launcher: new RayLauncher(groups.length, { ...options, ...code }),
    data: { source, command, root, resets: true },
  });
}

function gymnasiumHosts(
  groups: readonly EnvSlice[],
  { gymnasium, modules = [], wrappers = [], ...source }: GymnasiumSource,
  options: RayVecEnvOptions,
): WorkerHosts {
  const folder = options.folder ?? codeFolder(MAIN);
  const moved = (path: string) =>
    options.code === "here" ? path : pathInCopy(path, folder);
  return new GymnasiumHosts(gymnasium, {
    ...source,
    modules: modules.map(moved),
    wrappers: wrappers.map(({ name, kwargs }) => ({
      name: moved(name),
      kwargs,
    })),
    groups,
    resets: true,
    draws: false,
    python: PYTHON,
    launcher: () => new RayLauncher(groups.length, { ...options, folder }),
  });
}

/**
 * Environments in processes on the nodes of a Ray cluster, with the numbers, the
 * failures and the snapshots of `SubprocessVecEnv`. Ray chooses the nodes, starts the
 * processes and ends them; each connects to this process, and steps go through those
 * connections.
 *
 * This machine is a node of the cluster (`ray start --address=HEAD --num-cpus=0`), and
 * has a Python with Ray 2.52 or later; other nodes have Deno of this version, with
 * what the environments import in its cache, or Python with Gymnasium. Whoever reaches
 * the cluster can run code on it: see the README.
 *
 * @typeParam S Source of the environments, such as an id.
 *
 * @example
 * ```ts ignore
 * import { RayVecEnv } from "@bellman/envs/ray";
 *
 * const env = new RayVecEnv("CartPole-v1", {
 *   cluster: "10.0.0.1:6379",
 *   numEnvs: 64,
 *   processes: 16,
 * });
 * env.reset({ seed: 0 });
 * env.step(new Int32Array(64));
 * env.close();
 * ```
 */
export class RayVecEnv<const S extends RaySource = RaySource>
  extends AsyncVecEnv<
    ObservationsOf<HostedVecEnv<S>>,
    ActionsOf<HostedVecEnv<S>>
  > {
  readonly #hosts: WorkerHosts;

  /**
   * Reaches the cluster, starts the processes and waits until they have made their
   * environments.
   *
   * @param source Source of the environments.
   * @param options The cluster, number of environments and processes, and handling of
   * failures.
   * @throws {TypeError} If the cluster cannot be reached or used, or the source cannot
   * be sent to a node.
   * @throws {RangeError} If a number among the options cannot be used, or the cluster
   * has too few CPUs.
   * @throws {Error} What making the environments threw, or why a process could not be
   * started.
   */
  constructor(source: S, options: RayVecEnvOptions) {
    checkRay("host environments");
    const { numEnvs, processes = numEnvs } = options;
    const groups = splitEnvs(numEnvs, processes);
    const hosts = typeof source === "object" && "gymnasium" in source
      ? gymnasiumHosts(groups, source, options)
      : denoHosts(groups, source, options);
    super(hosts, options);
    this.#hosts = hosts;
  }

  /**
   * Lists the processes, group by group.
   *
   * @returns Their ids on their nodes, of those that run.
   */
  pids(): number[] {
    return this.#hosts.pids();
  }
}
