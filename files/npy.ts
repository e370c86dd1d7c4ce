import { fromHalves } from "./_half.ts";
import {
  bytesOf,
  concat,
  fillSync,
  type Reading,
  rewordError,
} from "./runtime.ts";

/** Dtypes of an {@linkcode NpyArray}, by numpy's names. */
export type NpyDtype =
  | "float32"
  | "float64"
  | "int8"
  | "int16"
  | "int32"
  | "int64"
  | "uint8"
  | "uint16"
  | "uint32"
  | "uint64"
  | "bool";

/** Typed array of an {@linkcode NpyArray}. */
export type NpyData =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | Uint8Array
  | Uint16Array
  | Uint32Array;

/** Numpy array. */
export interface NpyArray {
  /**
   * Elements, row-major. int64 and uint64, whole numbers up to 2^53, are read as
   * float64, bool as a Uint8Array of 0 and 1, float16 as float32.
   */
  readonly data: NpyData;
  /** Length of each axis; `[]` for a scalar. */
  readonly shape: readonly number[];
  /**
   * Dtype in the file: that of `data`, int64 or uint64 for whole numbers, or bool.
   *
   * @default the dtype of `data`
   */
  readonly dtype?: NpyDtype;
}

/**
 * Encodes an array in numpy's npy format, little-endian, for `np.load`.
 *
 * @param array Elements and shape.
 * @returns Content of the file.
 * @throws {RangeError} If the shape does not fit the elements, or they do not fit the
 * dtype.
 * @throws {TypeError} If they cannot be written as the dtype.
 *
 * @example
 * ```ts
 * import { decodeNpy, encodeNpy } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * const array = { data: Uint8Array.of(0, 1, 1, 0), shape: [2, 2], dtype: "bool" } as const;
 * assertEquals(decodeNpy(encodeNpy(array)), array);
 * ```
 */
export function encodeNpy(array: NpyArray): Uint8Array<ArrayBuffer> {
  const dtype = dtypeOf(array);
  const body = toBody(array.data, dtype);
  return concat([encodeHeader(dtype, array.shape), body]);
}

/**
 * Decodes numpy's npy format. Big-endian numbers and Fortran order are converted.
 *
 * @param bytes Content of the file.
 * @returns A copy of the elements, shape and dtype.
 * @throws {SyntaxError} If the file is truncated, too long or not npy.
 * @throws {TypeError} If the dtype is not supported, as of objects and records.
 * @throws {RangeError} If a 64-bit number is above 2^53.
 *
 * @example
 * ```ts
 * import { decodeNpy } from "@bellman/files";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(
 *   () => decodeNpy(new Uint8Array(100)),
 *   SyntaxError,
 *   "Cannot read an npy file: it does not start as an npy file does",
 * );
 * ```
 */
export function decodeNpy(bytes: Uint8Array): NpyArray {
  try {
    let position = 0;
    return fillSync(readNpy(bytes.length), (target) => {
      const part = bytes.subarray(position, position += target.length);
      target.set(part);
      return part.length;
    });
  } catch (error) {
    throw rewordError(error, (reason) => `Cannot read an npy file: ${reason}`);
  }
}

/**
 * Reads an npy file of the given length. Errors contain only the reason, not the file's
 * name.
 */
export function* readNpy(size: number): Reading<NpyArray> {
  const prefix = new Uint8Array(PREFIX_BYTES);
  const length = yield prefix;
  const { start, end } = headerSpan(prefix.subarray(0, length));
  checkLength(size, Math.max(end, size));
  const text = new Uint8Array(end - start);
  text.set(prefix.subarray(start, end));
  yield text.subarray(PREFIX_BYTES - start);
  const { dtype, shape, itemBytes, bigEndian, isFortran } = parseHeader(text);
  const bodyBytes = shape.reduce((product, it) => product * it, itemBytes);
  checkLength(size, end + bodyBytes);
  const bytes = new Uint8Array(bodyBytes);
  yield bytes;
  yield new Uint8Array(1); // End of the stream.
  if (bigEndian) swapBytes(bytes, itemBytes);
  const numbers = toNumbers(bytes, dtype);
  return {
    data: isFortran ? rowMajor(numbers, shape) : numbers,
    shape,
    dtype: dtype === "float16" ? "float32" : dtype,
  };
}

/** Converts column-major (Fortran) order to row-major. */
function rowMajor(numbers: NpyData, shape: readonly number[]): NpyData {
  const ordered = numbers.slice(), index = shape.map(() => 0);
  const strides = shape.map((_, axis) =>
    shape.slice(0, axis).reduce((product, it) => product * it, 1)
  );
  for (let i = 0, from = 0; i < numbers.length; i++) {
    ordered[i] = numbers[from];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += strides[axis];
      if (++index[axis] < shape[axis]) break;
      from -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return ordered;
}

function checkLength(length: number, wanted: number): void {
  if (length === wanted) return;
  throw new SyntaxError(`it has ${length} bytes, expected ${wanted}`);
}

/** Typed array of each supported dtype. */
const NUMBER_ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
} as const;

/** Integer types that are converted to float64. */
const BIG_ARRAYS = { int64: BigInt64Array, uint64: BigUint64Array } as const;

/**
 * Supported dtypes by numpy's letters (first that of the kind, then the bytes of an
 * element); float16 is read only.
 */
const DTYPES: Readonly<Record<string, NpyDtype | "float16">> = Object
  .fromEntries([
    ...Object.entries({ ...NUMBER_ARRAYS, ...BIG_ARRAYS })
      .map((
        [kind, { BYTES_PER_ELEMENT }],
      ) => [kind[0] + BYTES_PER_ELEMENT, kind]),
    ["b1", "bool"],
    ["f2", "float16"],
  ]);

/** Bytes before the header, by version. */
const PREFIX_BYTES = 12;

const MAGIC = [0x93, ...new TextEncoder().encode("NUMPY")];

/** Headers are padded to a multiple of this. */
const ALIGNMENT = 64;

/** Encodes a header: everything before the elements. */
export function encodeHeader(
  dtype: NpyDtype,
  shape: readonly number[],
): Uint8Array {
  const letters = Object.entries(DTYPES).find(([, it]) => it === dtype)![0];
  const order = letters.endsWith("1") ? "|" : "<";
  const list = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const text =
    `{'descr': '${order}${letters}', 'fortran_order': False, 'shape': (${list}), }`;
  const version = text.length + 65 > 0xffff ? 2 : 1;
  const start = version === 1 ? 10 : 12;
  const total = Math.ceil((start + text.length + 1) / ALIGNMENT) * ALIGNMENT;
  const bytes = new Uint8Array(total).fill(0x20);
  bytes.set([...MAGIC, version, 0]);
  const view = new DataView(bytes.buffer);
  if (version === 1) view.setUint16(8, total - start, true);
  else view.setUint32(8, total - start, true);
  bytes.set(new TextEncoder().encode(text), start);
  bytes[total - 1] = 0x0a;
  return bytes;
}

/** Locates the header's text from the first bytes of a file. Errors contain only the reason. */
function headerSpan(prefix: Uint8Array): { start: number; end: number } {
  if (
    prefix.length < PREFIX_BYTES || MAGIC.some((byte, i) => prefix[i] !== byte)
  ) throw new SyntaxError("it does not start as an npy file does");
  const view = new DataView(prefix.buffer, prefix.byteOffset, PREFIX_BYTES);
  const version = prefix[6];
  if (version < 1 || version > 3) {
    throw new SyntaxError(`its format is version ${version}, expected 1 to 3`);
  }
  return version === 1
    ? { start: 10, end: 10 + view.getUint16(8, true) }
    : { start: 12, end: 12 + view.getUint32(8, true) };
}

/** Parses a header's text. Errors contain only the reason. */
function parseHeader(bytes: Uint8Array) {
  const text = new TextDecoder().decode(bytes).trim();
  const descr = /'descr':\s*'([^']*)'/.exec(text)?.[1];
  const fortran = /'fortran_order':\s*(True|False)/.exec(text)?.[1];
  const shapeText = /'shape':\s*\(([\d\sL,]*)\)/.exec(text)?.[1];
  if (/'descr':\s*\[/.test(text)) {
    throw new TypeError("it holds records, expected an array of numbers");
  }
  if (
    descr === undefined || fortran === undefined || shapeText === undefined
  ) throw new SyntaxError(`its header is ${JSON.stringify(text)}`);
  const shape = parseShape(shapeText);
  return { ...parseDescr(descr), shape, isFortran: fortran === "True" };
}

function parseShape(text: string): number[] {
  const shape = text.replaceAll("L", "").split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(Number);
  if (Number.isSafeInteger(shape.reduce((size, length) => size * length, 1))) {
    return shape;
  }
  throw new SyntaxError(`its shape is (${text})`);
}

function parseDescr(descr: string) {
  const letters = descr.slice(1);
  if (/^[<>|]/.test(descr) && Object.hasOwn(DTYPES, letters)) {
    return {
      dtype: DTYPES[letters],
      itemBytes: Number(letters.slice(1)),
      bigEndian: descr[0] === ">",
    };
  }
  if (letters.startsWith("O")) {
    throw new TypeError(
      "it holds Python objects, expected an array of numbers",
    );
  }
  throw new TypeError(
    `its numbers are '${descr}', expected one of ${
      Object.keys(DTYPES).join(", ")
    }`,
  );
}

function isBig(dtype: string): dtype is keyof typeof BIG_ARRAYS {
  return Object.hasOwn(BIG_ARRAYS, dtype);
}

/** Chooses the dtype to write an array with. */
export function dtypeOf({ data, shape, dtype }: NpyArray): NpyDtype {
  const native = (Object.keys(NUMBER_ARRAYS) as (keyof typeof NUMBER_ARRAYS)[])
    .find((name) => (data as unknown) instanceof NUMBER_ARRAYS[name]);
  if (native === undefined) {
    throw new TypeError(
      `Cannot write ${data?.constructor.name} as an array: expected ${
        Object.values(NUMBER_ARRAYS).map((it) => it.name).join(", ")
      }`,
    );
  }
  const size = shape.reduce((product, length) => product * length, 1);
  if (size !== data.length || shape.some((length) => !(length >= 0))) {
    throw new RangeError(
      `Cannot write ${data.length} numbers in the shape [${shape}]`,
    );
  }
  const wanted = dtype ?? native;
  if (wanted === native || wanted === "bool" || isBig(wanted)) return wanted;
  throw new TypeError(
    `Cannot write ${native} as ${wanted}: expected ${native}, int64, uint64 or bool`,
  );
}

/**
 * Returns the bytes of elements in a dtype; a view if nothing changes and memory is not
 * shared.
 */
export function toBody(data: NpyData, dtype: NpyDtype): Uint8Array {
  if (dtype === "bool") return Uint8Array.from(data, (n) => n === 0 ? 0 : 1);
  if (!isBig(dtype)) {
    return bytesOf(data.buffer instanceof ArrayBuffer ? data : data.slice());
  }
  const lowest = dtype === "int64" ? Number.MIN_SAFE_INTEGER : 0;
  const big = new BIG_ARRAYS[dtype](data.length);
  for (let i = 0; i < data.length; i++) {
    if (!Number.isSafeInteger(data[i]) || data[i] < lowest) {
      throw new RangeError(
        `Cannot write ${
          data[i]
        } as ${dtype}: expected a whole number from ${lowest} to 2^53`,
      );
    }
    big[i] = BigInt(data[i]);
  }
  return bytesOf(big);
}

function toNumbers(
  bytes: Uint8Array,
  dtype: NpyDtype | "float16",
): NpyData {
  const buffer = bytes.buffer as ArrayBuffer;
  if (dtype === "float16") return fromHalves(new Uint16Array(buffer));
  if (dtype === "bool") return bytes.map((byte) => byte === 0 ? 0 : 1);
  if (!isBig(dtype)) return new NUMBER_ARRAYS[dtype](buffer);
  const big = new BIG_ARRAYS[dtype](buffer);
  const numbers = new Float64Array(buffer); // In place: both have 8 bytes.
  for (let i = 0; i < big.length; i++) {
    const value = big[i];
    if (!Number.isSafeInteger(Number(value))) {
      throw new RangeError(
        `its number ${i} is ${value}, expected at most 2^53`,
      );
    }
    numbers[i] = Number(value);
  }
  return numbers;
}

/** Swaps the byte order of each number, in place. */
function swapBytes(bytes: Uint8Array, itemBytes: number): void {
  for (let start = 0; start < bytes.length; start += itemBytes) {
    let a = start, b = start + itemBytes - 1;
    for (; a < b; a++, b--) [bytes[a], bytes[b]] = [bytes[b], bytes[a]];
  }
}
