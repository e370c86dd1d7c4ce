import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { ARRAYS, type DType, numberName } from "../graph/graph.ts";

/** Types of the numbers in an ONNX model; indices and shapes are `int64`. */
type OnnxType = DType | "int64";

/** The enumeration `TensorProto.DataType` of onnx.proto. */
export const ELEMENT_TYPES: Readonly<Record<OnnxType, number>> = {
  float32: 1,
  uint8: 2,
  int32: 6,
  int64: 7,
  bool: 9,
};

/** A setting of a node: a whole number is written as INT, `{ float }` as FLOAT. */
type OnnxAttribute =
  | number
  | string
  | readonly number[]
  | { readonly float: number }
  | { readonly graph: OnnxGraph };

/** A graph inside a node: it sees the names around it. */
export interface OnnxGraph {
  readonly inputs: readonly OnnxPort[];
  readonly outputs: readonly OnnxPort[];
  readonly nodes: readonly OnnxNode[];
}

/** One operation of a model. */
export interface OnnxNode {
  readonly op: string;
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, OnnxAttribute>>;
}

/** Numbers that a model holds. */
interface OnnxInitializer {
  readonly name: string;
  readonly dtype: OnnxType;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** A tensor that comes into a model or leaves it. */
export interface OnnxPort {
  readonly name: string;
  readonly dtype: OnnxType;
  /** Lengths of its axes; a name is any length. */
  readonly shape: readonly (number | string)[];
}

/** All that is written of a model. */
export interface OnnxModel {
  readonly inputs: readonly OnnxPort[];
  readonly outputs: readonly OnnxPort[];
  readonly nodes: readonly OnnxNode[];
  readonly initializers: readonly OnnxInitializer[];
  /** Text by key, for readers of the file. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The version of the operators, and of the format that came with it. */
const OPSET = 18;
const IR_VERSION = 8;
const CONTRIBUTED = "com.microsoft";

// Field numbers of onnx.proto.
const model = { ir: 1, producer: 2, graph: 7, opset: 8, metadata: 14 };
const graph = { node: 1, name: 2, initializer: 5, input: 11, output: 12 };
const node = { input: 1, output: 2, name: 3, op: 4, attribute: 5, domain: 7 };
const attribute = { name: 1, f: 2, i: 3, s: 4, g: 6, ints: 8, type: 20 };
const attributeType = { float: 1, int: 2, string: 3, graph: 5, ints: 7 };
const tensor = { dims: 1, dtype: 2, name: 8, raw: 9 };

const wire = { varint: 0, bytes: 2, bit32: 5 };

/** Encodes an `.onnx` file. */
export function encodeModel(content: OnnxModel): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  writer.tag(model.ir, wire.varint).int64(IR_VERSION);
  text(writer, model.producer, "bellman");
  message(writer, model.graph, () => writeGraph(writer, content));
  const domains = content.nodes.map(({ domain }) => domain);
  for (const domain of new Set(["", CONTRIBUTED, ...domains])) {
    message(writer, model.opset, () => {
      text(writer, 1, domain);
      writer.tag(2, wire.varint).int64(domain === "" ? OPSET : 1);
    });
  }
  for (const [key, value] of Object.entries(content.metadata ?? {})) {
    message(writer, model.metadata, () => {
      text(writer, 1, key);
      text(writer, 2, value);
    });
  }
  return writer.finish();
}

function writeGraph(writer: BinaryWriter, content: OnnxModel): void {
  text(writer, graph.name, "bellman");
  content.nodes.forEach((it, i) =>
    message(writer, graph.node, () => writeNode(writer, it, `${it.op}_${i}`))
  );
  const each = <T>(
    field: number,
    items: readonly T[],
    write: (writer: BinaryWriter, it: T) => void,
  ) => items.forEach((it) => message(writer, field, () => write(writer, it)));
  each(graph.initializer, content.initializers, writeTensor);
  each(graph.input, content.inputs, writePort);
  each(graph.output, content.outputs, writePort);
}

function writeNode(writer: BinaryWriter, it: OnnxNode, name: string): void {
  for (const input of it.inputs) text(writer, node.input, input);
  for (const output of it.outputs) text(writer, node.output, output);
  text(writer, node.name, name);
  text(writer, node.op, it.op);
  for (const [name, value] of Object.entries(it.attributes)) {
    message(writer, node.attribute, () => writeAttribute(writer, name, value));
  }
  if (it.domain !== "") text(writer, node.domain, it.domain);
}

function writeAttribute(
  writer: BinaryWriter,
  name: string,
  value: OnnxAttribute,
): void {
  text(writer, attribute.name, name);
  const type = (type: number) => writer.tag(attribute.type, 0).int32(type);
  if (typeof value === "number") {
    writer.tag(attribute.i, wire.varint).int64(value);
    type(attributeType.int);
  } else if (typeof value === "string") {
    text(writer, attribute.s, value);
    type(attributeType.string);
  } else if ("float" in value) {
    writer.tag(attribute.f, wire.bit32).float(value.float);
    type(attributeType.float);
  } else if ("graph" in value) {
    const content = { ...value.graph, initializers: [] };
    message(writer, attribute.g, () => writeGraph(writer, content));
    type(attributeType.graph);
  } else {
    for (const it of value) writer.tag(attribute.ints, wire.varint).int64(it);
    type(attributeType.ints);
  }
}

function writeTensor(writer: BinaryWriter, it: OnnxInitializer): void {
  for (const length of it.shape) {
    writer.tag(tensor.dims, wire.varint).int64(length);
  }
  writer.tag(tensor.dtype, wire.varint).int32(ELEMENT_TYPES[it.dtype]);
  text(writer, tensor.name, it.name);
  writer.tag(tensor.raw, wire.bytes).bytes(it.bytes);
}

function writePort(writer: BinaryWriter, it: OnnxPort): void {
  text(writer, 1, it.name);
  message(writer, 2, () =>
    message(writer, 1, () => {
      writer.tag(1, wire.varint).int32(ELEMENT_TYPES[it.dtype]);
      message(writer, 2, () => {
        for (const length of it.shape) {
          message(writer, 1, () => {
            if (typeof length === "string") text(writer, 2, length);
            else writer.tag(1, wire.varint).int64(length);
          });
        }
      });
    }));
}

function text(writer: BinaryWriter, field: number, value: string): void {
  writer.tag(field, wire.bytes).string(value);
}

function message(writer: BinaryWriter, field: number, write: () => void): void {
  writer.tag(field, wire.bytes).fork();
  write();
  writer.join();
}

/** Settings of an ONNX operation, by name. */
export type OnnxAttributes = Readonly<Record<string, OnnxAttribute>>;

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

  /** Casts numbers to another type; those known to be of that type stay. */
  cast(x: string, to: OnnxType, from?: OnnxType): string {
    return from === to ? x : this.op("Cast", [x], { to: ELEMENT_TYPES[to] });
  }

  /** Gives a tensor another shape. */
  reshape(x: string, shape: readonly number[]): string {
    // By itself, ONNX takes a length of 0 for that of the input.
    const allowzero = Number(shape.includes(0));
    return this.op("Reshape", [x, this.ints(shape)], { allowzero });
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

  /**
   * Adds operations to a graph of their own, for an attribute.
   *
   * @param make Function that adds them; returns the names of the outputs.
   */
  nested(make: () => readonly string[]): {
    nodes: OnnxNode[];
    outputs: string[];
  } {
    const start = this.nodes.length;
    // Other forms of a tensor are not known outside.
    const forms = [...this.#forms];
    const made = make();
    const own = new Set(
      this.nodes.slice(start).flatMap(({ outputs }) => outputs),
    );
    // What comes from outside, or twice, gets a separate operation.
    const outputs = made.map((name) =>
      own.delete(name) ? name : this.op("Identity", [name])
    );
    this.#forms.clear();
    for (const [key, it] of forms) this.#forms.set(key, it);
    return { nodes: this.nodes.splice(start), outputs };
  }

  /** Adds the name of an input of a graph inside a node. */
  input(): string {
    return this.#name("i");
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
  const dot = op.lastIndexOf(".");
  return { op: op.slice(dot + 1), domain: op.slice(0, Math.max(dot, 0)) };
}

function bytesOf(values: ArrayLike<number>, dtype: OnnxType): Uint8Array {
  const array = dtype === "int64"
    ? BigInt64Array.from(Array.from(values, BigInt))
    : ARRAYS[dtype].from(values);
  return new Uint8Array(array.buffer);
}
