import {
  CONSTANT,
  consumersOf,
  type Graph,
  type Node,
  numberOf,
  producersOf,
  sizeOf,
  type Value,
} from "../graph/graph.ts";

/** Operations on single numbers, in JavaScript. */
const FUNCTIONS: Readonly<Record<string, (x: number, y: number) => number>> = {
  Abs: (x) => Math.abs(x),
  Add: (x, y) => x + y,
  Exp: (x) => Math.exp(x),
  Expm1: (x) => Math.expm1(x),
  Log: (x) => Math.log(x),
  Multiply: (x, y) => x * y,
  Neg: (x) => -x,
  RealDiv: (x, y) => x / y,
  Reshape: (x) => x,
  Sqrt: (x) => Math.sqrt(x),
  Square: (x) => x * x,
  Sub: (x, y) => x - y,
};

/** Operations on single numbers that nothing else waits for, or waits for. */
export interface ScalarNodes {
  /** Those that only depend on inputs: they come first. */
  readonly first: ReadonlySet<Node>;
  /** Those that only results depend on: they come last. */
  readonly last: ReadonlySet<Node>;
}

/** Finds the operations on single numbers that can be done beside a graph. */
export function findScalars(graph: Graph): ScalarNodes {
  const producers = producersOf(graph);
  const consumers = consumersOf(graph);
  const outputs = new Map<Value, number>();
  for (const { value } of graph.outputs) {
    outputs.set(value, (outputs.get(value) ?? 0) + 1);
  }
  const isScalar = (node: Node) =>
    Object.hasOwn(FUNCTIONS, node.op) &&
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

/**
 * Makes a program of operations on single numbers.
 *
 * @param nodes Operations, each after those that it takes from.
 * @param arrayOf Returns the array of a value's number; constants have none.
 * @param constantOf The number of a constant.
 */
export function scalarProgram(
  nodes: readonly Node[],
  { arrayOf, constantOf }: {
    arrayOf: (value: Value) => Float32Array;
    constantOf: (value: Value) => number | undefined;
  },
): () => void {
  const read = (value: Value): Float32Array => {
    const number = constantOf(value);
    return number === undefined ? arrayOf(value) : Float32Array.of(number);
  };
  const steps = nodes.map(({ op, inputs, outputs: [output] }) => {
    const compute = FUNCTIONS[op];
    const x = read(inputs[0]), y = read(inputs[1] ?? inputs[0]);
    const to = arrayOf(output);
    return () => {
      to[0] = compute(x[0], y[0]);
    };
  });
  return () => {
    for (let i = 0; i < steps.length; i++) steps[i]();
  };
}
