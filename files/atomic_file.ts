import { named, openPlainSync } from "./plain_file.ts";
import { builtin, inPieces } from "./runtime.ts";

/** Content of a file: text, bytes, or bytes in pieces. */
export type FileContent = string | Uint8Array | Iterable<Uint8Array>;

/** Suffix of incomplete files. */
export const TEMPORARY_SUFFIX = ".tmp";

/** Temporary files that this process is writing. */
const inUse = new Set<string>();

/**
 * Replaces a file atomically: the content goes to a temporary file next to it, which is
 * synced to disk and then renamed. If the process dies, the path holds either the old
 * or the new content, and at most a file `PATH.tmp` (`PATH.N.tmp` for overlapping
 * replacements) is left next to it.
 *
 * @param path Path of the file; its folder must exist.
 * @param content Content.
 * @throws {Error} System error if the file cannot be written, or an error of the
 * content.
 *
 * @example
 * ```ts
 * import { replaceFile } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * const path = await Deno.makeTempFile();
 * await replaceFile(path, "first");
 * await replaceFile(path, [Uint8Array.of(110), Uint8Array.of(101, 119)]);
 * assertEquals(await Deno.readTextFile(path), "new");
 * await Deno.remove(path);
 * ```
 */
export async function replaceFile(
  path: string,
  content: FileContent | AsyncIterable<Uint8Array>,
): Promise<void> {
  const { promises: fs } = builtin("node:fs");
  const temporary = claimTemporary(path);
  try {
    await fs.rm(temporary, { force: true });
    // Do not write through a link.
    const file = await fs.open(temporary, "wx");
    try {
      for await (const chunk of chunksOf(content)) {
        for (const piece of inPieces([chunk])) {
          await file.writeFile(piece);
        }
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await fs.rename(temporary, path);
  } catch (error) {
    await fs.rm(temporary, { force: true }).catch(() => {});
    throw named(error, path);
  } finally {
    inUse.delete(temporary);
  }
  syncFolder(builtin("node:path").dirname(path));
}

/**
 * Replaces a file as {@linkcode replaceFile} does, synchronously.
 *
 * @param path Path of the file; its folder must exist.
 * @param content Content.
 * @throws {Error} System error if the file cannot be written, or an error of the
 * content.
 *
 * @example
 * ```ts
 * import { replaceFileSync } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * const path = Deno.makeTempFileSync();
 * replaceFileSync(path, "text");
 * assertEquals(Deno.readTextFileSync(path), "text");
 * Deno.removeSync(path);
 * ```
 */
export function replaceFileSync(path: string, content: FileContent): void {
  const fs = builtin("node:fs");
  const temporary = claimTemporary(path);
  try {
    const file = openPlainSync(temporary, "create");
    try {
      for (const piece of inPieces(chunksOf(content))) {
        fs.writeFileSync(file, piece);
      }
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
    fs.renameSync(temporary, path);
  } catch (error) {
    const left = fs.lstatSync(temporary, { throwIfNoEntry: false });
    if (left !== undefined && !left.isDirectory()) fs.rmSync(temporary);
    throw named(error, path);
  } finally {
    inUse.delete(temporary);
  }
  syncFolder(builtin("node:path").dirname(path));
}

/**
 * Syncs a folder's entries to disk, if the system supports it.
 *
 * @param path Path of the folder.
 *
 * @example
 * ```ts
 * import { syncFolder } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(syncFolder(Deno.makeTempDirSync()), undefined);
 * ```
 */
export function syncFolder(path: string): void {
  const { closeSync, fsyncSync, openSync } = builtin("node:fs");
  try {
    const folder = openSync(path, "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // Windows cannot open folders; the rename is then as durable as Windows makes it.
  }
}

/**
 * Chooses the name of a temporary file. A number separates overlapping replacements;
 * the next replacement overwrites what a dead process left.
 */
function claimTemporary(path: string): string {
  let name = path + TEMPORARY_SUFFIX;
  for (let n = 2; inUse.has(name); n++) {
    name = `${path}.${n}${TEMPORARY_SUFFIX}`;
  }
  inUse.add(name);
  return name;
}

function chunksOf<Chunks>(
  content: string | Uint8Array | Chunks,
): Chunks | Uint8Array[] {
  if (typeof content === "string") return [new TextEncoder().encode(content)];
  return content instanceof Uint8Array ? [content] : content;
}
