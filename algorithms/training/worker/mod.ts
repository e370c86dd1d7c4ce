/**
 * Training in a worker, while the page or program stays free: {@link trainInWorker} in
 * the page, {@link exposeTraining} in the module of its worker.
 *
 * @example A worker that trains, and the page that starts it
 * ```ts
 * import { trainInWorker } from "@bellman/training/worker";
 * import { assertEquals } from "@std/assert";
 *
 * const trainer = `
 *   import { A2C } from "@bellman/a2c";
 *   import { selectBackend } from "@bellman/compute";
 *   import { makeVec } from "@bellman/envs";
 *   import { exposeTraining } from "@bellman/training/worker";
 *
 *   exposeTraining(async ({ seed }, { totalTimesteps }) => {
 *     await selectBackend("cpu");
 *     const env = makeVec("CartPole-v1", { numEnvs: 4 });
 *     const algorithm = new A2C(env, { seed, totalTimesteps, engine: "eager" });
 *     return { algorithm, env, options: { seed } };
 *   });
 * `;
 * const steps: number[] = [];
 * const training = trainInWorker(
 *   `data:text/javascript,${encodeURIComponent(trainer)}`,
 *   {
 *     totalTimesteps: 200,
 *     settings: { seed: 1 },
 *     onProgress: ({ step }) => steps.push(step),
 *   },
 * );
 * await training.result;
 * assertEquals(steps.at(-1), 200);
 * training.close();
 * ```
 *
 * @module
 */
export {
  type ExposedRun,
  type ExposedTraining,
  exposeTraining,
  type StartTraining,
} from "./expose_training.ts";
export type {
  Calls,
  CheckpointBytes,
  WorkerEvaluation,
  WorkerProgress,
} from "./messages.ts";
export {
  type StartedWorker,
  trainInWorker,
  type TrainInWorkerOptions,
  type WorkerTraining,
} from "./train_in_worker.ts";
