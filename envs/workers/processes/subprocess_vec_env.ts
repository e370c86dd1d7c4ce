import type { ActionsOf, ObservationsOf } from "@bellman/types";
import { checkDeno } from "@bellman/files";
import { refuseUnknown } from "@bellman/files/options";
import { HOST_OPTIONS, type HostOptions } from "../restarts.ts";
import { splitEnvs } from "../group_hosts.ts";
import {
  checkSource,
  type GroupSource,
  type HostedVecEnv,
} from "../group_source.ts";
import { AsyncVecEnv } from "../async_vec_env.ts";
import { WorkerHosts } from "../threads/_worker_hosts.ts";
import { hostCommand } from "./_process_hosts.ts";
import { HostThread } from "./host_thread.ts";
import { ownPermissions } from "./program_arguments.ts";

/** Settings of a {@linkcode SubprocessVecEnv}. */
export interface SubprocessVecEnvOptions extends HostOptions {
  /** Number of environments. */
  numEnvs: number;
  /**
   * Number of processes; each hosts a group of environments.
   *
   * @default one for each environment
   */
  processes?: number;
  /**
   * Deno's flags for what the processes may do, such as `--allow-ffi` or
   * `--allow-read=/roms`. They must be able to read local modules.
   *
   * @default those permissions that this process has without bounds
   */
  permissions?: readonly string[];
  /**
   * True where prints of the processes also go to stderr of this one.
   *
   * @default true
   */
  showOutput?: boolean;
}

/**
 * Environments in separate processes, one for each group: what crashes there, in
 * native code too, harms nothing here, and what hangs is killed. Each step is a
 * message to and from each process.
 *
 * Between steps a process sleeps, as a worker does, so that an environment's own
 * timers and promises do not run.
 *
 * The processes are run by this Deno executable, so that it must be permitted
 * to run it (`--allow-run`); a compiled program cannot do that. They end when the
 * environment is closed or this process ends, however it does; one that hangs is
 * ended about three seconds later (but on Windows).
 *
 * @typeParam S Source of the environments, such as an id.
 *
 * @example
 * ```ts
 * import { makeVec } from "@bellman/envs";
 * import { SubprocessVecEnv } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 *
 * const processes = new SubprocessVecEnv("CartPole-v1", {
 *   numEnvs: 4,
 *   processes: 2,
 * });
 * const alone = makeVec("CartPole-v1", { numEnvs: 4 });
 * const observations = processes.reset({ seed: 7 });
 * assertEquals([...observations], [...alone.reset({ seed: 7 })]);
 * processes.close();
 * ```
 */
export class SubprocessVecEnv<const S extends GroupSource = GroupSource>
  extends AsyncVecEnv<
    ObservationsOf<HostedVecEnv<S>>,
    ActionsOf<HostedVecEnv<S>>
  > {
  #processes: WorkerHosts;

  /**
   * Starts the processes and waits until they have made their environments.
   *
   * @param source Source of the environments.
   * @param options Number of environments and processes, and handling of
   * failures.
   * @throws {TypeError} If the source cannot be sent to a process, or this is a
   * compiled program.
   * @throws {RangeError} If a number among the options cannot be used.
   * @throws {Error} What making the environments threw, or why a process could
   * not be started; in Node.
   */
  constructor(source: S, options: SubprocessVecEnvOptions) {
    checkDeno("host environments in processes");
    const checked = checkSource(source);
    const own = ["numEnvs", "processes", "permissions", "showOutput"];
    const names = [...HOST_OPTIONS, ...own];
    refuseUnknown(options, names, "environments in processes");
    const { numEnvs, processes = numEnvs } = options;
    const { permissions = ownPermissions(), showOutput = true } = options;
    const groups = splitEnvs(numEnvs, processes);
    const command = hostCommand({ permissions });
    const hosts = new WorkerHosts({
      groups,
      launcher: new HostThread(import.meta.resolve("./_process_hosts.ts")),
      data: { source: checked, command, showPrints: showOutput, resets: true },
    });
    super(hosts, options);
    this.#processes = hosts;
  }

  /**
   * Lists the processes, group by group.
   *
   * @returns Their ids, of those that run.
   */
  pids(): number[] {
    return this.#processes.pids();
  }
}
