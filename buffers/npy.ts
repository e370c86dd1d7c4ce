import { reworded } from "./_errors.ts";
import { allocateBody, bodyBytes, dtypeOf, toBody } from "./_npy_body.ts";
import {
  encodeHeader,
  headerSpan,
  parseHeader,
  PREFIX_BYTES,
} from "./_npy_header.ts";
import type { NpyArray } from "./npy_array.ts";

/**
 * Writes an array in numpy's npy format, little-endian, for `np.load`.
 *
 * @param array Numbers and shape.
 * @returns The content of the file.
 * @throws {RangeError} If the shape does not fit the numbers, or they do not fit
 * the dtype.
 * @throws {TypeError} If they cannot be written as the dtype.
 *
 * @example
 * ```ts
 * import { decodeNpy, encodeNpy } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const array = { data: Uint8Array.of(0, 1, 1, 0), shape: [2, 2], dtype: "bool" } as const;
 * assertEquals(decodeNpy(encodeNpy(array)), array);
 * ```
 */
export function encodeNpy(array: NpyArray): Uint8Array<ArrayBuffer> {
  const dtype = dtypeOf(array);
  const header = encodeHeader(dtype, array.shape);
  const body = toBody(array.data, dtype);
  const bytes = new Uint8Array(header.length + body.length);
  bytes.set(header);
  bytes.set(body, header.length);
  return bytes;
}

/**
 * Reads numpy's npy format. Big-endian numbers are converted.
 *
 * @param bytes The content of the file.
 * @returns A copy of the numbers, their shape and what they were.
 * @throws {SyntaxError} If the bytes are cut off, too many, or no npy file.
 * @throws {TypeError} If it holds objects, records or other kinds of numbers, or
 * more than one axis in Fortran order.
 * @throws {RangeError} If a 64-bit number is above 2^53.
 *
 * @example
 * ```ts
 * import { decodeNpy } from "@bellman/buffers";
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
    const { start, end } = headerSpan(bytes.subarray(0, PREFIX_BYTES));
    checkLength(bytes.length, Math.max(end, bytes.length));
    const header = parseHeader(bytes.subarray(start, end));
    checkLength(bytes.length, end + bodyBytes(header));
    const unread = allocateBody(header);
    unread.bytes.set(bytes.subarray(end));
    return unread.finish();
  } catch (error) {
    throw reworded(error, (reason) => `Cannot read an npy file: ${reason}`);
  }
}

function checkLength(length: number, wanted: number): void {
  if (length === wanted) return;
  throw new SyntaxError(`it has ${length} bytes, expected ${wanted}`);
}
