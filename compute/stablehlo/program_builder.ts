import { bytesToHex } from "@noble/hashes/utils.js";
import {
  ARRAYS,
  type DType,
  sameShape,
  sizeOf,
  type TensorData,
  type TensorType,
} from "../graph/graph.ts";

const PRECISION = "#stablehlo<precision HIGHEST>";

/** A tensor of a program. */
export interface HloTensor extends TensorType {
  /** Its name in the text. */
  readonly name: string;
}

/** A constant that a program is given as an input. */
export interface GivenConstant extends HloTensor {
  /** Its numbers, row-major. */
  readonly values: TensorData;
}

/** Most numbers of a constant that are written into the text. */
export const MOST_WRITTEN = 1 << 20;

/** Numbers of a tensor for which each step costs more than what it computes. */
export const SMALL = 1 << 14;

/** Names of the types of numbers in StableHLO. */
const ELEMENT_TYPES: Readonly<Record<DType, string>> = {
  float32: "f32",
  int32: "i32",
  bool: "i1",
  uint8: "ui8",
};

/** Settings of an operation, as StableHLO writes them. */
export type HloAttributes = Readonly<Record<string, string>>;

/** Ways in which two tensors are compared. */
export type Direction = "EQ" | "NE" | "LT" | "LE" | "GT" | "GE";

/** Bounds of a slice along each axis. */
interface Bounds {
  readonly start: readonly number[];
  readonly limit: readonly number[];
  readonly strides?: readonly number[];
}

/** Places put around a tensor along each axis. */
interface Places {
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** Places between neighbours. */
  readonly between?: readonly number[];
}

/** Axes that two tensors are multiplied and summed over, or keep in common. */
interface Product {
  readonly batch?: readonly [readonly number[], readonly number[]];
  readonly contract: readonly [readonly number[], readonly number[]];
}

/** Prints a type as StableHLO does: `tensor<2x3xf32>`. */
export function hloType({ shape, dtype }: TensorType): string {
  return `tensor<${[...shape, ELEMENT_TYPES[dtype]].join("x")}>`;
}

/** Prints a list of whole numbers as an attribute. */
export function integers(values: readonly number[]): string {
  return values.length === 0
    ? "array<i64>"
    : `array<i64: ${values.join(", ")}>`;
}

/** Prints lows and highs of each axis as an attribute. */
export function pairs(
  lows: readonly number[],
  highs: readonly number[],
): string {
  const rows = lows.map((low, axis) => `[${low}, ${highs[axis]}]`);
  return `dense<[${rows.join(", ")}]> : tensor<${rows.length}x2xi64>`;
}

/** Collects the operations of a StableHLO program as text, naming them. */
export class ProgramBuilder {
  readonly #lines: string[] = [];
  readonly #constants = new Map<string, HloTensor>();
  /** Large constants by their numbers: they come as inputs. */
  readonly #given = new Map<TensorData, GivenConstant>();
  #next = 0;
  /** True where it is to run on a CPU. */
  readonly isForCpu: boolean;

  /** @param options Kind of device: a CPU by default. */
  constructor({ isForCpu = true }: { readonly isForCpu?: boolean } = {}) {
    this.isForCpu = isForCpu;
  }

  /** Operations so far, one a line. */
  get text(): string {
    return this.#lines.join("\n");
  }

  /** Constants that come as inputs, as they are too large for a text. */
  get given(): readonly GivenConstant[] {
    return [...this.#given.values()];
  }

  /** Adds an operation with one result of a type. */
  op(
    op: string,
    inputs: readonly HloTensor[],
    { shape, dtype, attributes = {}, region }: TensorType & {
      readonly attributes?: HloAttributes;
      /** Function of scalars that it applies. */
      readonly region?: string;
    },
  ): HloTensor {
    const made = { name: `%v${this.#next++}`, shape, dtype };
    this.#lines.push(
      `${made.name} = "${op.includes(".") ? op : `stablehlo.${op}`}"(${
        inputs.map(({ name }) => name).join(", ")
      })${region === undefined ? "" : ` (${region})`}${
        settingsText(attributes)
      } : (${inputs.map(hloType).join(", ")}) -> ${hloType(made)}`,
    );
    return made;
  }

  /** Applies an operation number by number, to tensors of one type. */
  map(op: string, ...inputs: readonly HloTensor[]): HloTensor {
    const [{ shape, dtype }] = inputs;
    return this.op(op, inputs, { shape, dtype });
  }

  /** Makes a tensor that is one number everywhere. */
  fill(value: number, type: TensorType): HloTensor {
    return this.#constant(elementText(value, type.dtype), type);
  }

  /** Makes a scalar. */
  scalar(value: number, dtype: DType = "float32"): HloTensor {
    return this.fill(value, { shape: [], dtype });
  }

  /** Makes a tensor of known numbers. */
  constant(values: TensorData, { shape, dtype }: TensorType): HloTensor {
    if (values.length === 0) return this.fill(0, { shape, dtype });
    if (dtype === "bool") {
      const bytes = this.constant(values, { shape, dtype: "uint8" });
      return this.cast(bytes, "bool");
    }
    if (values.length > MOST_WRITTEN) {
      return this.#give(values, { shape, dtype });
    }
    const { buffer, byteOffset, byteLength } = ARRAYS[dtype].from(values);
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    return this.#constant(`"0x${bytesToHex(bytes)}"`, { shape, dtype });
  }

  #give(values: TensorData, { shape, dtype }: TensorType): HloTensor {
    const name = `%given${this.#given.size}`;
    const given = this.#given.get(values) ??
      { name, shape: [values.length], dtype, values };
    this.#given.set(values, given);
    return this.reshape(given, shape);
  }

  #constant(text: string, type: TensorType): HloTensor {
    const value = `dense<${text}> : ${hloType(type)}`;
    const known = this.#constants.get(value);
    if (known !== undefined) return known;
    const made = this.op("constant", [], { ...type, attributes: { value } });
    this.#constants.set(value, made);
    return made;
  }

  /** Counts from 0 along an axis. */
  iota(type: TensorType, axis: number): HloTensor {
    const attributes = { iota_dimension: `${axis} : i64` };
    return this.op("iota", [], { ...type, attributes });
  }

  /** Converts numbers to another type; booleans are those that are not 0. */
  cast(x: HloTensor, dtype: DType): HloTensor {
    if (x.dtype === dtype) return x;
    if (dtype === "bool") return this.compare("NE", x, this.fill(0, x));
    return this.op("convert", [x], { shape: x.shape, dtype });
  }

  /** Repeats axes of length 1 and puts axes in front, as operations need it. */
  broadcast(x: HloTensor, shape: readonly number[]): HloTensor {
    const front = shape.length - x.shape.length;
    return this.spread(x, { shape, axes: x.shape.map((_, i) => i + front) });
  }

  /** Broadcasts a tensor whose axes become certain ones of a shape. */
  spread(
    x: HloTensor,
    { shape, axes }: { shape: readonly number[]; axes: readonly number[] },
  ): HloTensor {
    if (sameShape(x.shape, shape)) return x;
    const attributes = { broadcast_dimensions: integers(axes) };
    return this.op("broadcast_in_dim", [x], {
      shape,
      dtype: x.dtype,
      attributes,
    });
  }

  /** Gives a tensor another shape. */
  reshape(x: HloTensor, shape: readonly number[]): HloTensor {
    if (sameShape(x.shape, shape)) return x;
    return this.op("reshape", [x], { shape, dtype: x.dtype });
  }

  /** Makes a tensor a vector. */
  flatten(x: HloTensor): HloTensor {
    return this.reshape(x, [sizeOf(x.shape)]);
  }

  /** Puts axes into another order. */
  transpose(x: HloTensor, perm: readonly number[]): HloTensor {
    if (perm.every((from, axis) => from === axis)) return x;
    return this.op("transpose", [x], {
      shape: perm.map((axis) => x.shape[axis]),
      dtype: x.dtype,
      attributes: { permutation: integers(perm) },
    });
  }

  /** Turns axes round. */
  reverse(x: HloTensor, axes: readonly number[]): HloTensor {
    if (axes.length === 0) return x;
    const attributes = { dimensions: integers(axes) };
    return this.op("reverse", [x], { ...x, attributes });
  }

  /** Takes a part of a tensor. */
  slice(
    x: HloTensor,
    { start, limit, strides = start.map(() => 1) }: Bounds,
  ): HloTensor {
    const shape = start.map((from, i) =>
      Math.ceil((limit[i] - from) / strides[i])
    );
    if (sameShape(shape, x.shape)) return x;
    return this.op("slice", [x], {
      shape,
      dtype: x.dtype,
      attributes: {
        start_indices: integers(start),
        limit_indices: integers(limit),
        strides: integers(strides),
      },
    });
  }

  /** Takes a range of one axis. */
  range(
    x: HloTensor,
    { axis, from, to }: { axis: number; from: number; to: number },
  ): HloTensor {
    return this.slice(x, {
      start: x.shape.map((_, i) => i === axis ? from : 0),
      limit: x.shape.with(axis, to),
    });
  }

  /** Lays tensors of one type one after the other. */
  concat(parts: readonly HloTensor[], axis: number): HloTensor {
    if (parts.length === 1) return parts[0];
    const [{ shape, dtype }] = parts;
    return this.op("concatenate", parts, {
      shape: shape.with(
        axis,
        parts.reduce((sum, it) => sum + it.shape[axis], 0),
      ),
      dtype,
      attributes: { dimension: `${axis} : i64` },
    });
  }

  /** Puts a number around a tensor, and between its numbers. */
  pad(
    x: HloTensor,
    value: number,
    { before, after, between = before.map(() => 0) }: Places,
  ): HloTensor {
    const shape = x.shape.map((length, i) =>
      length + before[i] + after[i] + Math.max(0, length - 1) * between[i]
    );
    if (sameShape(shape, x.shape)) return x;
    return this.op("pad", [x, this.scalar(value, x.dtype)], {
      shape,
      dtype: x.dtype,
      attributes: {
        edge_padding_low: integers(before),
        edge_padding_high: integers(after),
        interior_padding: integers(between),
      },
    });
  }

  /** Compares tensors of one type. */
  compare(direction: Direction, a: HloTensor, b: HloTensor): HloTensor {
    const attributes = {
      comparison_direction: `#stablehlo<comparison_direction ${direction}>`,
    };
    return this.op("compare", [a, b], {
      shape: a.shape,
      dtype: "bool",
      attributes,
    });
  }

  /** Compares each number with one. */
  compareWith(direction: Direction, x: HloTensor, value: number): HloTensor {
    return this.compare(direction, x, this.fill(value, x));
  }

  /** Chooses number by number. */
  select(condition: HloTensor, yes: HloTensor, no: HloTensor): HloTensor {
    const { shape, dtype } = yes;
    return this.op("select", [condition, yes, no], { shape, dtype });
  }

  /** Applies an operation with a number on the right. */
  with(op: string, x: HloTensor, value: number): HloTensor {
    return this.map(op, x, this.fill(value, x));
  }

  /** Reduces axes by an operation, from a number on. */
  reduce(
    op: string,
    x: HloTensor,
    { axes, from }: { axes: readonly number[]; from: number },
  ): HloTensor {
    if (axes.length === 0) return x;
    const { dtype } = x;
    return this.op("reduce", [x, this.scalar(from, dtype)], {
      shape: x.shape.filter((_, axis) => !axes.includes(axis)),
      dtype,
      attributes: { dimensions: integers(axes) },
      region: this.region(dtype, (a, b) => this.map(op, a, b)),
    });
  }

  /**
   * Multiplies tensors, summed over some axes: batch, rest of a, rest of b. A GPU
   * rounds its operands to 10 bits unless the highest precision is asked for.
   */
  dot(
    a: HloTensor,
    b: HloTensor,
    { batch = [[], []], contract }: Product,
  ): HloTensor {
    const [outer, inner] = [batch, contract];
    const rest = ({ shape }: HloTensor, i: 0 | 1) =>
      shape.filter((_, axis) =>
        !outer[i].includes(axis) && !inner[i].includes(axis)
      );
    return this.op("dot_general", [a, b], {
      shape: [
        ...outer[0].map((axis) => a.shape[axis]),
        ...rest(a, 0),
        ...rest(b, 1),
      ],
      dtype: a.dtype,
      attributes: {
        dot_dimension_numbers: `#stablehlo.dot<lhs_batching_dimensions = [${
          outer[0]
        }], rhs_batching_dimensions = [${
          outer[1]
        }], lhs_contracting_dimensions = [${
          inner[0]
        }], rhs_contracting_dimensions = [${inner[1]}]>`,
        precision_config: `[${PRECISION}, ${PRECISION}]`,
      },
    });
  }

  /** Sorts tensors along an axis by the first, from the largest number down. */
  sort(parts: readonly HloTensor[], axis: number): HloTensor[] {
    const scalars = parts.flatMap(({ dtype }) => {
      const scalar = { shape: [], dtype };
      return [scalar, scalar];
    });
    return this.withRegions("sort", parts, {
      regions: [this.block(scalars, ([a, b]) => [this.compare("GT", a, b)])],
      outputs: parts,
      attributes: { dimension: `${axis} : i64`, is_stable: "true" },
    });
  }

  /** Writes a function of two scalars as a region. */
  region(
    dtype: DType,
    make: (a: HloTensor, b: HloTensor) => HloTensor,
  ): string {
    const scalar = { shape: [], dtype };
    return this.block([scalar, scalar], ([a, b]) => [make(a, b)]);
  }

  /** Writes a function of tensors as a region. */
  block(
    types: readonly TensorType[],
    make: (given: readonly HloTensor[]) => readonly HloTensor[],
  ): string {
    const given = types.map(({ shape, dtype }): HloTensor => ({
      name: `%v${this.#next++}`,
      shape,
      dtype,
    }));
    const start = this.#lines.length;
    // Constants of a region are not known outside it.
    const constants = [...this.#constants];
    this.#constants.clear();
    const made = make(given);
    this.#constants.clear();
    for (const [text, it] of constants) this.#constants.set(text, it);
    const body = this.#lines.splice(start);
    const head = given.map((it) => `${it.name}: ${hloType(it)}`).join(", ");
    const names = made.map(({ name }) => name).join(", ");
    const end = `"stablehlo.return"(${names}) : (${
      made.map(hloType).join(", ")
    }) -> ()`;
    const label = given.length === 0 ? [] : [`^bb0(${head}):`];
    return ["{", ...label, ...body, end, "}"].join("\n");
  }

  /** Adds an operation with regions and any number of results. */
  withRegions(
    op: string,
    inputs: readonly HloTensor[],
    { regions, outputs, attributes = {} }: {
      regions: readonly string[];
      outputs: readonly TensorType[];
      attributes?: HloAttributes;
    },
  ): HloTensor[] {
    const name = `%v${this.#next++}`;
    this.#lines.push(
      `${name}:${outputs.length} = "stablehlo.${op}"(${
        inputs.map((it) => it.name).join(", ")
      }) (${regions.join(", ")})${settingsText(attributes)} : (${
        inputs.map(hloType).join(", ")
      }) -> (${outputs.map(hloType).join(", ")})`,
    );
    return outputs.map(({ shape, dtype }, i) => ({
      name: `${name}#${i}`,
      shape,
      dtype,
    }));
  }
}

/** Prints settings of an operation, with a space before them. */
function settingsText(attributes: HloAttributes): string {
  const settings = Object.entries(attributes)
    .map(([name, value]) => `${name} = ${value}`);
  return settings.length === 0 ? "" : ` {${settings.join(", ")}}`;
}

/** Prints a number of a type. */
function elementText(value: number, dtype: DType): string {
  if (dtype === "bool") return String(value !== 0);
  if (dtype !== "float32") {
    return String(Number.isFinite(value) ? Math.trunc(value) : 0);
  }
  // Infinities and NaN are known by their bits alone.
  const [bits] = new Uint32Array(Float32Array.of(value).buffer);
  if (!Number.isFinite(Math.fround(value))) {
    return `0x${bits.toString(16).toUpperCase().padStart(8, "0")}`;
  }
  const text = Math.fround(value).toExponential();
  const printed = text.includes(".") ? text : text.replace("e", ".0e");
  return Object.is(value, -0) ? `-${printed}` : printed;
}
