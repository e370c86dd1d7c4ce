import * as tf from "@tensorflow/tfjs";
import { closest } from "fastest-levenshtein";
import {
  ARRAYS,
  type DType,
  sameShape,
  sizeOf,
  type TensorData,
  type TensorType,
  typeName,
} from "../graph/graph.ts";
import {
  declarationsOf,
  isTypeLeaf,
  mapLeaves,
  type NamedLeaf,
  type Tree,
} from "../tracing/tree.ts";
import { allocate, type Port, toPort } from "./_ports.ts";
import type { Settings } from "./options.ts";

/** Shapes of inputs that are not the declared ones, by name. */
export type OtherShapes = ReadonlyMap<string, readonly number[]>;

/** Takes what a caller gives apart into one array for each input. */
export class InputReader {
  /** The inputs as they were declared. */
  readonly declared: readonly NamedLeaf<TensorType>[];
  readonly #ports: readonly Port[];
  readonly #function: string;
  readonly #readsTensors: boolean;
  readonly #arrays: TensorData[];
  /** Arrays that were found to fit: they need no second look. */
  readonly #known: unknown[] = [];
  /** Arrays for numbers that come without one. */
  readonly #scratch: (TensorData | undefined)[];
  #others: Map<string, readonly number[]> | undefined;

  /**
   * @param types Declarations of the inputs.
   * @param options The function's name, and whether the numbers of tensors are
   * read; otherwise they are only checked, and replaced by an empty array.
   */
  constructor(
    types: Tree<TensorType>,
    { name, readsTensors = true }: { name: string; readsTensors?: boolean },
  ) {
    this.declared = declarationsOf(types);
    this.#ports = this.declared.map(({ name, leaf }) =>
      toPort({ name, value: leaf })
    );
    this.#function = name;
    this.#readsTensors = readsTensors;
    this.#arrays = this.#ports.map(allocate);
    this.#scratch = this.#ports.map(() => undefined);
  }

  /** Shapes other than the declared ones, of the last inputs that were read. */
  get otherShapes(): OtherShapes | undefined {
    return this.#others;
  }

  /**
   * Reads the arrays in the order of the inputs, into a list that is used
   * again.
   *
   * @throws {TypeError} If an input is missing or of another type.
   * @throws {RangeError} If an array has another size.
   */
  read(inputs: unknown): readonly TensorData[] {
    this.#others = undefined;
    const arrays = this.#arrays;
    for (let i = 0; i < arrays.length; i++) {
      let value = inputs;
      const { path } = this.declared[i];
      for (let k = 0; k < path.length; k++) {
        value = (value as Record<string, unknown> | undefined)?.[path[k]];
      }
      if (value === this.#known[i] && value !== undefined) {
        arrays[i] = value as TensorData;
      } else arrays[i] = this.#arrayOf(value, i, inputs);
    }
    return arrays;
  }

  #arrayOf(value: unknown, i: number, inputs: unknown): TensorData {
    const port = this.#ports[i];
    if (ArrayBuffer.isView(value)) {
      const data = this.#checked(value, port);
      this.#known[i] = data;
      return data;
    }
    if (typeof value === "number") return this.#number(value, i);
    if (value instanceof tf.Tensor) {
      return this.#tensor(value, port);
    }
    const given = value as { data?: unknown; shape?: readonly number[] } | null;
    if (ArrayBuffer.isView(given?.data) && Array.isArray(given.shape)) {
      this.#note(port, given.shape);
      const data = this.#checkedType(given.data, port);
      if (data.length === sizeOf(given.shape)) return data;
      throw new RangeError(
        `Cannot run ${this.#function}: input '${port.name}' has ${data.length} numbers for shape [${given.shape}]`,
      );
    }
    throw this.#unusable(value, port, inputs);
  }

  #tensor(tensor: tf.Tensor, port: Port): TensorData {
    this.#note(port, tensor.shape);
    const ArrayType = ARRAYS[tensor.dtype as DType];
    const data = this.#readsTensors || ArrayType === undefined
      ? tensor.dataSync() as TensorData
      : new ArrayType();
    return this.#checkedType(data, port);
  }

  /** Remembers a shape that is not the declared one. */
  #note(port: Port, shape: readonly number[]): void {
    if (sameShape(shape, port.shape)) return;
    this.#others ??= new Map();
    this.#others.set(port.name, [...shape]);
  }

  #checked(value: ArrayBufferView, port: Port): TensorData {
    const data = this.#checkedType(value, port);
    if (data.length === port.size) return data;
    throw new RangeError(
      `Cannot run ${this.#function}: input '${port.name}' has ${data.length} numbers, expected ${
        typeName(port)
      }; another shape is given as { data, shape }`,
    );
  }

  #checkedType(value: ArrayBufferView, port: Port): TensorData {
    const ArrayType = ARRAYS[port.dtype];
    if (value instanceof ArrayType) return value;
    throw new TypeError(
      `Cannot run ${this.#function}: input '${port.name}' is a ${value.constructor.name}, expected ${
        typeName(port)
      } in a ${ArrayType.name}`,
    );
  }

  #number(value: number, i: number): TensorData {
    const port = this.#ports[i];
    if (port.size !== 1) {
      throw new TypeError(
        `Cannot run ${this.#function}: input '${port.name}' is the number ${value}, expected ${
          typeName(port)
        }`,
      );
    }
    const scratch = this.#scratch[i] ??= allocate(port);
    scratch[0] = value;
    if (port.dtype === "float32" || scratch[0] === value) return scratch;
    throw new TypeError(
      `Cannot run ${this.#function}: input '${port.name}' is the number ${value}, which no ${port.dtype} is`,
    );
  }

  #unusable(value: unknown, port: Port, inputs: unknown): TypeError {
    const expected = typeName(port);
    if (value !== undefined) {
      return new TypeError(
        `Cannot run ${this.#function}: input '${port.name}' is no tensor, expected ${expected}`,
      );
    }
    const names = namesIn(inputs);
    const hint = names.length > 0
      ? `; did you mean '${closest(port.name, names)}'?`
      : "";
    return new TypeError(
      `Cannot run ${this.#function} without the input '${port.name}', ${expected}${hint}`,
    );
  }
}

/** Lists the names of all that was given. */
function namesIn(inputs: unknown, prefix = ""): string[] {
  if (typeof inputs !== "object" || inputs === null) return [];
  return Object.entries(inputs).flatMap(([key, value]) => {
    const name = prefix + key;
    const isLeaf = typeof value !== "object" || value === null ||
      ArrayBuffer.isView(value) || value instanceof tf.Tensor ||
      "data" in value;
    return isLeaf ? [name] : namesIn(value, `${name}.`);
  });
}

/** Replaces the shapes of some declarations. */
export function withShapes(
  types: Tree<TensorType>,
  others: OtherShapes | undefined,
): Tree<TensorType> {
  if (others === undefined) return types;
  return mapLeaves(types, isTypeLeaf, ({ shape, dtype }, name) => ({
    dtype,
    shape: others.get(name) ?? shape,
  }));
}

/**
 * Compiles for the declared shapes, and for others as they come.
 *
 * @returns A function that returns what is compiled for shapes, made at their
 * first use; it throws a RangeError if there are too many sets of shapes.
 */
export function variants<T>(
  make: (others: OtherShapes | undefined) => T,
  { name, maxShapes, onNotice }: Settings,
): (others: OtherShapes | undefined) => T {
  const known = new Map<string, T>();
  let declared: T | undefined;
  return (others) => {
    if (others === undefined) return declared ??= make(undefined);
    const shapes = [...others].map(([name, shape]) => `${name} [${shape}]`)
      .join(", ");
    const before = known.get(shapes);
    if (before !== undefined) return before;
    const count = known.size + 2;
    if (count > maxShapes) {
      throw new RangeError(
        `Cannot compile ${name} for ${shapes}: it was compiled for ${
          count - 1
        } sets of shapes already; pad the batch or raise maxShapes`,
      );
    }
    const made = make(others);
    known.set(shapes, made);
    onNotice(
      `Compiled ${name} again for ${shapes} (${count} of at most ${maxShapes} sets of shapes)`,
    );
    return made;
  };
}
