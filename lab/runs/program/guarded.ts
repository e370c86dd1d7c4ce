import { inspect } from "node:util";
import {
  asInputError,
  asLine,
  messageOf,
  RunFailure,
  withHint,
} from "./errors.ts";
import { atOwnLine } from "./own_modules.ts";
import { type CommandIo, onStrayError, strayErrorsHeard } from "./process.ts";

/**
 * Makes a function that prints notices to standard error, one per line.
 *
 * @example
 * ```ts
 * import { notices } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * let told = "";
 * const io = {
 *   out: () => {},
 *   err: (text: string) => told += text,
 *   outIsTerminal: false,
 *   errIsTerminal: false,
 * };
 * notices(io)("The run imports\nmine.ts");
 * assertEquals(told, "The run imports mine.ts\n");
 * ```
 */
export function notices(io: CommandIo): (line: string) => void {
  return (line) => io.err(`${asLine(line)}\n`);
}

/** Options of {@linkcode guarded}. */
export interface GuardedOptions {
  /** Print the stack trace of an error too. */
  isDebugged?: boolean;
}

/**
 * Runs a command, and prints the error that ends it as one line.
 *
 * @param io Output streams.
 * @param act Runs the command and returns its exit code.
 * @returns Its exit code; on errors 2 for invalid input, 1 for any other.
 *
 * @example
 * ```ts
 * import { guarded, processIo } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(await guarded(processIo(), () => Promise.resolve(0)), 0);
 * ```
 */
export async function guarded(
  io: CommandIo,
  act: () => Promise<number>,
  { isDebugged = false }: GuardedOptions = {},
): Promise<number> {
  const stray = Promise.withResolvers<never>();
  const release = onStrayError((thrown) =>
    stray.reject(
      new RunFailure(
        `Failed where nothing could catch it: ${messageOf(thrown)}`,
        { cause: thrown },
      ),
    )
  );
  try {
    const code = await Promise.race([act(), stray.promise]);
    await Promise.race([strayErrorsHeard(), stray.promise]);
    return code;
  } catch (error) {
    const input = asInputError(error);
    const told = withHint(input ?? error);
    io.err(`error: ${told}${atOwnLine(error, told, true)}\n`);
    // With its causes, as far as known.
    if (isDebugged && error instanceof Error) {
      io.err(`${inspect(error)}\n`);
    }
    return input === undefined ? 1 : 2;
  } finally {
    release();
  }
}
