import { allocateBatch, sample, SeededRandom, writeRow } from "@bellman/envs";
import type { Batch, VecEnv } from "@bellman/types";

/** Settings of timing a vector environment. */
export interface SpeedTask {
  /** Steps before the clock is started. */
  readonly warmup: number;
  readonly steps: number;
  readonly seed: number;
}

/** Batches of actions that are taken in turn. */
const BATCHES = 64;

/** Random actions of the environment's space, one batch for each of some steps. */
function randomActions(env: VecEnv, seed: number): Batch[] {
  const random = new SeededRandom(seed);
  const { actionSpace, numEnvs } = env;
  return Array.from({ length: BATCHES }, () => {
    const batch = allocateBatch(actionSpace, numEnvs);
    for (let row = 0; row < numEnvs; row++) {
      writeRow(actionSpace, sample(actionSpace, random), { batch, row });
    }
    return batch;
  });
}

/**
 * Steps a second of all copies together; the environment is closed at the end.
 *
 * @param actions Batches to take in turn instead of random ones.
 */
export function stepsPerSecond(
  env: VecEnv,
  { warmup, steps, seed }: SpeedTask,
  actions: readonly Batch[] = randomActions(env, seed),
): number {
  env.reset({ seed });
  const run = (count: number): number => {
    const start = performance.now();
    for (let i = 0; i < count; i++) env.step(actions[i % actions.length]);
    return (performance.now() - start) / 1000;
  };
  run(warmup);
  const seconds = run(steps);
  env.close();
  return steps * env.numEnvs / seconds;
}
