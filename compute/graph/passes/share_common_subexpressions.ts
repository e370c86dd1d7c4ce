import {
  CONSTANT,
  type ConstantData,
  type Graph,
  type Node,
  numberName,
  type Value,
} from "../graph.ts";
import { rewrite } from "./rewrite.ts";

/** Constants of more numbers are not compared. */
const MAX_COMPARED = 256;

/** Computes the same thing once: equal operations on equal values are one. */
export function shareCommonSubexpressions(graph: Graph): Graph {
  const known = new Map<string, readonly Value[]>();
  const numbers = new Map<Value, number>();
  const number = (value: Value): number => {
    if (!numbers.has(value)) numbers.set(value, numbers.size);
    return numbers.get(value)!;
  };
  return rewrite(graph, (node) => {
    const key = keyOf(node, number);
    if (key === undefined) return undefined;
    const same = known.get(key);
    if (same === undefined) known.set(key, node.outputs);
    return same;
  });
}

function keyOf(
  node: Node,
  number: (value: Value) => number,
): string | undefined {
  if (node.op === CONSTANT) return constantKey(node);
  const inputs = node.inputs.map(number);
  return `${node.op}(${inputs})${JSON.stringify(node.attributes, setting)}`;
}

/** Names numbers: JSON has `null` for both infinities. */
function setting(_key: string, value: unknown): unknown {
  return typeof value === "number" ? numberName(value) : value;
}

function constantKey({ attributes, outputs }: Node): string | undefined {
  const { fill, values } = attributes as ConstantData;
  const [{ shape, dtype }] = outputs;
  const type = `${dtype}[${shape}]`;
  if (fill !== undefined) return `${type}${numberName(fill)}`;
  if (values.length > MAX_COMPARED) return undefined;
  return `${type}(${Array.from(values, numberName)})`;
}
