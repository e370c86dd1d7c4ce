import type { ByteSource } from "./_byte_source.ts";
import { reworded } from "./_errors.ts";
import { type InputFile, replaceFile, toPath, withFile } from "./_files.ts";
import { closest } from "./fields.ts";
import { allocateBody, bodyBytes, dtypeOf, toBody } from "./_npy_body.ts";
import {
  encodeHeader,
  headerSpan,
  parseHeader,
  PREFIX_BYTES,
} from "./_npy_header.ts";
import { type Member, readDirectory, readMember } from "./_zip_reader.ts";
import { type NewMember, zipPieces } from "./_zip_writer.ts";
import type { NpyArray } from "./npy_array.ts";

/** How {@linkcode writeNpz} and {@linkcode saveNpz} write. */
export interface WriteNpzOptions {
  /**
   * Whether arrays are deflated, as `np.savez_compressed` does; the deflated
   * bytes of one array are then in memory at once.
   *
   * @default false
   */
  readonly compress?: boolean;
}

/** What {@linkcode readNpz} and {@linkcode loadNpz} read. */
export interface ReadNpzOptions {
  /**
   * Arrays to read.
   *
   * @default all
   */
  readonly names?: readonly string[];
}

/**
 * Arrays by name in numpy's npz format, for `np.load`: a zip file of npy files,
 * in its larger form where there are 4 GiB and more. Arrays are written from
 * where they lie: leave them as they are until the stream has ended.
 *
 * @param arrays The arrays.
 * @param options Whether they are compressed.
 * @returns The content of the file; the same arrays give the same bytes. It
 * fails with a RangeError where a number does not fit int64 or uint64.
 * @throws {RangeError} If a shape does not fit its numbers.
 * @throws {TypeError} If numbers cannot be written as their dtype.
 *
 * @example
 * ```ts
 * import { readNpz, writeNpz } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const actions = { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] };
 * const bytes = await new Response(writeNpz({ actions })).bytes();
 * assertEquals((await readNpz(bytes)).actions.data, actions.data);
 * ```
 */
export function writeNpz(
  arrays: Readonly<Record<string, NpyArray>>,
  options: WriteNpzOptions = {},
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return ReadableStream.from(
    npzPieces(arrays, options),
  ) as ReadableStream<Uint8Array<ArrayBuffer>>;
}

/**
 * Writes arrays to an npz file, which is complete or not there: see
 * {@linkcode saveBuffer}.
 *
 * @param arrays The arrays by name.
 * @param path Where to, usually with the ending `.npz`; the folder exists.
 * @param options Whether they are compressed.
 * @throws {RangeError} If a shape does not fit its numbers, or a number its
 * dtype.
 * @throws {TypeError} If numbers cannot be written as their dtype, or the
 * runtime has no files.
 * @throws {Error} The system's error where the file cannot be written.
 *
 * @example
 * ```ts
 * import { loadNpz, saveNpz } from "@bellman/buffers";
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
  await replaceFile(toPath(path), npzPieces(arrays, options));
}

/**
 * Reads the arrays of an npz file, stored or deflated; members that are no npy
 * files are left out.
 *
 * @param bytes The content of the file.
 * @param options Which arrays.
 * @returns The arrays by name, owned by the caller.
 * @throws {SyntaxError} If the bytes are cut off, damaged or no npz file.
 * @throws {TypeError} If an array holds objects, records or other kinds of
 * numbers, or is in Fortran order.
 * @throws {RangeError} If there is no such array, or a 64-bit number is above
 * 2^53.
 *
 * @example
 * ```ts
 * import { readNpz } from "@bellman/buffers";
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
  const file: InputFile = {
    size: bytes.length,
    read(position, target) {
      const part = bytes.subarray(position, position + target.length);
      target.set(part);
      return Promise.resolve(part.length);
    },
  };
  return await readArrays(file, "an npz file", options);
}

/**
 * Reads the arrays of an npz file, one after the other and without a second copy
 * of those that are stored.
 *
 * @param path The file.
 * @param options Which arrays.
 * @returns The arrays by name, owned by the caller.
 * @throws {SyntaxError} If the file is cut off, damaged or no npz file.
 * @throws {TypeError} If an array holds objects, records or other kinds of
 * numbers, or is in Fortran order.
 * @throws {RangeError} If there is no such array, or a 64-bit number is above
 * 2^53.
 * @throws {Error} The system's error where the file cannot be read.
 *
 * @example
 * ```ts
 * import { loadNpz, saveNpz } from "@bellman/buffers";
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
  return await withFile(name, (file) => readArrays(file, `'${name}'`, options));
}

/** What an array's name ends with in the file. */
const ENDING = ".npy";

/** Throws at the call what can be said without going through the numbers. */
function npzPieces(
  arrays: Readonly<Record<string, NpyArray>>,
  { compress = false }: WriteNpzOptions,
): AsyncGenerator<Uint8Array> {
  const entries = Object.entries(arrays)
    .map(([name, array]) => ({ name, array, dtype: dtypeOf(array) }));
  const members = function* (): Generator<NewMember> {
    for (const { name, array: { data, shape }, dtype } of entries) {
      const pieces = [encodeHeader(dtype, shape), toBody(data, dtype)];
      yield { name: name + ENDING, pieces };
    }
  };
  return zipPieces(members(), { compress });
}

async function readArrays(
  file: InputFile,
  what: string,
  options: ReadNpzOptions,
): Promise<Record<string, NpyArray>> {
  const members = await readDirectory(file).catch((error) => {
    throw reworded(error, (reason) => `Cannot read ${what}: ${reason}`);
  });
  const byName = new Map(
    members.filter(({ name }) => name.endsWith(ENDING))
      .map((member) => [member.name.slice(0, -ENDING.length), member]),
  );
  const names = options.names ?? [...byName.keys()];
  const found = names.map((name) => find(name, byName, what));
  const arrays: [string, NpyArray][] = [];
  for (const [i, member] of found.entries()) {
    const array = await readMember(
      file,
      member,
      (source) => readArray(source, member.size),
    ).catch((error) => {
      throw reworded(
        error,
        (reason) => `Cannot read array '${names[i]}' of ${what}: ${reason}`,
      );
    });
    arrays.push([names[i], array]);
  }
  return Object.fromEntries(arrays);
}

function find(
  name: string,
  members: ReadonlyMap<string, Member>,
  what: string,
): Member {
  const member = members.get(name);
  if (member !== undefined) return member;
  const names = [...members.keys()];
  const hint = names.length === 0
    ? "it has none"
    : `did you mean '${closest(name, names)}'?`;
  throw new RangeError(`Cannot read array '${name}' of ${what}: ${hint}`);
}

async function readArray(source: ByteSource, size: number): Promise<NpyArray> {
  const prefix = new Uint8Array(PREFIX_BYTES);
  const length = await source.fill(prefix);
  const { start, end } = headerSpan(prefix.subarray(0, length));
  if (end > size) throw new SyntaxError(`its header ends at ${end} of ${size}`);
  const text = new Uint8Array(end - start);
  text.set(prefix.subarray(start));
  await source.fill(text.subarray(PREFIX_BYTES - start));
  const header = parseHeader(text);
  const wanted = end + bodyBytes(header);
  if (wanted !== size) {
    throw new SyntaxError(`it has ${size} bytes, expected ${wanted}`);
  }
  const unread = allocateBody(header);
  await source.fill(unread.bytes);
  return unread.finish();
}
