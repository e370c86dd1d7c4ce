import type { OptionSpec, ParsedOptions } from "./args.ts";
import type { CommandIo } from "./io.ts";

/** One command of the command line. */
export interface Command {
  /** Its name, the first word after the program's. */
  name: string;
  /** What follows the name in the usage line. */
  usage: string;
  /** One line that says what it does. */
  summary: string;
  /** Its options beside the common ones. */
  options: readonly OptionSpec[];
  /** Further help, printed below the options. */
  details?: () => string;
  /** Runs it and returns the exit code. */
  run(options: ParsedOptions, io: CommandIo): Promise<number>;
}
