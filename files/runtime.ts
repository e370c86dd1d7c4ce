/** Node's built-in modules, for runtimes with files or threads. */
export interface Builtins {
  /** Hashes. */
  "node:crypto": typeof import("node:crypto");
  /** File system. */
  "node:fs": typeof import("node:fs");
  /** Modules of packages. */
  "node:module": typeof import("node:module");
  /** The machine. */
  "node:os": typeof import("node:os");
  /** Paths. */
  "node:path": typeof import("node:path");
  /** The process and its platform. */
  "node:process": typeof import("node:process");
  /** File URLs. */
  "node:url": typeof import("node:url");
  /** Text of terminals. */
  "node:util": typeof import("node:util");
  /** Structured clones as bytes. */
  "node:v8": typeof import("node:v8");
  /** Threads. */
  "node:worker_threads": typeof import("node:worker_threads");
  /** Checksums. */
  "node:zlib": typeof import("node:zlib");
}

/** File opened for reading. */
export interface InputFile {
  /** Length in bytes. */
  readonly size: number;
  /**
   * Fills an array with the bytes from a position on, or after the last ones read;
   * returns their number, smaller than the array only at the end.
   */
  fill(target: Uint8Array, position?: number): Promise<number>;
}

/** Largest number of bytes read or written at once, as runtimes copy them. */
const PIECE_BYTES = 1 << 20;

/**
 * Returns a built-in module of Deno, Node or Bun. It is looked up on first use instead
 * of imported, so that code without files also runs in browsers.
 *
 * @param name Name of the module.
 * @returns The module.
 * @throws {TypeError} If the runtime has none.
 *
 * @example
 * ```ts
 * import { builtin } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(builtin("node:path").basename("runs/first"), "first");
 * ```
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
    `Cannot use files or threads: this runtime has no ${name}, expected Deno, Node or Bun`,
  );
}

/**
 * Converts a file URL to a path.
 *
 * @param path Path or file URL.
 * @returns The path.
 * @throws {TypeError} If it is a URL of another protocol.
 *
 * @example
 * ```ts
 * import { toPath } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(toPath(new URL("file:///tmp/a%20b")), "/tmp/a b");
 * ```
 */
export function toPath(path: string | URL): string {
  return path instanceof URL ? builtin("node:url").fileURLToPath(path) : path;
}

/** Opens a file for reading while `use` runs. */
export async function withFile<Result>(
  path: string,
  use: (file: InputFile) => Promise<Result>,
): Promise<Result> {
  const file = await builtin("node:fs").promises.open(path, "r");
  try {
    const { size } = await file.stat();
    return await use({
      size,
      async fill(target, position) {
        let filled = 0;
        while (filled < target.length) {
          const { bytesRead } = await file.read(
            target,
            filled,
            Math.min(target.length - filled, PIECE_BYTES),
            position === undefined ? null : position + filled,
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

/**
 * Reader as a generator: yields arrays to fill in order, and receives the number of
 * filled bytes, smaller than the array only at the end.
 */
export type Reading<Result> = Generator<Uint8Array, Result, number>;

/** Runs a {@linkcode Reading} on a synchronous source. */
export function fillSync<Result>(
  reading: Reading<Result>,
  fill: (target: Uint8Array) => number,
): Result {
  let step = reading.next();
  while (!step.done) step = reading.next(fill(step.value));
  return step.value;
}

/** Runs a {@linkcode Reading} on an asynchronous source. */
export async function fillAsync<Result>(
  reading: Reading<Result>,
  fill: (target: Uint8Array) => Promise<number>,
): Promise<Result> {
  let step = reading.next();
  while (!step.done) step = reading.next(await fill(step.value));
  return step.value;
}

/** Runs a {@linkcode Reading} on a stream, which is cancelled on failure. */
export async function readStream<Result>(
  stream: ReadableStream<Uint8Array>,
  reading: Reading<Result>,
): Promise<Result> {
  const reader = stream.getReader();
  let rest: Uint8Array = new Uint8Array();
  const fill = async (target: Uint8Array) => {
    let filled = 0;
    while (filled < target.length) {
      if (rest.length === 0) {
        const { done, value } = await reader.read();
        if (done) break;
        if (!(value instanceof Uint8Array)) {
          throw new TypeError(
            `Cannot load a stream of ${typeof value}: expected a stream of Uint8Array`,
          );
        }
        rest = value;
      }
      const part = rest.subarray(0, target.length - filled);
      target.set(part, filled);
      filled += part.length;
      rest = rest.subarray(part.length);
    }
    return filled;
  };
  let failure: unknown;
  try {
    return await fillAsync(reading, fill);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    reader.cancel(failure).catch(() => {}); // The rest is not needed.
    reader.releaseLock();
  }
}

/** Concatenates byte arrays. */
export function concat(
  pieces: readonly Uint8Array[],
): Uint8Array<ArrayBuffer> {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const bytes = new Uint8Array(length);
  let position = 0;
  for (const piece of pieces) {
    bytes.set(piece, position);
    position += piece.length;
  }
  return bytes;
}

/** Returns a view of an array's bytes. */
export function bytesOf(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Yields views of at most 1 MiB; shared memory, which may change meanwhile, is copied. */
export function* inPieces(
  chunks: Iterable<Uint8Array>,
): Generator<Uint8Array<ArrayBuffer>> {
  for (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
      const piece = chunk.subarray(start, start + PIECE_BYTES);
      yield piece.buffer instanceof ArrayBuffer
        ? piece as Uint8Array<ArrayBuffer>
        : piece.slice();
    }
  }
}

/**
 * Returns an error of the same kind with another message, for a caller that knows more
 * than the function that threw it.
 *
 * @param error Any thrown value.
 * @param reword Makes the new message from the current one.
 * @returns The error; other values are returned as they are.
 *
 * @example
 * ```ts
 * import { rewordError } from "@bellman/files";
 * import { assert } from "@std/assert";
 *
 * const error = rewordError(new SyntaxError("cut off"), (it) => `a.npy: ${it}`);
 * assert(error instanceof SyntaxError && error.message === "a.npy: cut off");
 * ```
 */
export function rewordError(
  error: unknown,
  reword: (message: string) => string,
): unknown {
  if (!(error instanceof Error)) return error;
  const known = [TypeError, RangeError, SyntaxError];
  const errorClass = known.find((it) => error instanceof it) ?? Error;
  return new errorClass(reword(error.message), { cause: error });
}
