/**
 * Types of the numbers in a graph. `uint8` is for inputs alone: TensorFlow.js
 * has no such tensors, so a traced function sees them as `int32`.
 */
export type DType = "float32" | "int32" | "bool" | "uint8";

/** Shape and type of a tensor. */
export interface TensorType {
  /** Length of each axis. */
  readonly shape: readonly number[];
  /** Type of the numbers. */
  readonly dtype: DType;
}

/**
 * A tensor of a graph: what one node makes and others take. Values are told
 * apart by identity.
 */
export type Value = TensorType;

/** Settings of a node, by the names of TensorFlow.js's kernel attributes. */
export type Attributes = Readonly<Record<string, unknown>>;

/** One operation: a kernel of TensorFlow.js, or a `Constant`. */
export interface Node {
  /** Name of the kernel, or `Constant`. */
  readonly op: string;
  /** Inputs, in the order of the kernel. */
  readonly inputs: readonly Value[];
  /** Its settings; those of a constant are its {@linkcode ConstantData}. */
  readonly attributes: Attributes;
  /** Outputs. */
  readonly outputs: readonly Value[];
  /** Place that called the operation, as `file:line` in text, if known. */
  readonly source?: { toString(): string };
}

/** Numbers of a constant: all of them, or the one that all are. */
export type ConstantData =
  | { readonly fill: number; readonly values?: undefined }
  | { readonly values: TensorData; readonly fill?: undefined };

/** Numbers of a tensor, row-major. */
export type TensorData = Float32Array | Int32Array | Uint8Array;

/** Arrays that numbers of each type are in. */
export const ARRAYS = {
  float32: Float32Array,
  int32: Int32Array,
  bool: Uint8Array,
  uint8: Uint8Array,
} as const;

/** A tensor that comes into a graph or leaves it, by the path of its name. */
export interface NamedValue {
  /** Path of keys, such as `batch.observations`. */
  readonly name: string;
  /** The tensor. */
  readonly value: Value;
}

/**
 * A function of tensors as a list of operations, each after those that it
 * takes from. Graphs are not changed: passes make new ones.
 */
export interface Graph {
  /** Inputs. */
  readonly inputs: readonly NamedValue[];
  /** Its operations, in an order in which they can be run. */
  readonly nodes: readonly Node[];
  /** Outputs. */
  readonly outputs: readonly NamedValue[];
  /** The graph as a readable program. */
  toString(): string;
}

/** The operation that makes constants. */
export const CONSTANT = "Constant";

/** Counts the numbers in a tensor of a shape. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

/** True where two shapes are the same. */
export function sameShape(
  a: readonly number[],
  b: readonly number[],
): boolean {
  return a.length === b.length && a.every((length, i) => length === b[i]);
}

/** Prints a type: `float32[2,3]`. */
export function typeName({ shape, dtype }: TensorType): string {
  return `${dtype}[${shape.join(",")}]`;
}

/** Names a number, as JSON knows neither `-0` nor infinities. */
export function numberName(it: number): string {
  return Object.is(it, -0) ? "-0" : String(it);
}

/** Finds each value's node; inputs have none. */
export function producersOf(graph: Pick<Graph, "nodes">): Map<Value, Node> {
  const producers = new Map<Value, Node>();
  for (const node of graph.nodes) {
    for (const output of node.outputs) producers.set(output, node);
  }
  return producers;
}

/** Finds the nodes that take each value; what nothing takes has none. */
export function consumersOf(
  graph: Pick<Graph, "nodes">,
): Map<Value, Node[]> {
  const consumers = new Map<Value, Node[]>();
  for (const node of graph.nodes) {
    for (const value of node.inputs) {
      const known = consumers.get(value);
      if (known === undefined) consumers.set(value, [node]);
      else known.push(node);
    }
  }
  return consumers;
}

/** Returns a value before a reshape, if it is reshaped. */
export function beforeReshape(
  value: Value,
  producers: ReadonlyMap<Value, Node>,
): Value {
  const node = producers.get(value);
  return node?.op === "Reshape" ? node.inputs[0] : value;
}

/** Counts the operations and outputs that take each value. */
export function countUses(graph: Graph): Map<Value, number> {
  const uses = new Map<Value, number>();
  const count = (value: Value) => uses.set(value, (uses.get(value) ?? 0) + 1);
  for (const node of graph.nodes) node.inputs.forEach(count);
  for (const output of graph.outputs) count(output.value);
  return uses;
}

/** Returns the number that a constant is, if it is one number everywhere. */
export function numberOf(node: Node | undefined): number | undefined {
  if (node?.op !== CONSTANT) return undefined;
  const { fill, values } = node.attributes as ConstantData;
  if (values === undefined) return fill;
  return values.length === 1 ? values[0] : undefined;
}
