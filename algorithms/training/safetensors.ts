import type { StateArray } from "@bellman/types";

/** An array with its shape, as a safetensors file holds it. */
export interface SafeTensor {
  /** The values, row-major. */
  readonly data: StateArray;
  /** The size of each dimension; `[]` for a single number. */
  readonly shape: readonly number[];
}

/** What a safetensors file holds. */
export interface SafeTensors {
  /** The arrays by name. */
  readonly tensors: ReadonlyMap<string, SafeTensor>;
  /** Free text by name. */
  readonly metadata: Readonly<Record<string, string>>;
}

interface HeaderEntry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

type ArrayClass = {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer, byteOffset: number, length: number): StateArray;
};

const arrayClasses: Readonly<Record<string, ArrayClass>> = {
  F64: Float64Array,
  F32: Float32Array,
  I32: Int32Array,
  U32: Uint32Array,
  U8: Uint8Array,
};

/** The format's own limit on the header. */
const maxHeaderBytes = 100_000_000;

/**
 * Writes arrays in the safetensors format, which Python, Rust and others read:
 * the header's length (8 bytes, little-endian), the header (JSON), the bytes.
 *
 * @param tensors The arrays by name. `__metadata__` is not a name.
 * @param metadata Free text to keep with them.
 * @returns The content of the file.
 * @throws {RangeError} When a shape does not fit its data.
 * @throws {TypeError} When a name or data type is not allowed.
 *
 * @example
 * ```ts
 * import { decodeSafetensors, encodeSafetensors } from "@bellman/training";
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
  // Wide elements first: every array is then aligned to its element size.
  const ordered = [...tensors].sort(([nameA, a], [nameB, b]) =>
    b.data.BYTES_PER_ELEMENT - a.data.BYTES_PER_ELEMENT ||
    (nameA < nameB ? -1 : 1)
  );
  const entries: [string, unknown][] = Object.keys(metadata).length > 0
    ? [["__metadata__", metadata]]
    : [];
  let offset = 0;
  for (const [name, { data, shape }] of ordered) {
    if (name === "__metadata__") {
      throw new TypeError("Cannot write an array named '__metadata__'");
    }
    if (sizeOf(shape) !== data.length) {
      throw new RangeError(
        `Cannot write array '${name}': shape [${shape}] does not fit ${data.length} values`,
      );
    }
    const end = offset + data.byteLength;
    entries.push([name, {
      dtype: dtypeOf(name, data),
      shape,
      data_offsets: [offset, end],
    }]);
    offset = end;
  }
  let header = JSON.stringify(Object.fromEntries(entries));
  const headerBytes = new TextEncoder().encode(header).length;
  header += " ".repeat((8 - headerBytes % 8) % 8);
  const encoded = new TextEncoder().encode(header);
  const bytes = new Uint8Array(8 + encoded.length + offset);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(encoded.length), true);
  bytes.set(encoded, 8);
  let position = 8 + encoded.length;
  for (const [, { data }] of ordered) {
    bytes.set(
      new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
      position,
    );
    position += data.byteLength;
  }
  return bytes;
}

/**
 * Reads the safetensors format. Nothing in the file is trusted: the header,
 * types, shapes and offsets are checked, and the arrays must fill the file
 * without a gap.
 *
 * @param bytes The content of the file.
 * @returns Copies of the arrays, and the metadata.
 * @throws {SyntaxError} With one line that says what is wrong with the file.
 *
 * @example
 * ```ts
 * import { decodeSafetensors } from "@bellman/training";
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
  const { header, dataStart } = readHeader(bytes);
  const tensors = new Map<string, SafeTensor>();
  const spans: [number, number][] = [];
  const dataBytes = bytes.length - dataStart;
  let metadata: Record<string, string> = {};
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__") {
      metadata = readMetadata(entry);
      continue;
    }
    const { dtype, shape, data_offsets: [begin, end] } = checkEntry(
      name,
      entry,
      dataBytes,
    );
    spans.push([begin, end]);
    // A copy, so that the array is aligned and does not keep the file alive.
    const copy = new Uint8Array(
      bytes.subarray(dataStart + begin, dataStart + end),
    );
    const data = new arrayClasses[dtype](copy.buffer, 0, sizeOf(shape));
    tensors.set(name, { data, shape });
  }
  checkSpans(spans, dataBytes);
  return { tensors, metadata };
}

function readHeader(
  bytes: Uint8Array,
): { header: Record<string, unknown>; dataStart: number } {
  if (bytes.length < 8) {
    fail(`${bytes.length} bytes are too few for a header`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
  const length = view.getBigUint64(0, true);
  if (length > BigInt(maxHeaderBytes)) {
    fail(`its header claims ${length} bytes, more than ${maxHeaderBytes}`);
  }
  const dataStart = 8 + Number(length);
  if (dataStart > bytes.length) {
    fail(
      `its header claims ${length} bytes, the file has ${
        bytes.length - 8
      } left`,
    );
  }
  let header: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true })
      .decode(bytes.subarray(8, dataStart));
    header = JSON.parse(text);
  } catch {
    fail("its header is not JSON");
  }
  if (!isRecord(header)) fail("its header is not a record");
  return { header, dataStart };
}

function readMetadata(value: unknown): Record<string, string> {
  if (
    !isRecord(value) ||
    !Object.values(value).every((text) => typeof text === "string")
  ) fail("its metadata is not a record of texts");
  return value as Record<string, string>;
}

function checkEntry(
  name: string,
  entry: unknown,
  dataBytes: number,
): HeaderEntry {
  const at = `array ${JSON.stringify(name)}`;
  if (!isRecord(entry)) fail(`${at} has no description`);
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== "string" || !Object.hasOwn(arrayClasses, dtype)) {
    fail(
      `${at} has type ${JSON.stringify(dtype)}, which is not one of ${
        Object.keys(arrayClasses).join(", ")
      }`,
    );
  }
  if (!isCounts(shape) || !Number.isSafeInteger(sizeOf(shape))) {
    fail(`${at} has shape ${JSON.stringify(shape)}`);
  }
  if (!isCounts(offsets) || offsets.length !== 2 || offsets[0] > offsets[1]) {
    fail(`${at} has offsets ${JSON.stringify(offsets)}`);
  }
  const [begin, end] = offsets;
  if (end > dataBytes) {
    fail(`${at} ends at byte ${end} of ${dataBytes}`);
  }
  const wanted = sizeOf(shape) * arrayClasses[dtype].BYTES_PER_ELEMENT;
  if (end - begin !== wanted) {
    fail(
      `${at} has ${end - begin} bytes, its type and shape need ${wanted}`,
    );
  }
  return { dtype, shape, data_offsets: [begin, end] };
}

function checkSpans(spans: [number, number][], dataBytes: number): void {
  spans.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let position = 0;
  for (const [begin, end] of spans) {
    if (begin !== position) {
      fail(`its arrays ${begin < position ? "overlap" : "leave a gap"}`);
    }
    position = end;
  }
  if (position !== dataBytes) {
    fail(`${dataBytes - position} bytes belong to no array`);
  }
}

function dtypeOf(name: string, data: StateArray): string {
  for (const [dtype, arrayClass] of Object.entries(arrayClasses)) {
    if (data instanceof (arrayClass as unknown as typeof Float32Array)) {
      return dtype;
    }
  }
  throw new TypeError(
    `Cannot write array '${name}': its type is not one of ${
      Object.keys(arrayClasses).join(", ")
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

function fail(what: string): never {
  throw new SyntaxError(`Cannot read safetensors: ${what}`);
}
