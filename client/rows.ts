/** Values of spaces as the rows of one message: arrays side by side, row-major. */
import type { BoxArray, Space } from "@bellman/types";

/**
 * Value of a space: a number, numbers in row-major order, or parts by name or in order.
 */
export type GameValue =
  | number
  | ArrayLike<number>
  | { readonly [name: string]: GameValue }
  | readonly GameValue[];

/** Bytes in front of each message of numbers. */
export const HEAD = 8;

/** Rows of values in memory of a message. */
export interface Rows {
  /** Where what follows begins: a multiple of eight. */
  readonly end: number;
  /** Writes a value. */
  write(value: GameValue, row: number): void;
  /** Returns a copy of a value. */
  read(row: number): GameValue;
  /** Bytes of a value, array by array. */
  bytes(row: number): Uint8Array[];
}

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint8: Uint8Array,
};

/** Type and length of the array of a value, of spaces without parts. */
function arrayOf(space: Space): [dtype: keyof typeof ARRAYS, size: number] {
  switch (space?.type) {
    case "discrete":
      return ["int32", 1];
    case "box":
      if (!Object.hasOwn(ARRAYS, space.dtype)) break;
      return [space.dtype, space.shape.reduce((a, b) => a * b, 1)];
    case "multiDiscrete":
      return ["int32", space.nvec.length];
    case "multiBinary":
      return ["uint8", space.n];
  }
  throw new TypeError(
    `Cannot use ${JSON.stringify(space)} as a space: expected one such as ${
      JSON.stringify({ type: "discrete", n: 2 })
    }`,
  );
}

/** Returns the spaces inside of one with parts. */
function partsOf(space: Space): [string, Space][] | undefined {
  const hasParts = space?.type === "dict" || space?.type === "tuple";
  return hasParts ? Object.entries<Space>({ ...space.spaces }) : undefined;
}

/** Rounds up to a multiple of eight. */
export function padded(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

/** Joins bytes. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, it) => sum + it.length, 0));
  let at = 0;
  for (const it of parts) {
    all.set(it, at);
    at += it.length;
  }
  return all;
}

/** Returns the bytes of so many rows. */
export function bytesFor(space: Space, rows: number): number {
  const parts = partsOf(space);
  if (parts) return parts.reduce((sum, [, it]) => sum + bytesFor(it, rows), 0);
  const [dtype, size] = arrayOf(space);
  return padded(rows * size * ARRAYS[dtype].BYTES_PER_ELEMENT);
}

/** Lays rows out in memory, from a multiple of eight on. */
export function layOut(
  space: Space,
  rows: number,
  { buffer, from }: { buffer: ArrayBuffer; from: number },
): Rows {
  const parts = partsOf(space);
  if (parts) return layOutParts(space, parts, { rows, buffer, from });
  const [dtype, size] = arrayOf(space);
  const all: BoxArray = new ARRAYS[dtype](buffer, from, rows * size);
  const bytes = new Uint8Array(buffer, from, all.byteLength);
  const rowBytes = all.byteLength / rows;
  const isNumber = space.type === "discrete";
  return {
    end: from + padded(all.byteLength),
    write(value, row) {
      if (typeof value === "number" && size === 1) {
        all[row] = value;
        return;
      }
      const { length } = Object(value) as ArrayLike<number>;
      if (length !== size) throw sizeError(value, size);
      all.set(value as ArrayLike<number>, row * size);
    },
    read: (row) =>
      isNumber ? all[row] : all.slice(row * size, (row + 1) * size),
    bytes: (row) => [bytes.subarray(row * rowBytes, (row + 1) * rowBytes)],
  };
}

function sizeError(value: GameValue, size: number): Error {
  const { length } = Object(value) as ArrayLike<number>;
  const got = length === undefined ? String(value) : `${length} numbers`;
  return new RangeError(`Cannot send ${got}: expected ${size}`);
}

function layOutParts(
  space: Space,
  parts: [string, Space][],
  { rows, buffer, from }: { rows: number; buffer: ArrayBuffer; from: number },
): Rows {
  const inner: [string, Rows][] = [];
  let end = from;
  for (const [name, it] of parts) {
    const laid = layOut(it, rows, { buffer, from: end });
    inner.push([name, laid]);
    end = laid.end;
  }
  return {
    end,
    write(value, row) {
      const given = Object(value) as Record<string, GameValue>;
      for (const [name, it] of inner) {
        if (given[name] === undefined) {
          throw new TypeError(`Cannot send a value without its '${name}'`);
        }
        it.write(given[name], row);
      }
    },
    read(row) {
      const values = inner.map(([name, it]) => [name, it.read(row)] as const);
      return space.type === "tuple"
        ? values.map(([, it]) => it)
        : Object.fromEntries(values);
    },
    bytes: (row) => inner.flatMap(([, it]) => it.bytes(row)),
  };
}

/** Returns the choices of an action, of which a mask has one byte each. */
export function choicesOf(space: Space): number {
  switch (space.type) {
    case "discrete":
      return space.n;
    case "multiDiscrete":
      return space.nvec.reduce((a, b) => a + b, 0);
    case "multiBinary":
      return 2 * space.n;
  }
  throw new TypeError(`Cannot mask actions of a ${space.type}`);
}
