/** Files by way of Node's built-in modules, which Deno, Node and Bun have. */
import type * as NodeFs from "node:fs";
import type * as NodePath from "node:path";
import type * as NodeUrl from "node:url";

interface Builtins {
  "node:fs": typeof NodeFs;
  "node:path": typeof NodePath;
  "node:url": typeof NodeUrl;
}

/** Bytes that go at once: runtimes copy what they read and write on the side. */
const PIECE_BYTES = 1 << 20;

/** A file that is open for reading. */
export interface InputFile {
  /** Its length in bytes. */
  readonly size: number;
  /** Fills an array with what lies from a position on, and says how much of it: less only at the end. */
  read(position: number, target: Uint8Array): Promise<number>;
}

/**
 * A built-in module. Looked up when it is first needed and not imported, so that
 * buffers in memory also work in browsers.
 */
export function builtin<Name extends keyof Builtins>(
  name: Name,
): Builtins[Name] {
  const { process } = globalThis as {
    process?: { getBuiltinModule?(name: string): Builtins[Name] | undefined };
  };
  const module = process?.getBuiltinModule?.(name);
  if (module !== undefined) return module;
  throw new TypeError(
    `Cannot open files: this runtime has no ${name}, expected Deno, Node or Bun`,
  );
}

/** The path that a caller named. */
export function toPath(path: string | URL): string {
  return path instanceof URL ? builtin("node:url").fileURLToPath(path) : path;
}

/** Files that this process has begun to write. */
let written = 0;

/**
 * Replaces a file: the pieces go to a temporary file beside it, which is brought
 * to the disk and then takes its name. Whenever the process dies, the path holds
 * either what it held or all that is new.
 */
export async function replaceFile(
  path: string,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  const { promises: fs } = builtin("node:fs");
  // Numbers keep saves that overlap apart, and begin again in each process, so
  // that what a process left behind when it died is overwritten by the next.
  const temporary = `${path}.${written++}.tmp`;
  try {
    const file = await fs.open(temporary, "w");
    try {
      for await (const piece of pieces) await writeFully(file, piece);
      await file.sync();
    } finally {
      await file.close();
    }
    await fs.rename(temporary, path);
  } catch (error) {
    await fs.rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
  await syncFolder(builtin("node:path").dirname(path));
}

/** Opens a file for as long as `use` takes. */
export async function withFile<Result>(
  path: string,
  use: (file: InputFile) => Promise<Result>,
): Promise<Result> {
  const file = await builtin("node:fs").promises.open(path, "r");
  try {
    const { size } = await file.stat();
    return await use({
      size,
      async read(position, target) {
        let filled = 0;
        while (filled < target.length) {
          const { bytesRead } = await file.read(
            target,
            filled,
            Math.min(target.length - filled, PIECE_BYTES),
            position + filled,
          );
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
        return filled;
      },
    });
  } finally {
    await file.close();
  }
}

/** Writes all bytes, also where the system takes fewer of them at once. */
async function writeFully(
  file: NodeFs.promises.FileHandle,
  bytes: Uint8Array,
): Promise<void> {
  for (let start = 0; start < bytes.length;) {
    const { bytesWritten } = await file.write(
      bytes,
      start,
      Math.min(bytes.length - start, PIECE_BYTES),
    );
    start += bytesWritten;
  }
}

/** Brings the names in a folder to the disk, where the system can do that. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await builtin("node:fs").promises.open(path, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch {
    // Windows opens no folders; the rename is then as durable as it makes it.
  }
}
