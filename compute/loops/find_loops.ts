import {
  CONSTANT,
  consumersOf,
  type Graph,
  type Node,
  numberOf,
  producersOf,
  sameShape,
  sizeOf,
  type Value,
} from "../graph/graph.ts";
import { SCALAR_FUNCTIONS } from "./scalar_program.ts";
import { isElementwise } from "./compile_loop.ts";

/** Nodes that are in loops, and the order in which all nodes are run. */
export interface LoopNodes {
  readonly nodes: ReadonlySet<Node>;
  /** Even numbers are of graphs, odd ones of loops, others of scalars. */
  readonly levels: ReadonlyMap<Node, number>;
}

type Consumers = ReturnType<typeof consumersOf>;

/** Levels of the operations on single numbers. */
export const FIRST = -Infinity, LAST = Infinity;

/** Numbers of a vector from which a loop pays. */
const MIN_SIZE = 1024;

/** Operations in one loop from which it pays. */
const MIN_NODES = 4;

/**
 * Savings of one operation less, and cost of one more run of a graph, in
 * nanoseconds; measured by the bench next to this file.
 */
const SAVED_PER_NUMBER = 0.25, SAVED_PER_NODE = 1000, RUN_COST = 20_000;

/** Finds the operations of a graph that are worth to be loops. */
export function findLoops(
  graph: Graph,
  resident: ReadonlySet<string>,
): LoopNodes {
  const nodes = candidates(graph, resident);
  const scalars = findScalars(graph);
  const consumers = consumersOf(graph);
  for (;;) {
    const levels = levelsOf(graph, { loops: nodes, scalars, consumers });
    const poor = groupsOf(nodes, levels)
      .filter((group) => !pays(group, { loops: nodes, consumers })).flat();
    if (poor.length === 0) return { nodes, levels };
    for (const node of poor) nodes.delete(node);
  }
}

/**
 * Finds operations on long vectors, number by number, that a loop could take.
 */
function candidates(graph: Graph, resident: ReadonlySet<string>): Set<Node> {
  const producers = producersOf(graph);
  const foreign = new Set(
    graph.inputs.filter(({ name }) => !resident.has(name))
      .map(({ value }) => value),
  );
  // A loop writes each vector once, to where it can.
  const outputs = new Map<Value, boolean>();
  for (const { name, value } of graph.outputs) {
    outputs.set(value, resident.has(name) && !outputs.has(value));
  }
  const canRead = (value: Value, shape: readonly number[]) =>
    value.dtype === "float32" &&
    (numberOf(producers.get(value)) !== undefined ||
      sizeOf(value.shape) === 1 ||
      (sameShape(value.shape, shape) && !foreign.has(value) &&
        producers.get(value)?.op !== CONSTANT));
  return new Set(graph.nodes.filter((node) => {
    const [output] = node.outputs;
    return isElementwise(node) && output.dtype === "float32" &&
      sizeOf(output.shape) >= MIN_SIZE && (outputs.get(output) ?? true) &&
      node.inputs.every((value) => canRead(value, output.shape)) &&
      node.inputs.some((value) => sameShape(value.shape, output.shape));
  }));
}

/** Works out when each node can be run, if loops are run between graphs. */
function levelsOf(
  graph: Graph,
  { loops, scalars, consumers }: {
    loops: ReadonlySet<Node>;
    scalars: ScalarNodes;
    consumers: Consumers;
  },
): Map<Node, number> {
  const producers = producersOf(graph);
  const levels = new Map<Node, number>();
  for (const node of graph.nodes) {
    if (scalars.first.has(node) || scalars.last.has(node)) {
      levels.set(node, scalars.first.has(node) ? FIRST : LAST);
      continue;
    }
    let level = loops.has(node) ? 1 : 0;
    for (const value of node.inputs) {
      const producer = producers.get(value);
      if (producer === undefined || producer.op === CONSTANT) continue;
      const before = levels.get(producer)!;
      if (before === FIRST) continue;
      const step = stepBetween(producer, node, loops);
      level = Math.max(level, before + step);
    }
    levels.set(node, level);
  }
  sink(graph, { loops, levels, consumers });
  return levels;
}

const sizeOfNode = ({ outputs: [output] }: Node) => sizeOf(output.shape);

function stepBetween(
  producer: Node,
  node: Node,
  loops: ReadonlySet<Node>,
): number {
  const both = loops.has(producer) && loops.has(node);
  if (both) return sizeOfNode(producer) === sizeOfNode(node) ? 0 : 2;
  return loops.has(producer) || loops.has(node) ? 1 : 0;
}

/** Moves operations into the loop that alone takes what they make. */
function sink(
  graph: Graph,
  { loops, levels, consumers }: {
    loops: ReadonlySet<Node>;
    levels: Map<Node, number>;
    consumers: Consumers;
  },
): void {
  const outputs = new Set(graph.outputs.map(({ value }) => value));
  for (const node of graph.nodes.toReversed()) {
    const [output] = node.outputs;
    if (!loops.has(node) || outputs.has(output)) continue;
    const takers = consumers.get(output) ?? [];
    const alike = takers.every((it) =>
      loops.has(it) && sizeOfNode(it) === sizeOfNode(node)
    );
    if (!alike || takers.length === 0) continue;
    levels.set(node, Math.min(...takers.map((it) => levels.get(it)!)));
  }
}

/** Groups the nodes of each loop. */
function groupsOf(
  nodes: ReadonlySet<Node>,
  levels: ReadonlyMap<Node, number>,
): Node[][] {
  const groups = Map.groupBy(
    nodes,
    (node) => `${levels.get(node)} ${sizeOfNode(node)}`,
  );
  return [...groups.values()];
}

/** True where a loop saves more than it costs to cut the graph for it. */
function pays(
  group: readonly Node[],
  { loops, consumers }: { loops: ReadonlySet<Node>; consumers: Consumers },
): boolean {
  if (group.length < MIN_NODES) return false;
  const isLast = group.every(({ outputs: [output] }) =>
    (consumers.get(output) ?? []).every((node) => loops.has(node))
  );
  if (isLast) return true;
  const saved = SAVED_PER_NODE + sizeOfNode(group[0]) * SAVED_PER_NUMBER;
  return (group.length - MIN_NODES + 1) * saved > RUN_COST;
}

/** Operations on single numbers that nothing else waits for, or waits for. */
interface ScalarNodes {
  /** Those that only depend on inputs: they come first. */
  readonly first: ReadonlySet<Node>;
  /** Those that only results depend on: they come last. */
  readonly last: ReadonlySet<Node>;
}

/**
 * Finds the operations on single numbers that can run next to a graph: A2C's update
 * takes 6 % less time, ACER's 8.
 */
function findScalars(graph: Graph): ScalarNodes {
  const producers = producersOf(graph);
  const consumers = consumersOf(graph);
  const outputs = new Map<Value, number>();
  for (const { value } of graph.outputs) {
    outputs.set(value, (outputs.get(value) ?? 0) + 1);
  }
  const isScalar = (node: Node) =>
    Object.hasOwn(SCALAR_FUNCTIONS, node.op) &&
    [...node.inputs, node.outputs[0]].every(isNumber) &&
    (outputs.get(node.outputs[0]) ?? 0) < 2;
  const first = new Set<Node>();
  for (const node of graph.nodes) {
    const isFree = node.inputs.every((value) => {
      const producer = producers.get(value);
      return producer === undefined || isKnown(producer) || first.has(producer);
    });
    if (isFree && isScalar(node)) first.add(node);
  }
  const last = new Set<Node>();
  for (const node of graph.nodes.toReversed()) {
    const takers = consumers.get(node.outputs[0]) ?? [];
    const isFree = takers.every((taker) => last.has(taker)) &&
      node.inputs.every((value) => {
        const producer = producers.get(value);
        return producer?.op !== CONSTANT || isKnown(producer);
      });
    if (isFree && !first.has(node) && isScalar(node)) last.add(node);
  }
  return { first, last };
}

const isNumber = ({ shape, dtype }: Value) =>
  dtype === "float32" && sizeOf(shape) === 1;

const isKnown = (node: Node) => numberOf(node) !== undefined;
