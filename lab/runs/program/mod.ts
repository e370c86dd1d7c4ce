/**
 * Common parts of command-line programs: errors in one line, signals, output streams
 * and atomic files.
 *
 * @example
 * ```ts
 * import { guarded, UsageError } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * let told = "";
 * const io = {
 *   out: () => {},
 *   err: (text: string) => told += text,
 *   outIsTerminal: false,
 *   errIsTerminal: false,
 * };
 * const code = await guarded(io, () => {
 *   throw new UsageError("Cannot use 3 seeds: expected an even number");
 * });
 * assertEquals(code, 2);
 * assertEquals(told, "error: Cannot use 3 seeds: expected an even number\n");
 * ```
 *
 * @module
 */
export { csvText } from "./csv.ts";
export {
  asInputError,
  asLine,
  checkWritable,
  fileError,
  fileProblem,
  isDiskFull,
  messageOf,
  RunFailure,
  UsageError,
  writeWhole,
} from "./errors.ts";
export { guarded, type GuardedOptions, notices } from "./guarded.ts";
export {
  type CommandIo,
  exitCodeOf,
  type Interrupt,
  interruptSignal,
  listenEarly,
  printable,
  processIo,
  shellWord,
} from "./process.ts";
export { readText } from "./read_text.ts";
