/**
 * Keeps runs: their folders, the record of each, and the lock of whoever trains.
 *
 * @example
 * ```ts
 * import { openRunFolder } from "@bellman/runs";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(
 *   () => openRunFolder("runs/missing"),
 *   RangeError,
 *   "there is no such folder",
 * );
 * ```
 *
 * @module
 */
export * from "./curves.ts";
export { formerRecord } from "./former_run.ts";
export { type InsideFile, type OpenFile, openInside } from "./inside.ts";
export * from "./keeper.ts";
export * from "./list.ts";
export * from "./lock.ts";
export * from "./record.ts";
export * from "./run_folder.ts";
