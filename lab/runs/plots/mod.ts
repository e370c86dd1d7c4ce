/**
 * Learning curves of runs, grouped by their differences, for `@bellman/training/plots`.
 *
 * @example
 * ```ts
 * import { trainRun } from "@bellman/runs";
 * import { runCurves } from "@bellman/runs/plots";
 * import { renderPanels } from "@bellman/training/plots";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/run`;
 * await trainRun({ algorithm: "a2c", totalTimesteps: 100 }, { dir });
 * const { panels, xLabel } = await runCurves([dir], { key: "eval/return_mean" });
 * const svg = renderPanels(panels, { title: "Returns", xLabel });
 * assertStringIncludes(svg, "CartPole-v1");
 * ```
 *
 * @module
 */
export {
  AXES,
  type CurveAxis,
  type CurvesChoice,
  type RunCurves,
  runCurves,
} from "./run_curves.ts";
