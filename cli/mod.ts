/**
 * The command line: `train`, `eval`, `play`, `plot` and `list`. It parses,
 * validates, wires the packages and prints.
 *
 * @example
 * ```ts
 * import { run } from "@bellman/cli";
 * import { assertEquals, assertStringIncludes } from "@std/assert";
 *
 * let printed = "";
 * const io = {
 *   out: (text: string) => printed += text,
 *   err: () => {},
 *   outIsTerminal: false,
 *   errIsTerminal: false,
 * };
 * assertEquals(await run(["list"], io), 0);
 * assertStringIncludes(printed, "CartPole-v1");
 * ```
 *
 * @module
 */
export type { CommandIo } from "./io.ts";
export { run } from "./run.ts";
export type { RunConfig } from "./config/run_config.ts";
export { UsageError } from "./usage_error.ts";
