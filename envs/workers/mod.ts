/**
 * Vector environments over workers or processes, which step at the same time and
 * are replaced when they break.
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
export {
  type CheckedSource,
  checkSource,
  type GroupFactory,
  type GroupOptions,
  type GroupSource,
  type HostedVecEnv,
  makeGroup,
  type ModuleSource,
  type RegisteredSource,
} from "./group_source.ts";
export {
  type FailureReason,
  HostFailure,
  type SentError,
} from "./host_failure.ts";
export { AsyncVecEnv } from "./async_vec_env.ts";
export { programArguments } from "./processes/program_arguments.ts";
export { type Ask, serveProcess } from "./processes/serve_process.ts";
export {
  describeRestart,
  type HostOptions,
  type RestartEvent,
} from "./restarts.ts";
export {
  SubprocessVecEnv,
  type SubprocessVecEnvOptions,
} from "./processes/subprocess_vec_env.ts";
export {
  type CriticalSection,
  serveWorker,
  type WorkerProgram,
} from "./threads/serve_worker.ts";
export type { RemoteWorkers, WorkerHandle } from "./threads/pooled_worker.ts";
export { WorkerPool, type WorkerPoolOptions } from "./threads/worker_pool.ts";
export {
  WorkerVecEnv,
  type WorkerVecEnvOptions,
} from "./threads/worker_vec_env.ts";
