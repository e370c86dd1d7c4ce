import { ARRAYS, numberName } from "../graph/graph.ts";
import {
  ELEMENT_TYPES,
  type OnnxAttribute,
  type OnnxInitializer,
  type OnnxNode,
  type OnnxType,
} from "./protobuf.ts";

/** Settings of an ONNX operation, by name. */
export type OnnxAttributes = Readonly<Record<string, OnnxAttribute>>;

/** Operations that the ONNX standard lacks and ONNX Runtime has. */
const CONTRIBUTED: ReadonlySet<string> = new Set(["FusedMatMul"]);

/** Options of a {@linkcode ModelBuilder}. */
export interface ModelOptions {
  /** Names that are taken: those of a graph's tensors. */
  readonly taken?: ReadonlySet<string>;
  /**
   * Channels that ONNX Runtime's blocked convolutions hold side by side on the
   * machine that the model is for; 0 for a model that runs anywhere.
   */
  readonly blockSize?: number;
}

/** Collects the operations and the numbers of an ONNX model, naming them. */
export class ModelBuilder {
  readonly nodes: OnnxNode[] = [];
  readonly initializers: OnnxInitializer[] = [];
  readonly blockSize: number;
  readonly #names = new Map<string, string>();
  readonly #forms = new Map<string, string>();
  readonly #taken: ReadonlySet<string>;
  #next = 0;

  constructor({ taken = new Set(), blockSize = 0 }: ModelOptions = {}) {
    this.#taken = taken;
    this.blockSize = blockSize;
  }

  /** Finds another form of a tensor, such as another layout. */
  formOf(name: string, form: string): string | undefined {
    return this.#forms.get(`${form} ${name}`);
  }

  /** Notes another form of a tensor; returns that form. */
  addForm(name: string, form: string, made: string): string {
    this.#forms.set(`${form} ${name}`, made);
    return made;
  }

  /** Adds an operation with one output; returns the output's name. */
  op(
    op: string,
    inputs: readonly string[],
    attributes: OnnxAttributes = {},
  ): string {
    return this.ops(op, inputs, { attributes, count: 1 })[0];
  }

  /** Adds an operation with several outputs; returns their names. */
  ops(
    op: string,
    inputs: readonly string[],
    { attributes = {}, count }: { attributes?: OnnxAttributes; count: number },
  ): string[] {
    const outputs = Array.from({ length: count }, () => this.#name("v"));
    this.nodes.push({ ...qualified(op), inputs, outputs, attributes });
    return outputs;
  }

  /** Casts numbers to another type. */
  cast(x: string, to: OnnxType): string {
    return this.op("Cast", [x], { to: ELEMENT_TYPES[to] });
  }

  /** Gives a tensor another shape. */
  reshape(x: string, shape: readonly number[]): string {
    return this.op("Reshape", [x, this.ints(shape)]);
  }

  /** Puts axes into another order. */
  transpose(x: string, perm: readonly number[]): string {
    return this.op("Transpose", [x], { perm });
  }

  /** Cuts a range out of each of some axes. */
  slice(
    x: string,
    { starts, ends, axes }: Record<
      "starts" | "ends" | "axes",
      readonly number[]
    >,
  ): string {
    const ranges = [starts, ends, axes].map((it) => this.ints(it));
    return this.op("Slice", [x, ...ranges]);
  }

  /** Adds a scalar. */
  scalar(value: number, dtype: OnnxType = "float32"): string {
    return this.tensor([value], { shape: [], dtype });
  }

  /** Adds a vector of `int64`, as shapes, axes and indices are given. */
  ints(values: readonly number[]): string {
    return this.tensor(values, { shape: [values.length], dtype: "int64" });
  }

  /** Adds numbers of any shape; equal small ones are added once. */
  tensor(
    values: ArrayLike<number>,
    { shape, dtype }: { shape: readonly number[]; dtype: OnnxType },
  ): string {
    const key = values.length > 16
      ? undefined
      : `${dtype}[${shape}]${Array.from(values, numberName)}`;
    const known = key === undefined ? undefined : this.#names.get(key);
    if (known !== undefined) return known;
    const name = this.#name("c");
    const bytes = bytesOf(values, dtype);
    this.initializers.push({ name, dtype, shape, bytes });
    if (key !== undefined) this.#names.set(key, name);
    return name;
  }

  #name(start: string): string {
    const name = `${start}${this.#next++}`;
    return this.#taken.has(name) ? this.#name(start) : name;
  }
}

/** Parts an operation from its domain, which may stand before it with a dot. */
function qualified(op: string): { op: string; domain: string } {
  if (CONTRIBUTED.has(op)) return { op, domain: "com.microsoft" };
  const dot = op.lastIndexOf(".");
  return { op: op.slice(dot + 1), domain: op.slice(0, Math.max(dot, 0)) };
}

function bytesOf(values: ArrayLike<number>, dtype: OnnxType): Uint8Array {
  const array = dtype === "int64"
    ? BigInt64Array.from(Array.from(values, BigInt))
    : ARRAYS[dtype].from(values);
  return new Uint8Array(array.buffer);
}
