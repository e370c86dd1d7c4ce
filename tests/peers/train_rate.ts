import { train } from "@bellman/training";
import type { Trainable, VecEnv } from "@bellman/types";

/** Steps a second of training, everything included, after a warm-up. */
export async function trainRate(
  algorithm: Trainable,
  env: VecEnv,
  { warmup, steps, seed }: { warmup: number; steps: number; seed: number },
): Promise<number> {
  await train(algorithm, env, { totalTimesteps: warmup, seed });
  const started = performance.now();
  await train(algorithm, env, { totalTimesteps: steps });
  return steps / ((performance.now() - started) / 1000);
}
