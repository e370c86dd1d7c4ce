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
 * A tensor of a graph: the output of a node, and an input of others. Values are
 * compared by identity.
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

/** Returns numbers as a constant's: the one number where all are the same. */
export function asConstant(values: TensorData): ConstantData {
  const [first] = values;
  return values.length > 1 && values.every((it) => Object.is(it, first))
    ? { fill: first }
    : { values };
}

/** Numbers of a tensor, row-major. */
export type TensorData = Float32Array | Int32Array | Uint8Array;

/** Arrays that numbers of each type are in. */
export const ARRAYS: {
  readonly float32: Float32ArrayConstructor;
  readonly int32: Int32ArrayConstructor;
  readonly bool: Uint8ArrayConstructor;
  readonly uint8: Uint8ArrayConstructor;
} = {
  float32: Float32Array,
  int32: Int32Array,
  bool: Uint8Array,
  uint8: Uint8Array,
};

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
  /** Shows the graph as a readable program. */
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

/** Returns the operations that results depend on. */
export function neededNodes<
  Item,
  Operation extends Record<"inputs" | "outputs", readonly Item[]>,
>(nodes: readonly Operation[], results: Iterable<Item>): Operation[] {
  const needed = new Set(results);
  return nodes.toReversed().filter(({ inputs, outputs }) => {
    if (!outputs.some((output) => needed.has(output))) return false;
    for (const input of inputs) needed.add(input);
    return true;
  }).reverse();
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

/**
 * The operation that computes a chain of others for some rows alone; the other
 * rows of what it makes are 0. Its inputs are the mask of the rows, one truth
 * value each, and all that the chain takes from outside.
 */
export const GATHER_ROWS = "GatherRows";

/** Settings of {@linkcode GATHER_ROWS}. */
interface GatherRows {
  /** The operations, each but the first taking what the one before makes. */
  readonly chain: readonly Node[];
  /** Inputs of the chain that have a row for each of the mask's. */
  readonly byRow: readonly Value[];
}

/** Returns the settings of an operation on some rows. */
export function gatherRowsOf({ attributes }: Node): GatherRows {
  return attributes as unknown as GatherRows;
}

/** Makes an operation on some rows. */
export function gatherRows(
  mask: Value,
  { chain, byRow }: GatherRows,
): Node {
  const made = new Set(chain.flatMap(({ outputs }) => outputs));
  const taken = new Set(
    chain.flatMap(({ inputs }) => inputs).filter((it) => !made.has(it)),
  );
  const last = chain[chain.length - 1];
  return {
    op: GATHER_ROWS,
    inputs: [mask, ...taken],
    attributes: { chain, byRow } satisfies Attributes,
    outputs: last.outputs,
    source: last.source,
  };
}

/**
 * The operation that repeats a graph as long as another one says so: outputs are
 * its first inputs as the last round left them.
 */
export const WHILE = "While";

/**
 * The operation that runs one of several graphs, chosen by its first input: the
 * last one for numbers that none has.
 */
export const SWITCH = "Switch";

/** A graph inside an operation, and what it takes from outside. */
export interface Nested {
  /** Graph; what it takes from outside are its last inputs. */
  readonly graph: Graph;
  /** Places of these among the operation's inputs. */
  readonly captured: readonly number[];
}

/** Settings of {@linkcode WHILE}. */
export interface While {
  /** Makes one truth value of the state. */
  readonly condition: Nested;
  /** Makes the next state. */
  readonly body: Nested;
}

/** Settings of {@linkcode SWITCH}. */
export interface Switch {
  readonly branches: readonly Nested[];
}

/** Returns the graphs inside an operation. */
export function nestedIn({ op, attributes }: Node): readonly Nested[] {
  if (op === SWITCH) return (attributes as unknown as Switch).branches;
  if (op !== WHILE) return [];
  const { condition, body } = attributes as unknown as While;
  return [condition, body];
}

/** Changes the graphs inside operations. */
export function mapNested(
  graph: Graph,
  change: (graph: Graph) => Graph,
): Graph {
  if (!graph.nodes.some(({ op }) => op === WHILE || op === SWITCH)) {
    return graph;
  }
  const nodes = graph.nodes.map((node): Node => {
    const changed = nestedIn(node)
      .map((it): Nested => ({ ...it, graph: change(it.graph) }));
    if (node.op === SWITCH) {
      return { ...node, attributes: { branches: changed } };
    }
    if (node.op !== WHILE) return node;
    const [condition, body] = changed;
    return { ...node, attributes: { condition, body } };
  });
  return makeGraph({ inputs: graph.inputs, nodes, outputs: graph.outputs });
}

/** Counts the multiplications of matrix products and convolutions. */
export function multiplications({ nodes }: Pick<Graph, "nodes">): number {
  return nodes.reduce((sum, node) => sum + multiplicationsOf(node), 0);
}

function multiplicationsOf(node: Node): number {
  const { op, inputs, outputs, attributes } = node;
  switch (op) {
    case "BatchMatMul":
    case "Gemm": {
      const [rows, columns] = inputs[0].shape.slice(-2);
      return sizeOf(outputs[0].shape) *
        (attributes.transposeA ? rows : columns);
    }
    case "Conv2D":
      return sizeOf(outputs[0].shape) * sizeOf(inputs[1].shape.slice(0, 3));
    case "Conv2DBackpropInput":
      return sizeOf(inputs[0].shape) * sizeOf(inputs[1].shape.slice(0, 3));
    case "Conv2DBackpropFilter":
      return sizeOf(inputs[1].shape) * sizeOf(outputs[0].shape.slice(0, 3));
    case GATHER_ROWS:
      return multiplications({ nodes: gatherRowsOf(node).chain });
    default:
      return nestedIn(node)
        .reduce((sum, { graph }) => sum + multiplications(graph), 0);
  }
}

/** Makes a graph of its parts, with printing. */
export function makeGraph(parts: Omit<Graph, "toString">): Graph {
  const graph: Graph = { ...parts, toString: () => printGraph(graph) };
  return graph;
}

/** Numbers of a constant that are still printed. */
const MAX_NUMBERS = 8;

/** Prints a graph as a program: inputs, one line an operation, outputs. */
function printGraph(graph: Graph): string {
  const names = new Map<Value, string>();
  const lines: string[] = [];
  for (const { name, value } of graph.inputs) {
    names.set(value, name);
    lines.push(`input ${name}: ${typeName(value)}`);
  }
  nameOutputs(graph, names);
  for (const node of graph.nodes) lines.push(printNode(node, names));
  for (const { name, value } of graph.outputs) {
    lines.push(`output ${name} = ${names.get(value)}`);
  }
  return lines.join("\n");
}

/** Numbers what the operations make from 0. */
function nameOutputs(graph: Graph, names: Map<Value, string>): void {
  let next = 0;
  for (const node of graph.nodes) {
    for (const output of node.outputs) names.set(output, `%${next++}`);
  }
}

function printNode(node: Node, names: ReadonlyMap<Value, string>): string {
  const made = node.outputs
    .map((output) => `${names.get(output)}: ${typeName(output)}`)
    .join(", ");
  if (node.op === CONSTANT) {
    const data = node.attributes as ConstantData;
    return `${made} = ${printConstant(data, node.outputs[0])}`;
  }
  const taken = node.inputs.map((input) => names.get(input) ?? "?");
  const nested = nestedIn(node);
  const settings = node.op === GATHER_ROWS
    ? [`chain=${gatherRowsOf(node).chain.map(({ op }) => op).join(" ")}`]
    : nested.length > 0
    ? []
    : printAttributes(node.attributes);
  const all = [...taken, ...settings].join(", ");
  const inside = nested.map(({ graph }) =>
    ` {\n${printGraph(graph).replaceAll(/^/gm, "  ")}\n}`
  );
  return `${made} = ${node.op}(${all})${inside.join("")}`;
}

function printConstant(data: ConstantData, value: Value): string {
  if (data.fill !== undefined) return `constant ${numberName(data.fill)}`;
  const first = data.values.subarray(0, MAX_NUMBERS);
  const numbers = Array.from(first, numberName).join(", ");
  const rest = sizeOf(value.shape) > MAX_NUMBERS ? ", ..." : "";
  return `constant [${numbers}${rest}]`;
}

function printAttributes(attributes: Attributes): string[] {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name}=${printSetting(value)}`);
}

function printSetting(value: unknown): string {
  if (typeof value === "number") return numberName(value);
  if (Array.isArray(value)) return `[${value.map(printSetting)}]`;
  return JSON.stringify(value);
}
