import { inspect, isNotCapable, replaceFileSync } from "@bellman/files";
import { mkdtemp, rmdir, stat } from "node:fs/promises";
import { dirname, sep } from "node:path";
import fileProblems from "./file_problems.json" with { type: "json" };
import { atOwnLine } from "./own_modules.ts";
import { printable } from "./process.ts";
import { UsageError } from "./usage_error.ts";

export * from "./usage_error.ts";

/**
 * Failure of a run in training, as opposed to invalid input.
 *
 * @example
 * ```ts
 * import { RunFailure } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(new RunFailure("The disk is gone").name, "RunFailure");
 * ```
 */
export class RunFailure extends Error {
  /** The error's name. */
  override readonly name: string = "RunFailure";
}

/** Failure because the disk is full: other runs would fail too. */
export class DiskFull extends RunFailure {}

/** Checkpoint that cannot be restored, so that the run is not resumed. */
export class RestoreFailure extends UsageError {}

/** Descriptions of file system errors, by code. */
const FILE_PROBLEMS: Readonly<Record<string, string>> = fileProblems;

/** Largest number of letters of a line, and of a word in a longer one. */
const MOST_LETTERS = 2000, MOST_OF_WORD = 160;
/** Fraction of a cut text that is kept from its end. */
const END = 0.4;

function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = Math.floor(END * most);
  return `${text.slice(0, most - end - 3)}...${text.slice(-end)}`
    .toWellFormed();
}

/**
 * Makes one safe line of a text: long texts are cut in the middle, and terminal control
 * sequences are escaped.
 *
 * @param text Any text, possibly untrusted.
 *
 * @example
 * ```ts
 * import { asLine } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(asLine("red\x1b[31m\n  and more"), "red\\u001b[31m and more");
 * ```
 */
export function asLine(text: string): string {
  // Cut first, before it is processed letter by letter.
  const some = shortened(text, 50 * MOST_LETTERS);
  const line = printable(
    some.replaceAll(/\s*[\r\n]\s*/g, " ").replaceAll("\t", " "),
  );
  if (line.length <= MOST_LETTERS) return line;
  const words = line.replaceAll(/\S+/g, (it) => shortened(it, MOST_OF_WORD));
  return shortened(words, MOST_LETTERS);
}

/**
 * Describes a thrown value in one line; environments may throw anything. An error of a
 * module that the user named ends with its file and line.
 *
 * @example
 * ```ts
 * import { messageOf } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(messageOf(new Error("no such env\nat line 3")), "no such env");
 * assertEquals(messageOf({ code: 3 }), "{ code: 3 } was thrown");
 * ```
 */
export function messageOf(thrown: unknown): string {
  try {
    const text = thrown instanceof Error
      ? String(thrown.message || thrown.name)
      : typeof thrown === "string" && thrown.trim() !== ""
      ? thrown
      : `${inspect(thrown)} was thrown`;
    const line = asLine(text.trim().split(/[\r\n]/, 1)[0]);
    return line + atOwnLine(thrown, line);
  } catch {
    // Its getters throw.
    return "something that cannot be shown was thrown";
  }
}

/** Finds the path quoted at the end of an error of Deno's functions. */
function pathIn({ message }: Error): string | undefined {
  return /: \w+ (?:'[^']+' -> )?'([^']+)'$/.exec(message)?.[1];
}

/**
 * Describes a file system error.
 *
 * @example
 * ```ts
 * import { fileProblem } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(fileProblem({ code: "ENOSPC" }), "the disk is full");
 * assertEquals(fileProblem(new Error("another")), undefined);
 * ```
 */
export function fileProblem(error: unknown): string | undefined {
  return FILE_PROBLEMS[(error as { code?: string } | null)?.code ?? ""];
}

/**
 * Returns true for the error of a full disk, or of an exceeded quota.
 *
 * @example
 * ```ts
 * import { isDiskFull } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * const error = Object.assign(new Error("no space"), { code: "ENOSPC" });
 * assertEquals(isDiskFull(new Error("not saved", { cause: error })), true);
 * ```
 */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, cause } = error as Error & { code?: string };
  return error instanceof DiskFull || code === "ENOSPC" ||
    code === "EDQUOT" || isDiskFull(cause);
}

/** Describes an error, with its hint if there is one. */
export function withHint(error: unknown): string {
  const { hint } = Object(error) as { hint?: string };
  return hint === undefined ? messageOf(error) : `${messageOf(error)}; ${hint}`;
}

/**
 * Converts a file system error to one that helps the user; undefined for other errors.
 *
 * @param error Thrown value.
 * @param ownPath Path to name, if the error names another.
 *
 * @example
 * ```ts
 * import { fileError } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * const error = Object.assign(new Error("no space"), { code: "ENOSPC" });
 * const expected = "Cannot use the file run.json: the disk is full";
 * assertEquals(fileError(error, "run.json")?.message, expected);
 * ```
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
 * Returns the error for the user if invalid input can cause it; others are failures of
 * the run or of the program.
 *
 * @example
 * ```ts
 * import { asInputError } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new RangeError("Cannot use 0 environments");
 * assertEquals(asInputError(error), error);
 * assertEquals(asInputError(new Error("a bug")), undefined);
 * ```
 */
export function asInputError(error: unknown): Error | undefined {
  if (!(error instanceof Error) || error instanceof RunFailure) {
    return undefined;
  }
  if (isNotCapable(error)) {
    const [, access, resource] = /^Requires (.+?) access to (.+?), run/
      .exec(error.message) ?? [];
    return new UsageError(
      resource === undefined
        ? error.message
        : `Cannot use ${resource}: the permissions of this command leave out ${access} access to it`,
      { cause: error },
    );
  }
  const isInput = error instanceof UsageError || error instanceof RangeError ||
    error instanceof TypeError || error instanceof SyntaxError;
  return fileError(error) ?? (isInput ? error : undefined);
}

async function isFolder(path: string): Promise<boolean> {
  if (path.endsWith("/") || path.endsWith(sep)) return true;
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Checks that a file can be written, before its content exists.
 *
 * @param path Path of the file.
 * @param what Description of the file.
 * @throws {UsageError} If it is a folder, or its folder is not writable.
 *
 * @example
 * ```ts
 * import { checkWritable, UsageError } from "@bellman/runs/program";
 * import { assertRejects } from "@std/assert";
 *
 * const dir = await Deno.makeTempDir();
 * await checkWritable(`${dir}/policy.onnx`, "the policy");
 * await assertRejects(() => checkWritable(dir, "the policy"), UsageError);
 * ```
 */
export async function checkWritable(path: string, what: string): Promise<void> {
  if (await isFolder(path)) {
    throw new UsageError(
      `Cannot write ${what} to ${path}: expected a file, this is a folder`,
    );
  }
  const dir = dirname(path);
  try {
    await rmdir(await mkdtemp(`${dir}/.`));
  } catch (error) {
    const why = (error as { code?: string }).code === "ENOENT"
      ? "is not there"
      : "cannot be written to";
    throw new UsageError(
      `Cannot write ${what} to ${path}: the folder ${dir} ${why}`,
      { cause: error },
    );
  }
}

/**
 * Writes a file atomically.
 *
 * @example
 * ```ts
 * import { writeWhole } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * const path = await Deno.makeTempFile();
 * writeWhole(path, "all of it");
 * assertEquals(await Deno.readTextFile(path), "all of it");
 * ```
 */
export function writeWhole(path: string, content: string | Uint8Array): void {
  try {
    replaceFileSync(path, content);
  } catch (error) {
    // The caller knows its own path, not the temporary one.
    throw fileError(error, path) ?? error;
  }
}
