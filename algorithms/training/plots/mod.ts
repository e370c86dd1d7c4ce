/**
 * Plots of the training loop, without a browser: learning curves, a report of a run,
 * Q-values over actions, and episodes as animations, also for notebooks. Loads
 * Observable Plot, which the loop itself does not need.
 *
 * @example
 * ```ts
 * import { renderCurves } from "@bellman/training/plots";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const runs = [{ x: [0, 100], y: [1, 5] }];
 * assertStringIncludes(renderCurves([{ name: "a", runs }]), "<svg");
 * ```
 *
 * @module
 */
export * from "./animation.ts";
export * from "./curves.ts";
export * from "./intervals.ts";
export { escapeMarkup } from "./image.ts";
export { BAND_WORDS, type CurveBand, type CurveRun, valueAt } from "./lines.ts";
export * from "./notebook_image.ts";
export * from "./q_values.ts";
export * from "./report.ts";
