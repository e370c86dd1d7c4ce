/** ONNX models as protocol buffers. */
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { DType } from "../graph/graph.ts";

/** Types of the numbers in an ONNX model; indices and shapes are `int64`. */
export type OnnxType = DType | "int64";

/** The enumeration `TensorProto.DataType` of onnx.proto. */
export const ELEMENT_TYPES: Readonly<Record<OnnxType, number>> = {
  float32: 1,
  uint8: 2,
  int32: 6,
  int64: 7,
  bool: 9,
};

/** A setting of a node: a whole number is written as INT, `{ float }` as FLOAT. */
export type OnnxAttribute =
  | number
  | string
  | readonly number[]
  | { readonly float: number };

/** One operation of a model. */
export interface OnnxNode {
  readonly op: string;
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, OnnxAttribute>>;
}

/** Numbers that a model holds. */
export interface OnnxInitializer {
  readonly name: string;
  readonly dtype: OnnxType;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** A tensor that comes into a model or leaves it. */
export interface OnnxPort {
  readonly name: string;
  readonly dtype: OnnxType;
  readonly shape: readonly number[];
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
const attribute = { name: 1, f: 2, i: 3, s: 4, ints: 8, type: 20 };
const attributeType = { float: 1, int: 2, string: 3, ints: 7 };
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
          message(writer, 1, () => writer.tag(1, wire.varint).int64(length));
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
