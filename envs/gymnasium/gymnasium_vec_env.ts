import type { Batch } from "@bellman/types";
import { AsyncVecEnv } from "../workers/async_vec_env.ts";
import type { HostOptions } from "../workers/restarts.ts";
import { splitEnvs } from "../workers/group_hosts.ts";
import { GymnasiumHosts } from "./_gymnasium_hosts.ts";
import type { GymnasiumOptions } from "./python.ts";

/** Settings of a {@linkcode GymnasiumVecEnv}. */
export interface GymnasiumVecEnvOptions extends GymnasiumOptions, HostOptions {
  /** Number of environments. */
  numEnvs: number;
  /**
   * Number of Python processes that share the environments.
   *
   * @default 1
   */
  processes?: number;
  /**
   * Entries of `info` that Python sums up for each episode: finite numbers, True
   * and False, at each step.
   *
   * @default []
   */
  infoStatistics?: readonly string[];
}

/**
 * Environments of Python's Gymnasium, which step in one Python
 * process or in several: one message a step goes to each and one comes back. Of
 * the seed of an environment Python gets the lowest 32 bits, as many
 * environments take no more.
 *
 * Time limits are Gymnasium's own, and `info` is not carried over but for the
 * sum, mean and last of its numbers that `infoStatistics` names. An
 * environment whose episode ended is reset in the same step. A process that
 * dies, hangs or throws is replaced, as `AsyncVecEnv` of
 * `@bellman/envs/workers` describes.
 *
 * A snapshot holds where the random stream of each environment stood when its
 * episode began and the actions since then; `load` plays those again. Where
 * that leads to another observation or return than before, as with an
 * environment that draws its random numbers elsewhere than from `np_random`,
 * the episode cannot continue: the next step reports it as `truncated` with a
 * reward of 0 and with what was seen last, and begins a new one.
 *
 * @typeParam O Observations of all environments, such as `Float32Array`.
 * @typeParam A Their actions, such as `Int32Array`.
 *
 * @example
 * ```ts
 * import { GymnasiumVecEnv, hasGymnasium } from "@bellman/envs/gymnasium";
 * import { assertEquals } from "@std/assert";
 *
 * if (hasGymnasium()) {
 *   const env = new GymnasiumVecEnv("CartPole-v1", { numEnvs: 2 });
 *   env.reset({ seed: 0 });
 *   assertEquals([...env.step(Int32Array.of(0, 1)).rewards], [1, 1]);
 *   env.close();
 * }
 * ```
 */
export class GymnasiumVecEnv<
  O extends Batch = Batch,
  A extends Batch = Batch,
> extends AsyncVecEnv<O, A> {
  #hosts: GymnasiumHosts;

  /**
   * Starts Python and waits until it has made the environments.
   *
   * @param id The environment's name as Gymnasium knows it, with the module in
   * front that registers it where that is needed: `module:Env-v0`.
   * @param options Number and options of the environments, and the handling of
   * processes that fail.
   * @throws {RangeError} If there is no such environment, with the nearest name,
   * or a number among the options cannot be used.
   * @throws {TypeError} If Python lacks Gymnasium or a module, or a space has no
   * counterpart here.
   * @throws {Error} If Python or the environment cannot be started.
   */
  constructor(id: string, options: GymnasiumVecEnvOptions) {
    const { numEnvs, processes = 1 } = options;
    const hosts = new GymnasiumHosts(id, {
      ...options,
      groups: splitEnvs(numEnvs, processes),
      resets: true,
      draws: false,
    });
    super(hosts, options);
    this.#hosts = hosts;
  }

  /**
   * Lists the Python processes, group by group.
   *
   * @returns Their ids, of those that run.
   */
  pids(): number[] {
    return this.#hosts.pids();
  }
}
