/**
 * Statistics of scores over several runs and tasks, after "Deep Reinforcement Learning
 * at the Edge of the Statistical Precipice" (Agarwal et al. 2021): aggregates with
 * stratified bootstrap confidence intervals, performance profiles, probabilities of
 * improvement and sample efficiency. Results are those of the authors' library rliable.
 *
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { interquartileMean, stratifiedBootstrap } from "@bellman/statistics";
 * import { assert, assertAlmostEquals } from "@std/assert";
 *
 * // Five runs (rows) on two tasks (columns).
 * const scores = [[0.9, 0.4], [0.7, 0.6], [0.8, 0.5], [1, 0.5], [0.1, 0.6]];
 * const { value, interval } = stratifiedBootstrap(scores, interquartileMean, {
 *   random: new SeededRandom(0),
 * });
 * assertAlmostEquals(value, 0.6167, 1e-4);
 * const [low, high] = interval!;
 * assert(low < value && value < high);
 * ```
 *
 * @module
 */
export {
  interquartileMean,
  mean,
  median,
  optimalityGap,
  type OptimalityGapOptions,
} from "./aggregates.ts";
export * from "./bootstrap.ts";
export * from "./curves.ts";
export * from "./improvement.ts";
export * from "./ratings.ts";
export type { CurveEstimate } from "./resampling.ts";
export * from "./seeds.ts";
export * from "./student_interval.ts";
export * from "./ticks.ts";
