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

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint8: Uint8Array,
};

/** An array of each value of a space. */
interface Leaf {
  readonly path: readonly string[];
  readonly dtype: keyof typeof ARRAYS;
  readonly size: number;
}

function leavesOf(space: Space, path: readonly string[] = []): Leaf[] {
  switch (space?.type) {
    case "discrete":
      return [{ path, dtype: "int32", size: 1 }];
    case "multiDiscrete":
      return [{ path, dtype: "int32", size: space.nvec.length }];
    case "multiBinary":
      return [{ path, dtype: "uint8", size: space.n }];
    case "dict":
    case "tuple":
      return Object.entries<Space>({ ...space.spaces })
        .flatMap(([name, it]) => leavesOf(it, [...path, name]));
    case "box": {
      const size = space.shape.reduce((a, b) => a * b, 1);
      if (space.dtype in ARRAYS) return [{ path, dtype: space.dtype, size }];
    }
  }
  throw new TypeError(`Cannot use ${JSON.stringify(space)} as a space`);
}

/** Rows of values, array by array, each with room up to a multiple of eight bytes. */
export class Rows {
  /** The arrays with that room. */
  readonly memory: readonly Uint8Array[];
  readonly #space: Space;
  readonly #leaves: readonly Leaf[];
  readonly #arrays: readonly BoxArray[];

  constructor(space: Space, rows: number) {
    this.#space = space;
    this.#leaves = leavesOf(space);
    this.#arrays = this.#leaves.map(({ dtype, size }) => {
      const Type = ARRAYS[dtype], count = rows * size;
      const bytes = 8 * Math.ceil(count * Type.BYTES_PER_ELEMENT / 8);
      return new Type(new ArrayBuffer(bytes), 0, count);
    });
    this.memory = this.#arrays.map(({ buffer }) => new Uint8Array(buffer));
  }

  write(value: GameValue, row: number): void {
    this.#leaves.forEach(({ path, size }, i) => {
      const part = path.reduce(
        (it, name) => Object(it)[name],
        value,
      ) as ArrayLike<number> | number | undefined;
      if (typeof part === "number" && size === 1) this.#arrays[i][row] = part;
      else if (Object(part).length === size) {
        this.#arrays[i].set(part as ArrayLike<number>, row * size);
      } else {
        const name = path.map((it) => ` of '${it}'`).join("");
        const { length = 0 } = Object(part);
        throw new RangeError(
          `Cannot send ${length} numbers${name}: expected ${size}`,
        );
      }
    });
  }

  /** Returns a copy of a value. */
  read(row: number): GameValue {
    let i = 0;
    const valueOf = (space: Space): GameValue => {
      if (space.type === "dict" || space.type === "tuple") {
        const parts = Object.entries<Space>({ ...space.spaces })
          .map(([name, it]) => [name, valueOf(it)] as const);
        return space.type === "dict"
          ? Object.fromEntries(parts)
          : parts.map(([, it]) => it);
      }
      const all = this.#arrays[i], { size } = this.#leaves[i++];
      return space.type === "discrete"
        ? all[row]
        : all.slice(row * size, (row + 1) * size);
    };
    return valueOf(this.#space);
  }

  /** Bytes of a value, array by array. */
  bytes(row: number): Uint8Array[] {
    return this.#arrays.map((all, i) => {
      const size = this.#leaves[i].size * all.BYTES_PER_ELEMENT;
      return this.memory[i].subarray(row * size, (row + 1) * size);
    });
  }
}

/** Joins bytes. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, it) => sum + it.length, 0));
  parts.reduce((at, it) => {
    all.set(it, at);
    return at + it.length;
  }, 0);
  return all;
}

/** Splits bytes among parts. */
export function spread(bytes: Uint8Array, parts: readonly Uint8Array[]): void {
  parts.reduce((at, it) => {
    it.set(bytes.subarray(at, at + it.length));
    return at + it.length;
  }, 0);
}

/** Returns the choices of an action, of which a mask has one byte each. */
export function choicesOf(space: Space): number {
  if (space.type === "discrete") return space.n;
  if (space.type === "multiBinary") return 2 * space.n;
  if (space.type === "multiDiscrete") {
    return space.nvec.reduce((a, b) => a + b, 0);
  }
  throw new TypeError(`Cannot mask actions of a ${space.type}`);
}
