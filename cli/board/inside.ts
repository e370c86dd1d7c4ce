/** Files of folders that may be somebody else's: read, never followed out of them. */
import { kindOf, openPlainSync } from "@bellman/files";
import { closeSync, fstatSync, lstatSync, readSync } from "node:fs";
import { sep } from "node:path";
import { fileProblem, messageOf } from "../../lab/runs/program/errors.ts";

/** Largest files that are read, in bytes. */
export const MOST_BYTES = {
  /** Settings, results and lines of text. */
  text: 1 << 20,
  log: 2e9,
  report: 100e6,
  video: 100e6,
  /** Description of what a checkpoint holds. */
  header: 8 << 20,
  record: 64 << 20,
} as const;

/** A file, and the folder that it may not lead out of. */
export interface InsideFile {
  /** Real path of the folder. */
  root: string;
  path: string;
  /** Most bytes that it may have. */
  most: number;
}

/** An open file. */
export interface OpenFile {
  descriptor: number;
  size: number;
}

/**
 * Opens a regular file whose real path is inside of a folder. A pipe is not waited
 * for, and a file that is replaced by a link meanwhile is refused.
 *
 * @throws {SyntaxError} If it is something else, elsewhere or too large.
 * @throws {Error} The system's error where it cannot be opened.
 */
export function openInside({ root, path, most }: InsideFile): OpenFile {
  const real = Deno.realPathSync(path);
  if (!isInside(root, real)) {
    throw new SyntaxError("it leads out of its folder");
  }
  const descriptor = openPlainSync(real, "read");
  try {
    const { size, ino, dev } = fstatSync(descriptor);
    const there = lstatSync(real);
    const isSame = there.ino === ino && there.dev === dev;
    // A folder on the way may have become a link.
    if (!isSame || Deno.realPathSync(real) !== real) {
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

/** Returns true for a real path inside of a folder. */
function isInside(root: string, real: string): boolean {
  return real.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** Opens a file for as long as `use` needs it, as {@linkcode openInside} does. */
export function withInside<T>(file: InsideFile, use: (it: OpenFile) => T): T {
  const opened = openInside(file);
  try {
    return use(opened);
  } finally {
    closeSync(opened.descriptor);
  }
}

/** Reads some bytes; fewer where the file ends before. */
export function readPart(
  descriptor: number,
  { at, length }: { at: number; length: number },
): Uint8Array {
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const left = length - filled;
    const read = readSync(descriptor, bytes, filled, left, at + filled);
    if (read === 0) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}

/** Reads a whole text file. */
export function readTextInside(file: InsideFile): string {
  return withInside(
    file,
    ({ descriptor, size }) =>
      new TextDecoder().decode(readPart(descriptor, { at: 0, length: size })),
  );
}

/** Describes why a file could not be read, without its path. */
export function problemOf(error: unknown): string {
  return fileProblem(error) ??
    messageOf(error).replace(/^Cannot open .*: (?=it )/, "");
}

/** Pieces of a file that are sent. */
const PIECE_BYTES = 1 << 18;

/** Makes a stream of an open file, which is read as fast as it is taken, and then closed. */
export function streamOf(
  { descriptor, size }: OpenFile,
): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      const length = Math.min(PIECE_BYTES, size - at);
      const piece = readPart(descriptor, { at, length });
      at += piece.length;
      if (piece.length > 0) controller.enqueue(piece);
      if (piece.length === length && at < size) return;
      closeSync(descriptor);
      controller.close();
    },
    cancel: () => closeSync(descriptor),
  }, { highWaterMark: 0 });
}

/** An entry of a folder. */
export interface Entry {
  name: string;
  /** Kind, where it is no file: `a folder`, `a link`. */
  kind?: string;
  size: number;
  /** Time of its last change. */
  changed: number;
  /** Differs where the entry has been changed or replaced. */
  stamp: string;
}

/** Looks at an entry of a folder, without following it; undefined where it is gone or hidden. */
export function lookAt(dir: string, name: string): Entry | undefined {
  try {
    const found = lstatSync(`${dir}/${name}`, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    const { size, mtimeMs: changed, ino } = found;
    const stamp = `${size} ${changed} ${ino}`;
    return { name, kind: kindOf(found), size, changed, stamp };
  } catch {
    // The folder may not be looked into.
    return undefined;
  }
}

/** Lists the names in a folder, and which of them are folders; none where it is gone. */
export function namesIn(
  dir: string,
): { names: Set<string>; folders: string[] } {
  const names = new Set<string>(), folders: string[] = [];
  try {
    for (const { name, isDirectory } of Deno.readDirSync(dir)) {
      names.add(name);
      if (isDirectory) folders.push(name);
    }
  } catch {
    // It is gone, or may not be read.
  }
  return { names, folders: folders.sort() };
}
