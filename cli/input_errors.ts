import { RunFailure } from "./run_failure.ts";
import { UsageError } from "./usage_error.ts";

/** What the file system says of a path that cannot be used, in words. */
const FILE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EACCES: "it may not be read or written",
  EPERM: "it may not be changed",
  EEXIST: "it exists already",
  ENOTDIR: "a part of its path is not a folder",
  EISDIR: "it is a folder",
  ENOSPC: "the disk is full",
};

/** The path that an error of Deno's own functions names, quoted at its end. */
function pathIn({ message }: Error): string | undefined {
  return /: \w+ (?:'[^']+' -> )?'([^']+)'$/.exec(message)?.[1];
}

/**
 * An error of the file system as one that a person can act on; undefined for
 * any other.
 *
 * @param error What was thrown.
 * @param ownPath The path to name, where the error names another.
 */
export function fileError(
  error: unknown,
  ownPath?: string,
): UsageError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, path: itsPath } = error as { code?: string; path?: string };
  const path = ownPath ?? itsPath ?? pathIn(error);
  const problem = FILE_PROBLEMS[code ?? ""];
  if (problem === undefined) return undefined;
  const which = path === undefined ? "" : ` ${path}`;
  return new UsageError(`Cannot use the file${which}: ${problem}`, {
    cause: error,
  });
}

/**
 * The error in the form in which a person sees it, if it is one that a person's
 * input can cause; anything else is a failure of the run or of the program.
 */
export function asInputError(error: unknown): Error | undefined {
  if (!(error instanceof Error) || error instanceof RunFailure) {
    return undefined;
  }
  const isInput = error instanceof UsageError || error instanceof RangeError ||
    error instanceof TypeError || error instanceof SyntaxError ||
    error instanceof Deno.errors.NotCapable;
  return fileError(error) ?? (isInput ? error : undefined);
}
