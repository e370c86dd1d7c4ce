/**
 * Returns and advantages: n-step returns, generalized advantage estimation (GAE),
 * V-trace and Retrace as pure functions on typed arrays.
 *
 * Arrays are env-major: step `t` of environment `e` is at `e * numSteps + t`. A
 * `terminated` step does not bootstrap; a `truncated` one bootstraps from the value of
 * its final observation. With `out` nothing is allocated.
 *
 * @example
 * ```ts
 * import { generalizedAdvantageEstimation } from "@bellman/returns";
 * import { assertEquals } from "@std/assert";
 *
 * // Two environments, three steps; the first is truncated by a time limit.
 * const { returns } = generalizedAdvantageEstimation({
 *   rewards: Float32Array.of(1, 1, 1, 0, 0, 1),
 *   values: new Float32Array(6),
 *   terminated: Uint8Array.of(0, 0, 0, 0, 0, 1),
 *   truncated: Uint8Array.of(0, 1, 0, 0, 0, 0),
 *   finalValues: Float32Array.of(0, 4, 0, 0, 0, 0),
 *   lastValues: Float32Array.of(2, 2),
 * }, { numEnvs: 2, numSteps: 3, gamma: 0.5, lambda: 1 });
 * assertEquals(returns, Float64Array.of(2.5, 3, 2, 0.25, 0.5, 1));
 * ```
 *
 * @module
 */
export * from "./returns.ts";
