/**
 * Schedules as pure functions: of progress, which give a multiplier, and of
 * steps, which give a value. The schedules of OpenAI baselines give the
 * original's numbers.
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
