/**
 * Plots of the training loop, without a page or a script: curves over runs, a
 * report of a run, Q values over actions, and episodes as animations; notebooks
 * show them. Loads Observable Plot, which the loop itself does without.
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
