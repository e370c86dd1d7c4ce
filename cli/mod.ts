/**
 * The command line: `train`, `experiment`, `eval`, `play`, `plot`, `share` and `list`. It
 * turns words into options, makes one call of a package, and prints.
 *
 * @example
 * ```ts
 * import { run } from "@bellman/cli";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(await run(["list"]), 0);
 * ```
 *
 * @module
 */
export { run } from "./command_line.ts";
export type { CommandIo } from "@bellman/runs/program";
