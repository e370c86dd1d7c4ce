import { builtin, kindOf, openPlainSync } from "@bellman/files";

// Looked up on use: browsers have none.
const fs = () => builtin("node:fs");

/** File in an untrusted folder. */
export interface InsideFile {
  /** Real path of the folder that it must not leave. */
  readonly root: string;
  /** Path of the file. */
  readonly path: string;
  /** Largest size in bytes. */
  readonly most: number;
}

/** An open file. */
export interface OpenFile {
  /** Descriptor, to be closed. */
  readonly descriptor: number;
  /** Size in bytes when it was opened. */
  readonly size: number;
}

/**
 * Opens a regular file whose real path is inside of a folder. Pipes do not block, and a
 * file that a link replaces meanwhile is refused.
 *
 * @param file The file.
 * @returns The open file.
 * @throws {SyntaxError} If it is not a file, elsewhere or too large.
 * @throws {Error} System error if it cannot be opened.
 *
 * @example
 * ```ts
 * import { openInside } from "@bellman/runs";
 * import { assertThrows } from "@std/assert";
 *
 * const root = await Deno.realPath(await Deno.makeTempDir());
 * await Deno.symlink("/etc/hostname", `${root}/link`);
 * assertThrows(
 *   () => openInside({ root, path: `${root}/link`, most: 1000 }),
 *   SyntaxError,
 *   "it leads out of its folder",
 * );
 * ```
 */
export function openInside({ root, path, most }: InsideFile): OpenFile {
  const { fstatSync, lstatSync, realpathSync, closeSync } = fs();
  const real = realpathSync(path);
  const { sep } = builtin("node:path");
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) {
    throw new SyntaxError("it leads out of its folder");
  }
  const descriptor = openPlainSync(real, "read");
  try {
    const { size, ino, dev } = fstatSync(descriptor);
    const there = lstatSync(real);
    const isSame = there.ino === ino && there.dev === dev;
    // A folder of the path may have become a link.
    if (!isSame || realpathSync(real) !== real) {
      throw new SyntaxError("it has been replaced meanwhile");
    }
    if (size <= most) return { descriptor, size };
    throw new SyntaxError(
      `it has ${size.toLocaleString("en-US")} bytes, expected up to ${
        most.toLocaleString("en-US")
      }`,
    );
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Opens a file while `use` runs. */
export function withInside<T>(file: InsideFile, use: (it: OpenFile) => T): T {
  const opened = openInside(file);
  try {
    return use(opened);
  } finally {
    fs().closeSync(opened.descriptor);
  }
}

/** Reads bytes; fewer at the end of the file. */
export function readPart(
  descriptor: number,
  { at, length }: { at: number; length: number },
): Uint8Array {
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const left = length - filled;
    const read = fs().readSync(descriptor, bytes, filled, left, at + filled);
    if (read === 0) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}

/** Largest size of a text file in bytes. */
const MOST_TEXT = 1 << 20;

/** Reads a text file, or its first bytes; undefined if there is none. */
export function readTextInside(
  root: string,
  path: string,
  { most = MOST_TEXT, start = most }: { most?: number; start?: number } = {},
): string | undefined {
  if (fs().lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  return withInside({ root, path, most }, ({ descriptor, size }) => {
    const part = { at: 0, length: Math.min(size, start) };
    return new TextDecoder().decode(readPart(descriptor, part));
  });
}

/** Describes why a file could not be read, without its path. */
export function problemOf(error: unknown): string {
  const { message = String(error) } = Object(error) as { message?: string };
  return message.split("\n")[0].replace(/^Cannot open .*: (?=it )/s, "")
    .replace(/^E[A-Z]+: ([^,]+), .*$/s, "$1").slice(0, 500);
}

/** Entry of a folder. */
export interface Entry {
  /** Kind, if it is not a file: `a folder`, `a link`. */
  readonly kind?: string;
  /** Time of its last change. */
  readonly changed: number;
  /** Changes whenever the entry is changed or replaced. */
  readonly stamp: string;
}

/** Describes an entry without following links; undefined if it is gone or not readable. */
export function lookAt(path: string): Entry | undefined {
  try {
    const stats = fs().lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    const { size, mtimeMs: changed, ino } = stats;
    return { kind: kindOf(stats), changed, stamp: `${size} ${changed} ${ino}` };
  } catch {
    // The folder may not be readable.
    return undefined;
  }
}
