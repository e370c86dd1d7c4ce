import {
  asInputError,
  asLine,
  messageOf,
  RunFailure,
  withHint,
} from "./errors.ts";
import { type CommandIo, onStrayError, strayErrorsHeard } from "./process.ts";

/**
 * Returns a function that prints notices to standard error, a line each.
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
  /** True where the stack of an error is printed as well. */
  isDebugged?: boolean;
}

/**
 * Carries out a command, and prints the line of an error that ends it.
 *
 * @param io Streams to print to.
 * @param act The command, which gives its exit code.
 * @returns Its exit code; of an error 2 for bad input, 1 for any other.
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
    io.err(`error: ${withHint(input ?? error)}\n`);
    // With what caused it, as far as that is known.
    if (isDebugged && error instanceof Error) {
      io.err(`${Deno.inspect(error)}\n`);
    }
    return input === undefined ? 1 : 2;
  } finally {
    release();
  }
}
