/**
 * Arrays by name in numpy's npz format, a zip file of npy files.
 *
 * @example
 * ```ts
 * import { readNpz, writeNpz } from "@bellman/files/npz";
 * import { assertEquals } from "@std/assert";
 *
 * const rewards = { data: Float32Array.of(1, 0.5), shape: [2] };
 * const bytes = await new Response(writeNpz({ rewards })).bytes();
 * assertEquals((await readNpz(bytes)).rewards, { ...rewards, dtype: "float32" });
 * ```
 *
 * @module
 */
import {
  configure,
  type FileEntry,
  Reader,
  Uint8ArrayReader,
  ZipReader,
  ZipWriter,
} from "@zip.js/zip.js";
import { replaceFile } from "./atomic_file.ts";
import { hintAt } from "./options.ts";
import {
  dtypeOf,
  encodeHeader,
  type NpyArray,
  type NpyDtype,
  readNpy,
  toBody,
} from "./npy.ts";
import {
  inPieces,
  type InputFile,
  readStream,
  rewordError,
  toPath,
  withFile,
} from "./runtime.ts";

export type { NpyArray, NpyData, NpyDtype } from "./npy.ts";

/** Options of {@linkcode writeNpz} and {@linkcode saveNpz}. */
export interface WriteNpzOptions {
  /**
   * Deflate the arrays, as `np.savez_compressed` does.
   *
   * @default false
   */
  readonly compress?: boolean;
}

/** Options of {@linkcode readNpz} and {@linkcode loadNpz}. */
export interface ReadNpzOptions {
  /**
   * Names of the arrays to read.
   *
   * @default all
   */
  readonly names?: readonly string[];
}

/**
 * Writes arrays in numpy's npz format, for `np.load`: a zip file of npy files, in the
 * zip64 form from 4 GiB on. Arrays are not copied: do not change them until the stream
 * has ended.
 *
 * @param arrays Arrays by name.
 * @param options Compression.
 * @returns Content of the file; equal arrays give equal bytes. The stream fails with a
 * RangeError if a number does not fit int64 or uint64.
 * @throws {RangeError} If a shape does not fit its numbers.
 * @throws {TypeError} If numbers cannot be written as their dtype.
 *
 * @example
 * ```ts
 * import { readNpz, writeNpz } from "@bellman/files/npz";
 * import { assertEquals } from "@std/assert";
 *
 * const actions = { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] };
 * const bytes = await new Response(writeNpz({ actions })).bytes();
 * assertEquals((await readNpz(bytes)).actions.data, actions.data);
 * ```
 */
export function writeNpz(
  arrays: Readonly<Record<string, NpyArray>>,
  { compress = false }: WriteNpzOptions = {},
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const members = Object.entries(arrays)
    .map(([name, array]) => ({ name, array, dtype: dtypeOf(array) }));
  let fail: (error: unknown) => void;
  const { readable, writable } = new TransformStream({
    start: (controller) => void (fail = (error) => controller.error(error)),
  });
  writeMembers(writable, members, compress ? 6 : 0).catch((it) => fail(it));
  return readable;
}

/**
 * Writes arrays to an npz file atomically: see `replaceFile` of `@bellman/files`.
 *
 * @param arrays The arrays by name.
 * @param path Path, usually ending in `.npz`; its folder must exist.
 * @param options Compression.
 * @throws {RangeError} If a shape does not fit its numbers, or a number its
 * dtype.
 * @throws {TypeError} If numbers cannot be written as their dtype, or the
 * runtime has no files.
 * @throws {Error} System error if the file cannot be written.
 *
 * @example
 * ```ts
 * import { loadNpz, saveNpz } from "@bellman/files/npz";
 * import { assertEquals } from "@std/assert";
 *
 * const folder = await Deno.makeTempDir();
 * const rewards = { data: Float32Array.of(1, 0.5), shape: [2] };
 * await saveNpz({ rewards }, `${folder}/data.npz`);
 * const read = await loadNpz(`${folder}/data.npz`);
 * assertEquals(read.rewards, { ...rewards, dtype: "float32" });
 * await Deno.remove(folder, { recursive: true });
 * ```
 */
export async function saveNpz(
  arrays: Readonly<Record<string, NpyArray>>,
  path: string | URL,
  options: WriteNpzOptions = {},
): Promise<void> {
  await replaceFile(toPath(path), writeNpz(arrays, options));
}

/**
 * Reads arrays from the bytes of an npz file, stored or deflated; members that are not
 * npy files are skipped.
 *
 * @param bytes Content of the file.
 * @param options Names of the arrays.
 * @returns New arrays by name.
 * @throws {SyntaxError} If the bytes are truncated, damaged or not npz.
 * @throws {TypeError} If an array's dtype is not supported, as of objects and records,
 * or it is in Fortran order.
 * @throws {RangeError} If an array does not exist, or a 64-bit number is above
 * 2^53.
 *
 * @example
 * ```ts
 * import { readNpz } from "@bellman/files/npz";
 * import { assertRejects } from "@std/assert";
 *
 * await assertRejects(
 *   () => readNpz(new Uint8Array(9)),
 *   SyntaxError,
 *   "Cannot read an npz file: it does not end as a zip file does",
 * );
 * ```
 */
export async function readNpz(
  bytes: Uint8Array,
  options: ReadNpzOptions = {},
): Promise<Record<string, NpyArray>> {
  const input = new Uint8ArrayReader(bytes);
  return await readArrays(input, "an npz file", options);
}

/**
 * Reads arrays from an npz file, one by one; stored ones without a second copy in
 * memory.
 *
 * @param path Path of the file.
 * @param options Names of the arrays.
 * @returns New arrays by name.
 * @throws {SyntaxError} If the file is truncated, damaged or not npz.
 * @throws {TypeError} If an array's dtype is not supported, as of objects and records,
 * or it is in Fortran order.
 * @throws {RangeError} If an array does not exist, or a 64-bit number is above
 * 2^53.
 * @throws {Error} System error if the file cannot be read.
 *
 * @example
 * ```ts
 * import { loadNpz, saveNpz } from "@bellman/files/npz";
 * import { assertRejects } from "@std/assert";
 *
 * const path = await Deno.makeTempFile();
 * await saveNpz({ rewards: { data: Float32Array.of(1), shape: [1] } }, path);
 * await assertRejects(
 *   () => loadNpz(path, { names: ["reward"] }),
 *   RangeError,
 *   "did you mean 'rewards'?",
 * );
 * await Deno.remove(path);
 * ```
 */
export async function loadNpz(
  path: string | URL,
  options: ReadNpzOptions = {},
): Promise<Record<string, NpyArray>> {
  const name = toPath(path);
  return await withFile(
    name,
    (file) => readArrays(new FileReader(file), `'${name}'`, options),
  );
}

/** Suffix of a member's name. */
const ENDING = ".npy";

// Without worker threads, which would need separate files.
configure({ useWebWorkers: false, chunkSize: 1 << 18 });

/** Compression methods: stored and deflated. */
const METHODS = [0, 8];

/** Checks at the call that the arrays can be written, without their values. */

async function writeMembers(
  writable: WritableStream,
  members: readonly { name: string; array: NpyArray; dtype: NpyDtype }[],
  level: number,
): Promise<void> {
  const writer = new ZipWriter(writable, {
    level,
    // No time stamp, so that equal arrays give equal bytes.
    lastModDate: new Date(1980, 0, 1),
    extendedTimestamp: false,
  });
  for (const { name, array: { data, shape }, dtype } of members) {
    const chunks = [encodeHeader(dtype, shape), toBody(data, dtype)];
    const uncompressedSize = chunks.reduce((sum, it) => sum + it.length, 0);
    const stream = ReadableStream.from(inPieces(chunks));
    await writer.add(name + ENDING, stream, { uncompressedSize });
  }
  await writer.close();
}

/** File with random access. */
class FileReader extends Reader<InputFile> {
  readonly #file: InputFile;

  constructor(file: InputFile) {
    super(file);
    this.#file = file;
    this.size = file.size;
  }

  override async readUint8Array(
    position: number,
    length: number,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(Math.min(length, this.size - position));
    await this.#file.fill(bytes, position);
    return bytes;
  }
}

async function readArrays(
  input: Reader<unknown>,
  what: string,
  options: ReadNpzOptions,
): Promise<Record<string, NpyArray>> {
  const members = await readDirectory(input).catch((error) => {
    throw rewordError(error, (reason) => `Cannot read ${what}: ${reason}`);
  });
  const names = options.names ?? [...members.keys()];
  const entries = names.map((name) => find(name, members, what));
  const arrays: [string, NpyArray][] = [];
  for (const [i, member] of entries.entries()) {
    const array = await readMember(member).catch((error) => {
      throw rewordError(
        error,
        (reason) =>
          `Cannot read array '${names[i]}' of ${what}: ${reason}${
            others(error, options)
          }`,
      );
    });
    arrays.push([names[i], array]);
  }
  return Object.fromEntries(arrays);
}

/** Hint to leave out an array that holds no numbers. */
function others(error: unknown, { names }: ReadNpzOptions): string {
  const isFit = !(error instanceof TypeError) || names !== undefined;
  return isFit ? "" : "; the option 'names' reads other arrays alone";
}

/**
 * Lists the npy members of a zip file by their names without the suffix. Each local
 * header is compared with the central directory, since neither has a checksum.
 */
async function readDirectory(
  input: Reader<unknown>,
): Promise<Map<string, FileEntry>> {
  const reader = new ZipReader(input, {
    strictness: "strict",
    filenameValidation: "tolerant",
    checkSignature: true,
  });
  const members = new Map<string, FileEntry>();
  for (const entry of await reader.getEntries().catch(refuse)) {
    if (entry.directory) continue;
    if (entry.encrypted) {
      throw new TypeError("it is encrypted, expected it without a password");
    }
    await entry.getData(new WritableStream(), {
      checkOverlappingEntryOnly: true,
    })
      .catch(refuse);
    if (!entry.filename.endsWith(ENDING)) continue;
    members.set(entry.filename.slice(0, -ENDING.length), entry);
  }
  return members;
}

async function readMember(member: FileEntry): Promise<NpyArray> {
  const { compressionMethod, uncompressedSize } = member;
  if (!METHODS.includes(compressionMethod)) {
    throw new TypeError(
      `it is compressed by method ${compressionMethod}, expected stored or deflated`,
    );
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  // The zip library reports damage on both sides of the stream.
  const [array] = await Promise.all([
    readStream(readable, readNpy(uncompressedSize)),
    member.getData(writable),
  ]).catch(refuse);
  return array;
}

/** Rethrows the zip library's errors with the reason. */
function refuse(error: Error & { reason?: string; code?: string }): never {
  if (error.code !== undefined || error.constructor !== Error) throw error;
  if (/^(End of central directory|File format)/.test(error.message)) {
    throw new SyntaxError("it does not end as a zip file does");
  }
  const reason = error.reason ?? error.message.toLowerCase();
  throw new SyntaxError(`it is damaged: ${reason}`);
}

function find(
  name: string,
  members: ReadonlyMap<string, FileEntry>,
  what: string,
): FileEntry {
  const member = members.get(name);
  if (member !== undefined) return member;
  const hint = hintAt(name, [...members.keys()]);
  throw new RangeError(`Cannot read array '${name}' of ${what}: ${hint}`);
}
