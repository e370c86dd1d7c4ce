/** Files that are either the old or the new ones, whenever the process dies. */
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** What ends the name of a file that is not complete yet. */
export const temporarySuffix = ".tmp";

/** Writes a temporary file, brings it to the disk and renames it. */
export function writeAtomically(
  path: string,
  content: Uint8Array | string,
): void {
  const temporary = path + temporarySuffix;
  const bytes = typeof content === "string"
    ? new TextEncoder().encode(content)
    : content;
  const file = openSync(temporary, "w");
  try {
    writeFully(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncFolder(dirname(path));
}

/** Writes all bytes, also where the system takes only a part of them at once. */
export function writeFully(file: number, bytes: Uint8Array): void {
  let position = 0;
  while (position < bytes.length) {
    position += writeSync(file, bytes, position, bytes.length - position);
  }
}

/** Brings the names in a folder to the disk, where the system can do that. */
export function syncFolder(path: string): void {
  try {
    const folder = openSync(path, "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // Windows opens no folders; the rename is then as durable as it makes it.
  }
}
