import type { VecStep } from "../vec_env.ts";

/**
 * A step of the copies that were ready first: row `j` of its arrays is of copy
 * `copies[j]`. The object and its arrays are reused by the next `recv`.
 *
 * @example
 * ```ts
 * import { type ReadyStep, WorkerVecEnv } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new WorkerVecEnv("CartPole-v1", { numEnvs: 2, workers: 2 });
 * env.reset({ seed: 0 });
 * env.send(Int32Array.of(0, 1));
 * const ready: ReadyStep = env.recv(1);
 * assertEquals(ready.rewards.length, 1);
 * env.send(Int32Array.of(0), ready.copies);
 * assertEquals([...env.recv(2).copies].sort(), [0, 1]);
 * env.close();
 * ```
 */
export interface ReadyStep extends VecStep {
  /** Which copies, `[rows]`. */
  readonly copies: Int32Array;
}
