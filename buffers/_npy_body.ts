/** The numbers of npy files, to and from typed arrays. */
import { NUMBER_ARRAYS } from "./fields.ts";
import type { NpyHeader } from "./_npy_header.ts";
import { bytesOf } from "./_state_tree.ts";
import type { NpyArray, NpyData, NpyDtype } from "./npy_array.ts";

/** Whole numbers that a typed array of numbers holds only as float64. */
const BIG_ARRAYS = { int64: BigInt64Array, uint64: BigUint64Array } as const;

function isBig(dtype: NpyDtype): dtype is keyof typeof BIG_ARRAYS {
  return Object.hasOwn(BIG_ARRAYS, dtype);
}

/** What an array's numbers are written as. Throws where they cannot be. */
export function dtypeOf({ data, shape, dtype }: NpyArray): NpyDtype {
  const own = (Object.keys(NUMBER_ARRAYS) as (keyof typeof NUMBER_ARRAYS)[])
    .find((name) => (data as unknown) instanceof NUMBER_ARRAYS[name]);
  if (own === undefined) {
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
  const wanted = dtype ?? own;
  if (wanted === own || wanted === "bool" || isBig(wanted)) return wanted;
  throw new TypeError(
    `Cannot write ${own} as ${wanted}: expected ${own}, int64, uint64 or bool`,
  );
}

/** The bytes of numbers that are written as a dtype; a view where nothing changes and memory is not shared. */
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

/** An array whose bytes are still to be read. */
export interface UnreadArray {
  /** Where they go. */
  readonly bytes: Uint8Array;
  /** The array, when they are there. Throws a RangeError with the reason alone. */
  finish(): NpyArray;
}

/** Bytes of the numbers that a header announces. */
export function bodyBytes({ shape, itemBytes }: NpyHeader): number {
  return shape.reduce((product, length) => product * length, itemBytes);
}

/** Makes room for the numbers that a header announces. */
export function allocateBody(header: NpyHeader): UnreadArray {
  const { dtype, shape, itemBytes, bigEndian } = header;
  const bytes = new Uint8Array(bodyBytes(header));
  return {
    bytes,
    finish() {
      if (bigEndian) swapBytes(bytes, itemBytes);
      return { data: toNumbers(bytes, dtype), shape, dtype };
    },
  };
}

function toNumbers(bytes: Uint8Array, dtype: NpyDtype): NpyData {
  const buffer = bytes.buffer as ArrayBuffer;
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

/** Turns the order of the bytes in each number, in place. */
function swapBytes(bytes: Uint8Array, itemBytes: number): void {
  for (let start = 0; start < bytes.length; start += itemBytes) {
    let a = start, b = start + itemBytes - 1;
    for (; a < b; a++, b--) [bytes[a], bytes[b]] = [bytes[b], bytes[a]];
  }
}
