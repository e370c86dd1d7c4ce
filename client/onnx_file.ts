/**
 * Reads ONNX files: the part of onnx.proto that policies have. Numbers of 64 bits
 * become numbers, which indices and shapes fit.
 */

/** Numbers of a tensor, in row-major order; int64 is held as int32, bool as uint8. */
export type Numbers = Float32Array | Int32Array | Uint8Array;

/** A tensor. */
export interface Tensor {
  /** Lengths of its axes. */
  readonly shape: readonly number[];
  /** Its numbers, in row-major order. */
  readonly data: Numbers;
}

/** An operation with the names of what it takes and gives. */
export interface OnnxNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, number | readonly number[]>>;
}

/** A tensor that a model takes, with the lengths of its axes; 0 is any length. */
export interface OnnxInput {
  readonly name: string;
  readonly type: number;
  readonly shape: readonly number[];
}

/** What is read of a model. */
export interface OnnxModel {
  readonly nodes: readonly OnnxNode[];
  readonly constants: ReadonlyMap<string, Tensor>;
  readonly inputs: readonly OnnxInput[];
  readonly outputs: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** The enumeration `TensorProto.DataType`. */
export const FLOAT = 1, UINT8 = 2, INT32 = 6, INT64 = 7, BOOL = 9;

/** The types that are known here. */
const TYPES = [FLOAT, UINT8, INT32, INT64, BOOL];

/** Largest whole number that is kept: longer slices end where the axis does. */
const LARGEST = 2 ** 31 - 1;

/** Most bytes of a varint of 64 bits. */
const MOST_BYTES = 10;

type Field = number | Uint8Array;

/** Reads a varint; returns its value and where it ends. */
function varintAt(bytes: Uint8Array, start: number): [number, number] {
  let value = 0n, at = start;
  for (let shift = 0n; at < bytes.length; shift += 7n) {
    if (at - start === MOST_BYTES) break;
    const byte = bytes[at++];
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [Number(BigInt.asIntN(64, value)), at];
  }
  throw new SyntaxError("it ends in the middle");
}

/** Goes through the fields of a message. */
function* fieldsOf(bytes: Uint8Array): Generator<[number, Field]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0, key: number, value: number;
  while (at < bytes.length) {
    [key, at] = varintAt(bytes, at);
    const field = key >>> 3, kind = key & 7;
    if (kind === 0) {
      [value, at] = varintAt(bytes, at);
      yield [field, value];
    } else if (kind === 2) {
      [value, at] = varintAt(bytes, at);
      if (value < 0 || at + value > bytes.length) {
        throw new SyntaxError("it ends in the middle");
      }
      yield [field, bytes.subarray(at, at += value)];
    } else if (kind === 5 && at + 4 <= bytes.length) {
      yield [field, view.getFloat32(at, true)];
      at += 4;
    } else {
      throw new SyntaxError("it is no ONNX file");
    }
  }
}

const textOf = (value: Field) => new TextDecoder().decode(value as Uint8Array);

/** Adds repeated whole numbers, which may be packed. */
function addTo(list: number[], value: Field): void {
  if (typeof value === "number") return void list.push(value);
  for (let at = 0, it: number; at < value.length;) {
    [it, at] = varintAt(value, at);
    list.push(it);
  }
}

const within = (value: number) => Math.max(-LARGEST, Math.min(LARGEST, value));

function numbersOf(type: number, raw: Uint8Array): Numbers {
  // Numbers of several bytes may lie anywhere in the file.
  const bytes = raw.slice().buffer;
  switch (type) {
    case FLOAT:
      return new Float32Array(bytes);
    case INT32:
      return new Int32Array(bytes);
    case UINT8:
    case BOOL:
      return new Uint8Array(bytes);
    case INT64:
      return Int32Array.from(
        new BigInt64Array(bytes),
        (it) => within(Number(it)),
      );
    default:
      throw new SyntaxError(`it has numbers of type ${type}`);
  }
}

function readTensor(bytes: Uint8Array): [name: string, Tensor] {
  const shape: number[] = [];
  let name = "", type = 0, raw: Uint8Array = new Uint8Array();
  for (const [field, value] of fieldsOf(bytes)) {
    if (field === 1) addTo(shape, value);
    if (field === 2) type = value as number;
    if (field === 8) name = textOf(value);
    if (field === 9) raw = value as Uint8Array;
  }
  const data = numbersOf(type, raw);
  if (data.length !== shape.reduce((a, b) => a * b, 1)) {
    throw new SyntaxError(`its numbers '${name}' are not those of [${shape}]`);
  }
  return [name, { shape, data }];
}

function readAttribute(
  bytes: Uint8Array,
): [name: string, number | readonly number[]] {
  const list: number[] = [];
  let name = "", one: number | undefined;
  for (const [field, value] of fieldsOf(bytes)) {
    if (field === 1) name = textOf(value);
    if (field === 2 || field === 3) one = value as number;
    if (field === 8) addTo(list, value);
  }
  return [name, one ?? list];
}

function readNode(bytes: Uint8Array): OnnxNode {
  const inputs: string[] = [], outputs: string[] = [];
  const attributes: Record<string, number | readonly number[]> = {};
  let op = "";
  for (const [field, value] of fieldsOf(bytes)) {
    if (field === 1) inputs.push(textOf(value));
    if (field === 2) outputs.push(textOf(value));
    if (field === 4) op = textOf(value);
    if (field !== 5) continue;
    const [name, it] = readAttribute(value as Uint8Array);
    attributes[name] = it;
  }
  return { op, inputs, outputs, attributes };
}

/** Finds the field of a message that lies in others. */
function inside(bytes: Uint8Array, ...path: number[]): Field | undefined {
  let found: Field | undefined = bytes;
  for (const wanted of path) {
    const fields: [number, Field][] = [...fieldsOf(found as Uint8Array)];
    found = fields.find(([field]) => field === wanted)?.[1];
    if (found === undefined) return undefined;
  }
  return found;
}

function readPort(bytes: Uint8Array): OnnxInput {
  const shape = inside(bytes, 2, 1, 2) as Uint8Array | undefined;
  const lengths = [...fieldsOf(shape ?? new Uint8Array())]
    .map(([, axis]) => inside(axis as Uint8Array, 1) as number ?? 0);
  const type = inside(bytes, 2, 1, 1) as number;
  if (!TYPES.includes(type)) throw new SyntaxError(`it takes type ${type}`);
  return { name: textOf(inside(bytes, 1)!), type, shape: lengths };
}

/**
 * Reads a model.
 *
 * @param file Bytes of an ONNX file.
 * @throws {SyntaxError} If it is none.
 */
export function readOnnx(file: Uint8Array): OnnxModel {
  const nodes: OnnxNode[] = [], constants = new Map<string, Tensor>();
  const inputs: OnnxInput[] = [], outputs: string[] = [];
  const metadata: Record<string, string> = {};
  let graph: Uint8Array | undefined;
  for (const [field, value] of fieldsOf(file)) {
    if (field === 7) graph = value as Uint8Array;
    if (field !== 14) continue;
    const [key, text] = [1, 2].map((it) => inside(value as Uint8Array, it));
    metadata[textOf(key!)] = text === undefined ? "" : textOf(text);
  }
  if (!(graph instanceof Uint8Array)) throw new SyntaxError("it has no graph");
  for (const [field, value] of fieldsOf(graph)) {
    const bytes = value as Uint8Array;
    if (field === 1) nodes.push(readNode(bytes));
    if (field === 5) constants.set(...readTensor(bytes));
    if (field === 11) inputs.push(readPort(bytes));
    if (field === 12) outputs.push(readPort(bytes).name);
  }
  return { nodes, constants, inputs, outputs, metadata };
}
