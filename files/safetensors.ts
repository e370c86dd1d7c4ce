import type { StateArray } from "@bellman/types";
import { fromHalves } from "./_half.ts";
import { bytesOf, concat, rewordError } from "./runtime.ts";

/** Tensor of a safetensors file. */
export interface SafeTensor {
  /** Elements, row-major. */
  readonly data: StateArray;
  /** Length of each axis; `[]` for a scalar. */
  readonly shape: readonly number[];
}

/** Content of a safetensors file. */
export interface SafeTensors {
  /** Arrays by name. */
  readonly tensors: ReadonlyMap<string, SafeTensor>;
  /** Free text by key. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Position of a tensor in the bytes after the header. */
export interface TensorSpan {
  readonly name: string;
  readonly shape: readonly number[];
  /** Allocates the array. */
  readonly allocate: () => StateArray;
  /** Converts the bytes of a dtype that has no typed array of its own. */
  readonly widen?: (bytes: Uint8Array<ArrayBuffer>) => StateArray;
  readonly begin: number;
  readonly end: number;
}

/** Parsed header. */
export interface Header {
  readonly metadata: Readonly<Record<string, string>>;
  /** Tensors in the order of their bytes, which follow each other without a gap. */
  readonly spans: readonly TensorSpan[];
  /** Number of bytes after the header. */
  readonly dataBytes: number;
}

/** Bytes before the header, which hold its length. */
export const PREFIX_BYTES = 8;

/** Limit of the format on the header's length. */
const MAX_HEADER_BYTES = 100_000_000;

const ARRAYS = {
  F64: Float64Array,
  F32: Float32Array,
  I32: Int32Array,
  U32: Uint32Array,
  U8: Uint8Array,
} as const;

/**
 * Dtypes of other programs that are converted: bytes of an element, and the typed array
 * used here.
 */
const WIDENED: Readonly<
  Partial<Record<string, [bytes: number, widen: TensorSpan["widen"]]>>
> = {
  F16: [2, ({ buffer }) => fromHalves(new Uint16Array(buffer))],
  BF16: [
    2,
    ({ buffer }) =>
      new Float32Array(
        Uint32Array.from(new Uint16Array(buffer), (it) => it << 16).buffer,
      ),
  ],
  I64: [8, ({ buffer }) => plain(new BigInt64Array(buffer))],
  U64: [8, ({ buffer }) => plain(new BigUint64Array(buffer))],
  I16: [2, ({ buffer }) => Int32Array.from(new Int16Array(buffer))],
  U16: [2, ({ buffer }) => Uint32Array.from(new Uint16Array(buffer))],
  I8: [1, ({ buffer }) => Int32Array.from(new Int8Array(buffer))],
  BOOL: [1, (bytes) => bytes.map((it) => it === 0 ? 0 : 1)],
};

/** Converts 64-bit integers to float64. */
function plain(values: BigInt64Array | BigUint64Array): Float64Array {
  return Float64Array.from(values, (value) => {
    const number = Number(value);
    if (Number.isSafeInteger(number)) return number;
    throw new RangeError(`a number is ${value}, expected at most 2^53`);
  });
}

/**
 * Encodes arrays in the safetensors format, which Python, Rust and others read: the
 * header's length (8 bytes, little-endian), the header (JSON), the elements.
 *
 * @param tensors Arrays by name. `__metadata__` is not a name.
 * @param metadata Free text to save with them.
 * @returns Content of the file.
 * @throws {RangeError} When a shape does not fit its data.
 * @throws {TypeError} When a name or data type is not allowed.
 *
 * @example
 * ```ts
 * import { decodeSafetensors, encodeSafetensors } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * const kernel = { data: new Float32Array([1, 2, 3, 4]), shape: [2, 2] };
 * const bytes = encodeSafetensors(new Map([["kernel", kernel]]));
 * assertEquals(decodeSafetensors(bytes).tensors.get("kernel"), kernel);
 * ```
 */
export function encodeSafetensors(
  tensors: ReadonlyMap<string, SafeTensor>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array<ArrayBuffer> {
  const { header, arrays } = layOut(tensors, metadata);
  return concat([encodeHeader(header), ...arrays]);
}

/**
 * Decodes the safetensors format. The file is not trusted: header, dtypes, shapes and
 * offsets are checked, and the arrays must fill the file without a gap. Dtypes without
 * a typed array here are widened: F16 and BF16 to float32, I8 and I16 to int32, U16 to
 * uint32, I64 and U64 to float64, and BOOL to a Uint8Array of 0 and 1.
 *
 * @param bytes Content of the file.
 * @returns Copies of the arrays, and the metadata.
 * @throws {SyntaxError} If the file is damaged or not safetensors.
 * @throws {RangeError} If a 64-bit number is above 2^53.
 *
 * @example
 * ```ts
 * import { decodeSafetensors } from "@bellman/files";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(
 *   () => decodeSafetensors(new Uint8Array(3)),
 *   SyntaxError,
 *   "Cannot read safetensors: 3 bytes are too few for a header",
 * );
 * ```
 */
export function decodeSafetensors(bytes: Uint8Array): SafeTensors {
  try {
    if (bytes.length < PREFIX_BYTES) {
      throw new SyntaxError(`${bytes.length} bytes are too few for a header`);
    }
    const length = headerLength(bytes);
    const start = PREFIX_BYTES + length;
    if (start > bytes.length) {
      throw new SyntaxError(
        `its header claims ${length} bytes, the file has ${
          bytes.length - PREFIX_BYTES
        } left`,
      );
    }
    const { metadata, spans } = parseHeader(
      bytes.subarray(PREFIX_BYTES, start),
      { dataBytes: bytes.length - start, isForeign: true },
    );
    const tensors = spans.map(
      ({ name, shape, allocate, widen, begin, end }): [string, SafeTensor] => {
        const source = bytes.subarray(start + begin, start + end);
        if (widen !== undefined) {
          return [name, { data: widen(source.slice()), shape }];
        }
        // A copy, so that the array is aligned and does not keep the file alive.
        const data = allocate();
        bytesOf(data).set(source);
        return [name, { data, shape }];
      },
    );
    return { tensors: new Map(tensors), metadata };
  } catch (error) {
    throw rewordError(error, (reason) => `Cannot read safetensors: ${reason}`);
  }
}

/** Lays out a file: text of the header, and the arrays in the order of their bytes. */
export function layOut(
  tensors: ReadonlyMap<string, SafeTensor>,
  metadata: Readonly<Record<string, string>>,
): { header: string; arrays: Uint8Array[] } {
  // Wide elements first, so that every array is aligned to its element size.
  const ordered = [...tensors].sort(([, a], [, b]) =>
    b.data.BYTES_PER_ELEMENT - a.data.BYTES_PER_ELEMENT
  );
  const entries: [string, unknown][] = [];
  if (Object.keys(metadata).length > 0) entries.push([METADATA, metadata]);
  let begin = 0;
  for (const [name, { data, shape }] of ordered) {
    if (name === METADATA) {
      throw new TypeError(`Cannot write an array named '${METADATA}'`);
    }
    if (sizeOf(shape) !== data.length) {
      throw new RangeError(
        `Cannot write array '${name}': shape [${shape}] does not fit ${data.length} values`,
      );
    }
    const end = begin + data.byteLength;
    const dtype = dtypeOf(name, data);
    entries.push([name, { dtype, shape, data_offsets: [begin, end] }]);
    begin = end;
  }
  // Objects would sort names that are numbers first.
  const members = entries.map((pair) => pair.map((it) => JSON.stringify(it)));
  const header = `{${members.map((pair) => pair.join(":")).join(",")}}`;
  return { header, arrays: ordered.map(([, { data }]) => bytesOf(data)) };
}

const METADATA = "__metadata__";

/** Encodes length and text of a header, padded to a multiple of 8 bytes. */
export function encodeHeader(header: string): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(header);
  const length = Math.ceil(text.length / 8) * 8;
  const bytes = new Uint8Array(PREFIX_BYTES + length).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length), true);
  bytes.set(text, PREFIX_BYTES);
  return bytes;
}

/** Reads the length of a header. Errors contain only the reason. */
export function headerLength(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, PREFIX_BYTES);
  const length = view.getBigUint64(0, true);
  if (length <= BigInt(MAX_HEADER_BYTES)) return Number(length);
  throw new SyntaxError(
    `its header claims ${length} bytes, more than ${MAX_HEADER_BYTES}`,
  );
}

/**
 * Parses a header, optionally with the dtypes of other programs. Errors contain only
 * the reason.
 */
export function parseHeader(
  bytes: Uint8Array,
  { dataBytes, isForeign = false }: {
    dataBytes?: number;
    isForeign?: boolean;
  } = {},
): Header {
  let header: unknown;
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    header = JSON.parse(decoder.decode(bytes));
  } catch {
    throw new SyntaxError("its header is not JSON");
  }
  if (!isRecord(header)) throw new SyntaxError("its header is not a record");
  const { [METADATA]: metadata = {}, ...entries } = header;
  if (
    !isRecord(metadata) ||
    !Object.values(metadata).every((text) => typeof text === "string")
  ) throw new SyntaxError("its metadata is not a record of texts");
  const spans = Object.entries(entries)
    .map(([name, entry]) => readSpan(name, entry, { dataBytes, isForeign }))
    .sort((a, b) => a.begin - b.begin || a.end - b.end);
  let position = 0;
  for (const { begin, end } of spans) {
    if (begin !== position) {
      throw new SyntaxError(
        `its arrays ${begin < position ? "overlap" : "leave a gap"}`,
      );
    }
    position = end;
  }
  if (position !== (dataBytes ?? position)) {
    throw new SyntaxError(`${dataBytes! - position} bytes belong to no array`);
  }
  return {
    metadata: metadata as Record<string, string>,
    spans,
    dataBytes: position,
  };
}

function readSpan(
  name: string,
  entry: unknown,
  { dataBytes = Infinity, isForeign }: {
    dataBytes?: number;
    isForeign: boolean;
  },
): TensorSpan {
  const fail = (what: string): never => {
    throw new SyntaxError(`array ${JSON.stringify(name)} ${what}`);
  };
  if (!isRecord(entry)) return fail("has no description");
  const { dtype, shape, data_offsets: offsets } = entry;
  const known = { ...ARRAYS, ...isForeign && WIDENED };
  if (typeof dtype !== "string" || !Object.hasOwn(known, dtype)) {
    return fail(
      `has type ${JSON.stringify(dtype)}, which is not one of ${
        Object.keys(known).join(", ")
      }`,
    );
  }
  if (!isCounts(shape) || !Number.isSafeInteger(sizeOf(shape))) {
    return fail(`has shape ${JSON.stringify(shape)}`);
  }
  if (!isCounts(offsets) || offsets.length !== 2 || offsets[0] > offsets[1]) {
    return fail(`has offsets ${JSON.stringify(offsets)}`);
  }
  const [begin, end] = offsets;
  if (end > dataBytes) fail(`ends at byte ${end} of ${dataBytes}`);
  const size = sizeOf(shape);
  const [itemBytes, widen] = WIDENED[dtype] ??
    [ARRAYS[dtype as keyof typeof ARRAYS].BYTES_PER_ELEMENT];
  const wanted = size * itemBytes;
  if (end - begin !== wanted) {
    fail(`has ${end - begin} bytes, its type and shape need ${wanted}`);
  }
  const allocate = () => new ARRAYS[dtype as keyof typeof ARRAYS](size);
  return { name, shape, allocate, ...widen && { widen }, begin, end };
}

function dtypeOf(name: string, data: StateArray): string {
  const entry = Object.entries(ARRAYS).find(([, it]) => data instanceof it);
  if (entry !== undefined) return entry[0];
  throw new TypeError(
    `Cannot write array '${name}': its type is not one of ${
      Object.keys(ARRAYS).join(", ")
    }`,
  );
}

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((size, dimension) => size * dimension, 1);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) &&
    value.every((count) => Number.isSafeInteger(count) && count >= 0);
}
