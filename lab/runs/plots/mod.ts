/**
 * Curves of runs, grouped by what they differ in.
 *
 * @module
 */
export {
  AXES,
  axisOf,
  curveOf,
  loggedRuns,
  panelsOf,
  runFoldersIn,
} from "./run_curves.ts";
