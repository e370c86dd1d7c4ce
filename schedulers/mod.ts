/**
 * Schedules for learning rates and exploration, as pure functions: of progress, which
 * return a multiplier, and of steps, which return a value. Those of OpenAI baselines
 * return the original's numbers.
 *
 * @example
 * ```ts
 * import { cosine, scale, warmup } from "@bellman/schedulers";
 * import { assertAlmostEquals, assertEquals } from "@std/assert";
 *
 * const learningRate = scale(warmup(cosine, { fraction: 0.1 }), 3e-4);
 * assertEquals(learningRate(0), 0);
 * assertAlmostEquals(learningRate(0.1), 3e-4);
 * assertEquals(learningRate(1), 0);
 * ```
 *
 * @module
 */
export * from "./schedules.ts";
