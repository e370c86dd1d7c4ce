/**
 * Vector environments whose copies live in workers or processes, step at the
 * same time, and are replaced when they break.
 *
 * @example
 * ```ts
 * import { WorkerVecEnv } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new WorkerVecEnv("Pendulum-v1", { numEnvs: 4, workers: 2 });
 * env.reset({ seed: 0 });
 * const { rewards, truncated } = env.step(new Float32Array(4));
 * assertEquals([rewards.length, ...truncated], [4, 0, 0, 0, 0]);
 * env.close();
 * ```
 *
 * @module
 */
export * from "./group_hosts.ts";
export * from "./group_source.ts";
export * from "./host_failure.ts";
export { HostedVecEnv } from "./hosted_vec_env.ts";
export * from "./hosted_vec_env_options.ts";
export * from "./ready_step.ts";
export {
  describeRestart,
  explainRestart,
  type RestartEvent,
} from "./restart_event.ts";
export { splitCopies } from "./split_copies.ts";
export * from "./worker_vec_env.ts";
export * from "./subprocess_vec_env.ts";
