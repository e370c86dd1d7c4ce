// For the calling thread's own group of registered environments.
import "../../mod.ts";
import type { VecEnv } from "@bellman/types";
import {
  type CheckedSource,
  checkGroup,
  checkSource,
  type GroupOptions,
  type GroupSource,
  makeRegistered,
} from "../group_source.ts";
import { type GroupRange, splitEnvs } from "../group_hosts.ts";
import { HostedVecEnv } from "../hosted_vec_env.ts";
import type { HostOptions } from "../restarts.ts";
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
   * True where the calling thread hosts one more group, the last, and steps it
   * while the workers step theirs: `true` where the environment is registered
   * in this thread too, else a function that makes the environments. What runs
   * there cannot be given up on when it hangs, and ends the program when it
   * exits.
   *
   * @default false
   */
  callerShare?: boolean | ((options: GroupOptions) => VecEnv);
}

/**
 * Copies in Deno workers, which step at the same time. Each worker hosts a
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
 * @example
 * ```ts
 * import { makeVec } from "@bellman/envs";
 * import { WorkerVecEnv } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 *
 * const workers = new WorkerVecEnv("CartPole-v1", { numEnvs: 4, workers: 2 });
 * const alone = makeVec("CartPole-v1", { numEnvs: 4 });
 * const observations = workers.reset({ seed: 7 }) as Float32Array;
 * assertEquals([...observations], [...alone.reset({ seed: 7 }) as Float32Array]);
 * workers.close();
 * ```
 */
export class WorkerVecEnv extends HostedVecEnv {
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
  constructor(source: GroupSource, options: WorkerVecEnvOptions) {
    const checked = checkSource(source);
    const { numEnvs, callerShare = false } = options;
    const shares = callerShare === false ? 0 : 1;
    const { hardwareConcurrency: cores } = navigator;
    const { workers = Math.max(1, Math.min(cores, numEnvs - shares)) } =
      options;
    const groups = splitEnvs(numEnvs, workers + shares);
    const makeLocal = localMaker(checked, callerShare, groups.at(-1)!);
    super(new WorkerHosts({ source: checked, groups, makeLocal }), options);
  }
}

/** Returns the maker of the group that this thread hosts, if any. */
function localMaker(
  source: CheckedSource,
  share: boolean | ((options: GroupOptions) => VecEnv),
  range: GroupRange,
): (() => VecEnv) | undefined {
  if (share === false) return undefined;
  if (share !== true) {
    const { options = {} } = "module" in source ? source : {};
    return () => checkGroup(share({ ...options, ...range }), range);
  }
  if ("id" in source) return () => makeRegistered(source, range);
  throw new TypeError(
    `Cannot host environments of ${source.module} in the calling thread with callerShare true: expected the function that it exports`,
  );
}
