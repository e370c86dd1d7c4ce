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
  ENOTEMPTY: "the folder is not empty",
  ENAMETOOLONG: "its name is too long",
  ELOOP: "its links lead in a circle",
  EINVAL: "it cannot be used so",
  EROFS: "it is on a disk that may only be read",
  ENOSPC: "the disk is full",
  EDQUOT: "the user's share of the disk is full",
  EFBIG: "it would be too large",
  EBUSY: "something else uses it",
  ETXTBSY: "it is a program that runs",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  EIO: "the disk does not answer",
};

/**
 * Says in one line what was thrown, which need not be an error: environments of
 * the user's own may throw anything.
 */
export function messageOf(thrown: unknown): string {
  try {
    const text = thrown instanceof Error
      ? String(thrown.message || thrown.name)
      : typeof thrown === "string" && thrown.trim() !== ""
      ? thrown
      : `${
        Deno.inspect(thrown, { compact: true, breakLength: Infinity })
      } was thrown`;
    return text.trim().split(/[\r\n]/)[0];
  } catch {
    // Its own getters throw.
    return "something that cannot be shown was thrown";
  }
}

/** The path that an error of Deno's own functions names, quoted at its end. */
function pathIn({ message }: Error): string | undefined {
  return /: \w+ (?:'[^']+' -> )?'([^']+)'$/.exec(message)?.[1];
}

/** Says in words what the file system makes of a path that cannot be used. */
export function fileProblem(error: unknown): string | undefined {
  return FILE_PROBLEMS[(error as { code?: string } | null)?.code ?? ""];
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
  const problem = fileProblem(error);
  if (problem === undefined) return undefined;
  const path = ownPath ?? (error as { path?: string }).path ?? pathIn(error);
  const which = path === undefined ? "a file" : `the file ${path}`;
  return new UsageError(`Cannot use ${which}: ${problem}`, {
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
