import { GATHER_ROWS, gatherRowsOf } from "./gather_rows.ts";
import {
  type Attributes,
  CONSTANT,
  type ConstantData,
  type Graph,
  type Node,
  numberName,
  sizeOf,
  typeName,
  type Value,
} from "./graph.ts";

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
  const settings = node.op === GATHER_ROWS
    ? [`chain=${gatherRowsOf(node).chain.map(({ op }) => op).join(" ")}`]
    : printAttributes(node.attributes);
  const all = [...taken, ...settings].join(", ");
  return `${made} = ${node.op}(${all})`;
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
