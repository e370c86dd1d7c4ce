import type { ActionsOf, ObservationsOf } from "@bellman/types";
// For the calling thread's own group of registered environments.
import "../../mod.ts";
import {
  checkSource,
  type GroupSource,
  type HostedVecEnv,
  makeRegistered,
} from "../group_source.ts";
import { splitEnvs } from "../group_hosts.ts";
import { AsyncVecEnv } from "../async_vec_env.ts";
import { refuseUnknown } from "@bellman/files/options";
import { HOST_OPTIONS, type HostOptions } from "../restarts.ts";
import { WorkerHosts } from "./_worker_hosts.ts";

/** Settings of a {@linkcode WorkerVecEnv}. */
export interface WorkerVecEnvOptions extends HostOptions {
  /** Number of environments. */
  numEnvs: number;
  /**
   * Number of workers; each hosts a group of environments.
   *
   * @default as many as there are processors, but no more than environments
   */
  workers?: number;
  /**
   * True where the calling thread hosts one more group, the last, and steps it while
   * the workers step theirs: of environments that are registered there, too. What
   * runs there cannot be given up when it hangs, and ends the program when it exits.
   *
   * @default false
   */
  callerShare?: boolean;
}

/**
 * Environments in Deno workers, which step at the same time. Each worker hosts a
 * group of them as a vector environment of its own and writes observations,
 * rewards and flags into shared memory: the arrays of a step are those that the
 * workers write, and nothing is copied between threads.
 *
 * Between steps a worker sleeps, so that an environment's own timers and
 * promises do not run. Deno cannot stop a worker that never comes back, be it
 * from JavaScript or from native code: it is left behind and replaced, and its
 * thread lives until the process ends. An environment that hangs or crashes in
 * native code belongs into a {@linkcode SubprocessVecEnv}.
 *
 * @typeParam S Source of the environments, such as an id.
 *
 * @example
 * ```ts
 * import { makeVec } from "@bellman/envs";
 * import { WorkerVecEnv } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 *
 * const workers = new WorkerVecEnv("CartPole-v1", { numEnvs: 4, workers: 2 });
 * const alone = makeVec("CartPole-v1", { numEnvs: 4 });
 * const observations = workers.reset({ seed: 7 });
 * assertEquals([...observations], [...alone.reset({ seed: 7 })]);
 * workers.close();
 * ```
 */
export class WorkerVecEnv<const S extends GroupSource = GroupSource>
  extends AsyncVecEnv<
    ObservationsOf<HostedVecEnv<S>>,
    ActionsOf<HostedVecEnv<S>>
  > {
  /**
   * Starts the workers and waits until they have made their environments.
   *
   * @param source Source of the environments.
   * @param options Number of environments and workers, and handling of
   * failures.
   * @throws {TypeError} If the source cannot be sent to a worker.
   * @throws {Deno.errors.NotCapable} If this package's files may not be read.
   * @throws {RangeError} If a number among the options cannot be used.
   * @throws {Error} What making the environments threw.
   */
  constructor(source: S, options: WorkerVecEnvOptions) {
    const checked = checkSource(source);
    const names = [...HOST_OPTIONS, "numEnvs", "workers", "callerShare"];
    refuseUnknown(options, names, "environments in workers");
    const { numEnvs, callerShare = false } = options;
    if (callerShare && !("id" in checked)) {
      throw new TypeError(
        `Cannot host environments of ${checked.module} in the calling thread: expected those of a registered id with callerShare`,
      );
    }
    const shares = Number(callerShare), { hardwareConcurrency } = navigator;
    const most = Math.min(hardwareConcurrency, numEnvs - shares);
    const { workers = Math.max(1, most) } = options;
    const groups = splitEnvs(numEnvs, workers + shares);
    const makeLocal = callerShare && "id" in checked
      ? () => makeRegistered(checked, groups.at(-1)!)
      : undefined;
    const data = { source: checked };
    super(new WorkerHosts({ groups, data, makeLocal }), options);
  }
}
