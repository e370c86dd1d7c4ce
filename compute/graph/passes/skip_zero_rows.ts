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

/** Operations that keep rows of 0, from a value that has some. */
interface Chain {
  /** Mask of the value's rows that are not 0. */
  readonly mask: Value;
  readonly nodes: readonly Node[];
  /** Inputs of the operations that have a row for each of the mask's. */
  readonly byRow: readonly Value[];
}

/**
 * Computes products only for the rows that a mask left over. The gradient of
 * the smaller of two values goes to either the one or the other: the rows of
 * each branch that are 0 stay 0 through its layers, up to what the layers add.
 * Numbers that are no longer multiplied by 0 may be infinite or NaN.
 */
export function skipZeroRows(graph: Graph): Graph {
  const chains = findChains(graph);
  if (chains.length === 0) return graph;
  const inside = new Set(chains.flatMap(({ nodes }) => nodes));
  const ends = new Map(
    chains.map((chain) => [chain.nodes[chain.nodes.length - 1], chain]),
  );
  const nodes = graph.nodes.flatMap((node) => {
    const chain = ends.get(node);
    if (chain !== undefined) {
      const { mask, nodes, byRow } = chain;
      return [gatherRows(mask, { chain: nodes, byRow })];
    }
    return inside.has(node) ? [] : [node];
  });
  return makeGraph({ inputs: graph.inputs, nodes, outputs: graph.outputs });
}

function findChains(graph: Graph): Chain[] {
  const producers = producersOf(graph);
  const consumers = consumersOf(graph);
  const uses = countUses(graph);
  const taken = new Set<Node>();
  return graph.nodes.flatMap((node) => {
    const mask = maskOf(node, producers);
    if (mask === undefined || taken.has(node)) return [];
    const nodes: Node[] = [];
    const byRow: Value[] = [node.outputs[0]];
    for (let at = node.outputs[0]; uses.get(at) === 1;) {
      const next = consumers.get(at)?.[0];
      const rows = next && rowsBeside(next, at);
      // What another mask's chain has stays there.
      if (rows === undefined || taken.has(next!)) break;
      nodes.push(next!);
      byRow.push(...rows);
      at = next!.outputs[0];
    }
    if (multiplications({ nodes }) < WORTHWHILE) return [];
    for (const it of nodes) taken.add(it);
    return [{ mask, nodes, byRow }];
  });
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
 * Returns the other inputs that an operation takes by row beside a value whose
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
