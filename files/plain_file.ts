import type { Stats } from "node:fs";
import { builtin } from "./runtime.ts";

/** Modes of opening a file. */
export type PlainFileUse = "read" | "append" | "update" | "create";

/** Names of what is not a regular file. */
const KINDS = {
  isSymbolicLink: "a link",
  isDirectory: "a folder",
  isFIFO: "a pipe",
  isCharacterDevice: "a device",
  isBlockDevice: "a device",
  isSocket: "a socket",
} as const;

/**
 * Names the kind of a path that is not a regular file.
 *
 * @param found Result of `lstat` or `fstat` of `node:fs`.
 * @returns Text such as `a pipe`; undefined for a regular file.
 *
 * @example
 * ```ts
 * import { kindOf } from "@bellman/files";
 * import { lstatSync } from "node:fs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(kindOf(lstatSync(await Deno.makeTempDir())), "a folder");
 * assertEquals(kindOf(lstatSync(await Deno.makeTempFile())), undefined);
 * ```
 */
export function kindOf(found: Stats): string | undefined {
  const tests = Object.keys(KINDS) as (keyof typeof KINDS)[];
  const test = tests.find((it) => found[it]());
  return test && KINDS[test];
}

/**
 * Opens a regular file: not a pipe, which would block, nor a device. Links are not
 * followed when writing.
 *
 * | use      | at the path                        | then                       |
 * | -------- | ---------------------------------- | -------------------------- |
 * | `read`   | a file, or a link to one           | is read                    |
 * | `append` | a file or nothing                  | is read, grows at its end  |
 * | `update` | a file or nothing                  | is read and written        |
 * | `create` | anything but a folder              | is removed, a new one is written |
 *
 * @param path Path of the file.
 * @param use Use of the file.
 * @returns The descriptor, to be closed.
 * @throws {SyntaxError} If it is not a regular file.
 * @throws {Error} System error if it cannot be opened.
 *
 * @example
 * ```ts
 * import { openPlainSync } from "@bellman/files";
 * import { assertThrows } from "@std/assert";
 *
 * const path = await Deno.makeTempDir();
 * assertThrows(() => openPlainSync(path, "read"), SyntaxError, "it is a folder");
 * ```
 */
export function openPlainSync(path: string, use: PlainFileUse): number {
  const fs = builtin("node:fs");
  const { O_APPEND, O_CREAT, O_EXCL, O_NONBLOCK, O_RDONLY, O_RDWR } =
    fs.constants;
  if (use === "create") fs.rmSync(path, { force: true });
  const stats = fs.lstatSync(path, { throwIfNoEntry: false });
  const isLink = stats?.isSymbolicLink() ?? false;
  if (stats !== undefined && !(isLink && use === "read")) {
    checkPlain(path, stats);
  }
  // Deno follows links before the system could refuse them, except for new files.
  const access = use === "read"
    ? O_RDONLY
    : O_RDWR | (stats === undefined ? O_CREAT | O_EXCL : 0);
  // Windows has no pipes that block, nor this flag.
  const flags = access | (use === "append" ? O_APPEND : 0) | O_NONBLOCK;
  const file = fs.openSync(path, flags, 0o666);
  try {
    const opened = fs.fstatSync(file);
    checkPlain(path, opened);
    // A link may have been created there meanwhile.
    const there = isLink ? opened : fs.lstatSync(path);
    checkPlain(path, there);
    if (there.ino === opened.ino && there.dev === opened.dev) return file;
    throw new SyntaxError(
      `Cannot open ${path}: it has been replaced meanwhile`,
    );
  } catch (error) {
    fs.closeSync(file);
    throw error;
  }
}

function checkPlain(path: string, stats: Stats): void {
  const kind = kindOf(stats);
  if (kind === undefined) return;
  throw new SyntaxError(
    `Cannot open ${path}: it is ${kind}, expected a file`,
  );
}

/**
 * Adds the path to system errors of writing to an open file, which only know its
 * number.
 *
 * @param path Path of the file.
 * @param write Writes to the file.
 * @returns What `write` returns.
 * @throws {Error} What `write` throws, with the path.
 *
 * @example
 * ```ts
 * import { namingFile } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 * import { closeSync, openSync, writeSync } from "node:fs";
 *
 * const path = await Deno.makeTempFile();
 * const file = openSync(path, "r");
 * try {
 *   namingFile(path, () => writeSync(file, "text"));
 * } catch (error) {
 *   assertEquals((error as { path?: string }).path, path);
 * }
 * closeSync(file);
 * ```
 */
export function namingFile<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw named(error, path);
  }
}

/** Adds a path to a system error, if it has none. */
export function named(error: unknown, path: string): unknown {
  if (error instanceof Error && "code" in error) {
    Object.assign(error, { path: (error as { path?: string }).path ?? path });
  }
  return error;
}
