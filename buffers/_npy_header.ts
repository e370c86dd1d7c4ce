/** The header of numpy's npy format, versions 1.0 to 3.0. */
import type { NpyDtype } from "./npy_array.ts";

/** Kinds of numbers that are read and written, by numpy's letters. */
const DTYPES: Readonly<Record<string, NpyDtype>> = {
  f4: "float32",
  f8: "float64",
  i1: "int8",
  i2: "int16",
  i4: "int32",
  i8: "int64",
  u1: "uint8",
  u2: "uint16",
  u4: "uint32",
  u8: "uint64",
  b1: "bool",
};

/** What the bytes after a header are. */
export interface NpyHeader {
  readonly dtype: NpyDtype;
  readonly shape: readonly number[];
  /** Bytes of a number. */
  readonly itemBytes: number;
  readonly bigEndian: boolean;
}

/** Bytes that say how long the header is, in any version. */
export const PREFIX_BYTES = 12;

const MAGIC = [0x93, ...new TextEncoder().encode("NUMPY")];

/** What headers are filled up to a multiple of. */
const ALIGNMENT = 64;

/** Writes a header: everything that comes before the numbers. */
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

/**
 * Where the header's text lies, from the first bytes of a file. Throws a
 * SyntaxError with the reason alone where they are no npy file's.
 */
export function headerSpan(prefix: Uint8Array): { start: number; end: number } {
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

/** Reads a header's text. Throws a SyntaxError or TypeError with the reason alone. */
export function parseHeader(bytes: Uint8Array): NpyHeader {
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
  const isFlat = shape.filter((length) => length !== 1).length <= 1;
  if (fortran === "True" && !isFlat) {
    throw new TypeError(
      "its numbers are in Fortran order, expected C order: save np.ascontiguousarray(x)",
    );
  }
  return { ...parseDescr(descr), shape };
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

function parseDescr(descr: string): Omit<NpyHeader, "shape"> {
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
