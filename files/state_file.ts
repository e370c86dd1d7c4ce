/**
 * The format of a saved state: a safetensors file with the rest of the state in its
 * metadata.
 *
 * | in the metadata | content |
 * |---|---|
 * | `sha256` | SHA-256 of the header from there on |
 * | `format` | name and version of the format |
 * | `state` | JSON of the state, see `SplitState` |
 * | `notes` | JSON of the plain values next to it |
 *
 * The last array, `sha256`, is the SHA-256 of all bytes before it: a state is
 * written in one pass, and a changed bit is detected.
 */
import type { StateTree } from "@bellman/types";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { replaceFile, replaceFileSync } from "./atomic_file.ts";
import { platform } from "./host.ts";
import { openPlainSync } from "./plain_file.ts";
import {
  builtin,
  bytesOf,
  fillAsync,
  fillSync,
  inPieces,
  type Reading,
  readStream,
  rewordError,
  toPath,
  withFile,
} from "./runtime.ts";
import {
  encodeHeader,
  type Header,
  headerLength,
  layOut,
  parseHeader,
  PREFIX_BYTES,
  type SafeTensor,
} from "./safetensors.ts";
import { joinState, splitState, type StateRecord } from "./state_tree.ts";

/** Options of {@linkcode readState}, {@linkcode loadStateSync} and {@linkcode loadNotesSync}. */
export interface ReadStateOptions {
  /**
   * Name in error messages.
   *
   * @default the path, or "the stream"
   */
  readonly name?: string;
}

/** Options of {@linkcode writeState} and {@linkcode saveStateSync}. */
export interface SaveStateOptions {
  /**
   * Plain values saved next to the state, which {@linkcode loadNotesSync} reads without
   * it.
   *
   * @default {}
   */
  readonly notes?: Readonly<Record<string, StateTree>>;
}

/** Saved state and its notes. */
export interface SavedState {
  /** Saved state. */
  readonly state: StateTree;
  /** Plain values saved next to it. */
  readonly notes: StateRecord;
}

const FORMAT = "bellman-state";
const VERSION = 1;

/** Start of each header; a hash of 64 letters follows. */
const START = '{"__metadata__":{"sha256":"';
const NO_HASH = "0".repeat(64);

/** Name of the last array. */
const HASH = "sha256";

/**
 * Writes a saved state as a byte stream with checksums, for a file, a socket or a
 * `CompressionStream`: a safetensors file. Arrays are not copied, except those in
 * shared memory, one MiB at a time: do not change the state until the stream has ended.
 *
 * @param state Result of a `save()`.
 * @param options Notes.
 * @returns The bytes; {@linkcode readState} reads them.
 * @throws {TypeError} If a value is not plain data (its path is named), or an array is
 * among the notes.
 *
 * @example
 * ```ts
 * import { readState, writeState } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * const state = { length: 2, rewards: Float32Array.of(0.5, -1) };
 * const small = writeState(state)
 *   .pipeThrough(new CompressionStream("gzip"))
 *   .pipeThrough(new DecompressionStream("gzip"));
 * assertEquals(await readState(small), state);
 * ```
 */
export function writeState(
  state: StateTree,
  options: SaveStateOptions = {},
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const pieces = statePieces(state, options.notes);
  // Chromium has no `ReadableStream.from`.
  return new ReadableStream({
    pull(controller) {
      const { done, value } = pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  }, { highWaterMark: 0 });
}

/**
 * Reads a saved state from a stream of {@linkcode writeState}. The bytes are not
 * trusted.
 *
 * @param stream Chunks of any size; read to the end, or cancelled at the first error.
 * @param options Name for error messages.
 * @returns The saved state.
 * @throws {SyntaxError} If the bytes are truncated, changed, followed by others or not
 * a saved state.
 * @throws {RangeError} If another version wrote them, or memory is too small for an
 * array.
 * @throws {TypeError} If the stream does not yield bytes.
 *
 * @example
 * ```ts
 * import { readState, writeState } from "@bellman/files";
 * import { assertEquals, assertRejects } from "@std/assert";
 *
 * const bytes = await new Response(writeState({ x: Int32Array.of(7) })).bytes();
 * assertEquals(await readState(new Blob([bytes]).stream()), { x: Int32Array.of(7) });
 *
 * await assertRejects(
 *   () => readState(new Blob([bytes.subarray(0, 60)]).stream()),
 *   SyntaxError,
 *   "Cannot load the stream: it is cut off after 60 bytes",
 * );
 * ```
 */
export async function readState(
  stream: ReadableStream<Uint8Array>,
  { name = "the stream" }: ReadStateOptions = {},
): Promise<StateTree> {
  return (await readStream(stream, readAll(name))).state;
}

/**
 * Saves a state to a file atomically: see {@linkcode replaceFile}. Arrays are not
 * copied: do not change the state until it is saved.
 *
 * @param state Result of a `save()`.
 * @param path Path of the file; its folder must exist.
 * @throws {TypeError} If a value is not plain data; its path is named.
 * @throws {Error} System error if the file cannot be written.
 *
 * @example
 * ```ts
 * import { loadState, saveState } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * const path = await Deno.makeTempFile();
 * await saveState({ weights: Float32Array.of(1, 2) }, path);
 * assertEquals(await loadState(path), { weights: Float32Array.of(1, 2) });
 * await Deno.remove(path);
 * ```
 */
export async function saveState(
  state: StateTree,
  path: string | URL,
): Promise<void> {
  await replaceFile(toPath(path), statePieces(state));
}

/**
 * Loads a state that {@linkcode saveState} or {@linkcode saveStateSync} saved.
 *
 * @param path Path of the file.
 * @returns The saved state.
 * @throws {SyntaxError} If the file is truncated, damaged or not a saved state.
 * @throws {RangeError} If another version wrote it, or memory is too small.
 * @throws {Error} System error if the file cannot be read.
 *
 * @example
 * ```ts
 * import { loadState } from "@bellman/files";
 * import { assertRejects } from "@std/assert";
 *
 * const path = await Deno.makeTempFile();
 * await Deno.writeTextFile(path, "no state".repeat(9));
 * await assertRejects(() => loadState(path), SyntaxError, "it does not start as");
 * await Deno.remove(path);
 * ```
 */
export async function loadState(path: string | URL): Promise<StateTree> {
  const file = toPath(path);
  return await withFile(file, async ({ size, fill }) => {
    return (await fillAsync(readAll(`'${file}'`, size), fill)).state;
  });
}

/**
 * Saves a state and notes as {@linkcode saveState} does, synchronously.
 *
 * @param state Result of a `save()`.
 * @param path Path of the file; its folder must exist.
 * @param options Notes.
 * @throws {TypeError} If a value is not plain data (its path is named), or an array is
 * among the notes.
 * @throws {Error} System error if the file cannot be written.
 *
 * @example
 * ```ts
 * import { loadStateSync, saveStateSync } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * const path = Deno.makeTempFileSync();
 * const state = { weights: Float32Array.of(1, 2) };
 * saveStateSync(state, path, { notes: { step: 80 } });
 * assertEquals(loadStateSync(path), { state, notes: { step: 80 } });
 * Deno.removeSync(path);
 * ```
 */
export function saveStateSync(
  state: StateTree,
  path: string,
  options: SaveStateOptions = {},
): void {
  replaceFileSync(path, statePieces(state, options.notes));
}

/**
 * Loads a state and its notes, synchronously.
 *
 * @param path Path of the file.
 * @param options Name for error messages.
 * @returns The state and the notes.
 * @throws {SyntaxError} If the file is truncated, damaged or not a saved state.
 * @throws {RangeError} If another version wrote it, or memory is too small.
 * @throws {Error} System error if the file cannot be read.
 *
 * @example
 * ```ts
 * import { loadStateSync, saveStateSync } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * const path = Deno.makeTempFileSync();
 * saveStateSync([1, NaN], path);
 * assertEquals(loadStateSync(path).state, [1, NaN]);
 * Deno.removeSync(path);
 * ```
 */
export function loadStateSync(
  path: string,
  { name = `'${path}'` }: ReadStateOptions = {},
): SavedState {
  return readFileWith(path, (size) => readAll(name, size));
}

/**
 * Loads the notes of a saved state without its arrays: damage to those is found only if
 * it changes the length of the file.
 *
 * @param path Path of the file.
 * @param options Name for error messages.
 * @returns The notes.
 * @throws {SyntaxError} If the file is truncated, damaged or not a saved state.
 * @throws {RangeError} If another version wrote it.
 * @throws {Error} System error if the file cannot be read.
 *
 * @example
 * ```ts
 * import { loadNotesSync, saveStateSync } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * const path = Deno.makeTempFileSync();
 * saveStateSync(new Float32Array(9), path, { notes: { step: 80 } });
 * assertEquals(loadNotesSync(path), { step: 80 });
 * Deno.removeSync(path);
 * ```
 */
export function loadNotesSync(
  path: string,
  { name = `'${path}'` }: ReadStateOptions = {},
): StateRecord {
  return readFileWith(path, (size) => readNotes(name, size));
}

/** Checks at the call that a state is plain data; the bytes follow lazily. */
function statePieces(
  state: StateTree,
  notes: Readonly<Record<string, StateTree>> = {},
): Generator<Uint8Array<ArrayBuffer>> {
  const { json, tensors } = splitState(state);
  const plain = splitState(notes);
  for (const name of plain.tensors.keys()) {
    throw new TypeError(
      `Cannot save the array '${name}' among the notes: they are plain values`,
    );
  }
  const last: SafeTensor = { data: new Uint8Array(32), shape: [32] };
  const { header, arrays } = layOut(new Map([...tensors, [HASH, last]]), {
    sha256: NO_HASH,
    format: `${FORMAT} ${VERSION}`,
    state: JSON.stringify(json),
    notes: JSON.stringify(plain.json),
  });
  const protectedPart = header.slice(START.length + NO_HASH.length);
  const start = START + hashOfText(protectedPart);
  return hashedPieces([
    encodeHeader(start + protectedPart),
    ...arrays.slice(0, -1),
  ]);
}

/** Yields byte arrays, and their hash at the end. */
function* hashedPieces(
  chunks: readonly Uint8Array[],
): Generator<Uint8Array<ArrayBuffer>> {
  const hash = beginHash();
  for (const piece of inPieces(chunks)) {
    hash.update(piece);
    yield piece;
  }
  yield new Uint8Array(hash.digest());
}

function readFileWith<Result>(
  path: string,
  begin: (size: number) => Reading<Result>,
): Result {
  const fs = builtin("node:fs");
  const file = openPlainSync(path, "read");
  try {
    return fillSync(begin(fs.fstatSync(file).size), (target) => {
      let filled = 0;
      for (let length = -1; length !== 0 && filled < target.length;) {
        length = fs.readSync(file, target.subarray(filled));
        filled += length;
      }
      return filled;
    });
  } finally {
    fs.closeSync(file);
  }
}

function* readAll(name: string, size?: number): Reading<SavedState> {
  try {
    const input = new Input();
    const header = yield* readHeader(input, size);
    const tensors = new Map<string, SafeTensor>();
    for (const { name, shape, allocate } of header.spans.slice(0, -1)) {
      tensors.set(name, { data: allocated(name, allocate), shape });
    }
    for (const { data } of tensors.values()) yield* input.take(bytesOf(data));
    const actual = input.digest(), wanted = new Uint8Array(32);
    yield* input.take(wanted);
    if (actual.some((byte, i) => byte !== wanted[i])) {
      throw new SyntaxError("it does not have the hash it should");
    }
    if ((yield new Uint8Array(1)) > 0) {
      throw new SyntaxError(`other bytes follow its end at ${input.position}`);
    }
    const { state, notes } = header.metadata;
    return {
      state: joinState(JSON.parse(state), tensors),
      notes: joinState(JSON.parse(notes), new Map()) as StateRecord,
    };
  } catch (error) {
    throw rewordError(error, (reason) => `Cannot load ${name}: ${reason}`);
  }
}

function* readNotes(name: string, size: number): Reading<StateRecord> {
  try {
    const input = new Input();
    const { metadata } = yield* readHeader(input, size);
    return joinState(JSON.parse(metadata.notes), new Map()) as StateRecord;
  } catch (error) {
    throw rewordError(error, (reason) => `Cannot load ${name}: ${reason}`);
  }
}

/** Reads a header and checks its hash and length. */
function* readHeader(input: Input, size?: number): Reading<Header> {
  const prefix = new Uint8Array(PREFIX_BYTES + START.length);
  yield* input.take(prefix);
  const decoder = new TextDecoder();
  if (decoder.decode(prefix.subarray(PREFIX_BYTES)) !== START) {
    throw new SyntaxError("it does not start as a saved state does");
  }
  const bytes = new Uint8Array(headerLength(prefix));
  bytes.set(prefix.subarray(PREFIX_BYTES, PREFIX_BYTES + bytes.length));
  yield* input.take(bytes.subarray(START.length));
  const rest = bytes.subarray(START.length);
  const hash = decoder.decode(rest.subarray(0, NO_HASH.length));
  const text = decoder.decode(rest.subarray(NO_HASH.length)).trimEnd();
  if (hashOfText(text) !== hash) {
    throw new SyntaxError("its header does not have the hash it should");
  }
  const header = parseHeader(bytes);
  const { format } = header.metadata;
  if (format !== `${FORMAT} ${VERSION}`) {
    throw new RangeError(
      `its format is ${format}, expected ${FORMAT} ${VERSION}`,
    );
  }
  const wanted = input.position + header.dataBytes;
  if (size !== undefined && size !== wanted) {
    throw new SyntaxError(`it has ${size} bytes, expected ${wanted}`);
  }
  return header;
}

/** Sequential reader. */
class Input {
  /** Number of bytes read. */
  position = 0;
  #hash = beginHash();

  /** Fills an array. */
  *take(target: Uint8Array): Reading<void> {
    for (const piece of inPieces([target])) {
      const length = yield piece;
      this.position += length;
      if (this.position === 0) {
        throw new SyntaxError("it is empty, expected a saved state");
      }
      if (length < piece.length) {
        throw new SyntaxError(
          `it is cut off after ${this.position} bytes, expected at least ${
            piece.length - length
          } more`,
        );
      }
      this.#hash.update(piece);
    }
  }

  /** Returns the hash of the bytes so far, and starts a new one. */
  digest(): Uint8Array {
    const digest = this.#hash.digest();
    this.#hash = beginHash();
    return digest;
  }
}

/** Incremental SHA-256. */
interface Hash {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

/** Starts a hash: the system's, which is fast, or plain JavaScript in browsers. */
function beginHash(): Hash {
  return platform().os === "page"
    ? sha256.create()
    : builtin("node:crypto").createHash("sha256");
}

function hashOfText(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

/** Allocates an array, with a clearer error message than the engine's. */
function allocated(
  name: string,
  allocate: () => SafeTensor["data"],
): SafeTensor["data"] {
  try {
    return allocate();
  } catch {
    throw new RangeError(`no memory for array '${name}'`);
  }
}
