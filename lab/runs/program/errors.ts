import { replaceFileSync } from "@bellman/files";
import { dirname, sep } from "node:path";
import fileProblems from "./file_problems.json" with { type: "json" };
import { printable } from "./process.ts";
import { UsageError } from "./usage_error.ts";

export * from "./usage_error.ts";

/**
 * A failure of a run that began well: not a mistake of the input.
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

/** A failure of runs for whose files the disk has no room: others would fail, too. */
export class DiskFull extends RunFailure {}

/** A checkpoint that cannot be restored, so that the resume does not begin. */
export class RestoreFailure extends UsageError {}

/** Descriptions of file system errors, by code. */
const FILE_PROBLEMS: Readonly<Record<string, string>> = fileProblems;

/** Most letters of a line, and of a word in one that is longer. */
const MOST_LETTERS = 2000, MOST_OF_WORD = 160;
/** Letters that are left of an end that is cut off from a longer text. */
const END = 0.4;

function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = Math.floor(END * most);
  return `${text.slice(0, most - end - 3)}...${text.slice(-end)}`
    .toWellFormed();
}

/**
 * Makes a text fit to be shown as a line: what is long is cut in its middle, and
 * what would command a terminal is written out.
 *
 * @param text Any text, of which parts may be given by somebody else.
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
  // Before it is read letter by letter.
  const some = shortened(text, 50 * MOST_LETTERS);
  const line = printable(
    some.replaceAll(/\s*[\r\n]\s*/g, " ").replaceAll("\t", " "),
  );
  if (line.length <= MOST_LETTERS) return line;
  const words = line.replaceAll(/\S+/g, (it) => shortened(it, MOST_OF_WORD));
  return shortened(words, MOST_LETTERS);
}

/**
 * Describes in one line what was thrown: the user's own environments may throw
 * anything.
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
      : `${
        Deno.inspect(thrown, { compact: true, breakLength: Infinity })
      } was thrown`;
    return asLine(text.trim().split(/[\r\n]/, 1)[0]);
  } catch {
    // Its own getters throw.
    return "something that cannot be shown was thrown";
  }
}

/** Finds the path that an error of Deno's functions quotes at its end. */
function pathIn({ message }: Error): string | undefined {
  return /: \w+ (?:'[^']+' -> )?'([^']+)'$/.exec(message)?.[1];
}

/**
 * Describes an error of the file system.
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
 * True for an error of a file for which the disk, or the user's share of it, has no room.
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

/** Describes an error, and what to do next, where it says so. */
export function withHint(error: unknown): string {
  const { hint } = Object(error) as { hint?: string };
  return hint === undefined ? messageOf(error) : `${messageOf(error)}; ${hint}`;
}

/**
 * Turns an error of the file system into one that a person can act on; undefined
 * for any other.
 *
 * @param error Thrown value.
 * @param ownPath Path to name, where the error names another.
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
 * Returns the error as a person sees it, if bad input can cause it; others are
 * failures of the run or of the program.
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
  if (error instanceof Deno.errors.NotCapable) {
    const [, access, what] = /^Requires (.+?) access to (.+?), run/
      .exec(error.message) ?? [];
    return new UsageError(
      what === undefined
        ? error.message
        : `Cannot use ${what}: the permissions of this command leave out ${access} access to it`,
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
    return (await Deno.stat(path)).isDirectory;
  } catch {
    return false;
  }
}

/**
 * Checks that a file can be written, before there is anything to write.
 *
 * @param path Path of the file.
 * @param what Description of the file.
 * @throws {UsageError} If it is a folder, or in a folder that cannot be written to.
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
    await Deno.remove(await Deno.makeTempFile({ dir }));
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound
      ? "is not there"
      : "cannot be written to";
    throw new UsageError(
      `Cannot write ${what} to ${path}: the folder ${dir} ${why}`,
      { cause: error },
    );
  }
}

/**
 * Writes a file as a whole or not at all; a former file is kept until then.
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
    // The caller knows its own path, not the one that is written to first.
    throw fileError(error, path) ?? error;
  }
}
