import { inferOutputs } from "../../kernels/mod.ts";
import {
  type Attributes,
  beforeReshape,
  CONSTANT,
  type ConstantData,
  countUses,
  type Graph,
  makeGraph,
  neededNodes,
  type Node,
  type TensorType,
  type Value,
} from "../graph.ts";

/** The new graph as far as it is made; rules look into it and add to it. */
export class Rewriter {
  readonly nodes: Node[] = [];
  readonly #producers = new Map<Value, Node>();
  readonly #uses: Map<Value, number>;

  /** @param graph The graph that is rewritten. */
  constructor(graph: Graph) {
    this.#uses = countUses(graph);
  }

  /** True where one operation alone takes a value. */
  isUsedOnce(value: Value): boolean {
    return (this.#uses.get(value) ?? 1) === 1;
  }

  /** Counts the uses of a value for the one that takes its place. */
  replace(value: Value, by: Value): void {
    const uses = (it: Value) => this.#uses.get(it) ?? 0;
    this.#uses.set(by, uses(by) + uses(value));
  }

  /** Finds the operation that makes a value; inputs have none. */
  producer(value: Value): Node | undefined {
    return this.#producers.get(value);
  }

  /** Finds the operation that makes a value, if it is of that kind. */
  producerOf(value: Value, op: string): Node | undefined {
    const node = this.#producers.get(value);
    return node?.op === op ? node : undefined;
  }

  /** Returns a value before a reshape, if it is reshaped. */
  beforeReshape(value: Value): Value {
    return beforeReshape(value, this.#producers);
  }

  /** Returns the numbers of a value that is a constant. */
  constantOf(value: Value): ConstantData | undefined {
    return this.producerOf(value, CONSTANT)?.attributes as
      | ConstantData
      | undefined;
  }

  /** Returns the one number of a constant that is the same everywhere. */
  fillOf(value: Value): number | undefined {
    const data = this.constantOf(value);
    if (data === undefined) return undefined;
    if (data.fill !== undefined) return data.fill;
    const [first] = data.values;
    return data.values.length > 0 &&
        data.values.every((it) => Object.is(it, first))
      ? first
      : undefined;
  }

  /** Keeps an operation. */
  push(node: Node): readonly Value[] {
    this.nodes.push(node);
    for (const output of node.outputs) this.#producers.set(output, node);
    return node.outputs;
  }

  /** Adds an operation that replaces another. */
  add(
    op: string,
    inputs: readonly Value[],
    { attributes = {}, from }: { attributes?: Attributes; from?: Node } = {},
  ): Value {
    const outputs = inferOutputs(op, inputs, attributes);
    const { source } = from ?? {};
    return this.push({ op, inputs, attributes, outputs, source })[0];
  }

  /** Adds a constant. */
  constant(data: ConstantData, { shape, dtype }: TensorType): Value {
    return this.push({
      op: CONSTANT,
      inputs: [],
      attributes: { ...data },
      outputs: [{ shape, dtype }],
    })[0];
  }
}

/**
 * Replaces an operation by other values, one for each output, or returns
 * nothing to keep it.
 */
type Rule = (
  node: Node,
  rewriter: Rewriter,
) => Value | readonly Value[] | undefined;

/** Applies a rule to the operations of a graph, from first to last. */
export function rewrite(graph: Graph, rule: Rule): Graph {
  const rewriter = new Rewriter(graph);
  const replaced = new Map<Value, Value>();
  const now = (value: Value) => replaced.get(value) ?? value;
  for (const node of graph.nodes) {
    const inputs = node.inputs.map(now);
    const same = inputs.every((it, i) => it === node.inputs[i]);
    const current = same ? node : { ...node, inputs };
    const made = rule(current, rewriter);
    const values = made === undefined
      ? rewriter.push(current)
      : Array.isArray(made)
      ? made
      : [made as Value];
    node.outputs.forEach((output, i) => {
      if (output === values[i]) return;
      replaced.set(output, values[i]);
      rewriter.replace(output, values[i]);
    });
  }
  return makeGraph({
    inputs: graph.inputs,
    nodes: rewriter.nodes,
    outputs: graph.outputs
      .map(({ name, value }) => ({ name, value: now(value) })),
  });
}

/** Returns the two inputs of an operation in both orders. */
export function bothWays({ inputs: [a, b] }: Node): [Value, Value][] {
  return [[a, b], [b, a]];
}

/** Drops operations that no output depends on. */
export function eliminateDeadCode(
  { inputs, nodes, outputs }: Omit<Graph, "toString">,
): Graph {
  const results = outputs.map(({ value }) => value);
  return makeGraph({ inputs, nodes: neededNodes(nodes, results), outputs });
}
