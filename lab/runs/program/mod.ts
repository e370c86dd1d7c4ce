/**
 * Programs that train: errors in one line, signals, streams and files.
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
export { guarded, notices } from "./guarded.ts";
export {
  type CommandIo,
  exitCodeOf,
  interruptSignal,
  listenEarly,
  printable,
  processIo,
  shellWord,
} from "./process.ts";
export { readText } from "./read_text.ts";
