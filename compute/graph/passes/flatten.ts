import type { Graph, Node, Value } from "../graph.ts";
import { rewrite, type Rewriter } from "./rewrite.ts";

/** Operations of a tensor and one number. */
const OPERATIONS: ReadonlySet<string> = new Set([
  "Add",
  "Sub",
  "Multiply",
  "RealDiv",
]);

/** A part of a concatenation before a number was applied to it. */
interface Part {
  /** The operation that applied the number. */
  readonly node: Node;
  /** The part as it is concatenated. */
  readonly value: Value;
}

/**
 * Applies a number to a concatenation instead of to each of its parts: what an
 * optimizer does to many parameters becomes one operation on a flat vector.
 */
export function hoistFromConcat(graph: Graph): Graph {
  return rewrite(graph, (node, rewriter) => {
    if (node.op !== "Concat" || node.inputs.length < 2) return undefined;
    const parts = node.inputs.map((value) => partOf(value, rewriter));
    const [first] = parts;
    if (first === undefined) return undefined;
    const { op, inputs: [, number] } = first.node;
    // What others take too would have to be computed all the same.
    const alike = parts.every((part) =>
      part?.node.op === op && part.node.inputs[1] === number &&
      rewriter.isUsedOnce(part.value) &&
      rewriter.isUsedOnce(part.node.outputs[0])
    );
    if (!alike) return undefined;
    const before = parts.map((part) => unapplied(part!, rewriter));
    const { attributes } = node;
    const joined = rewriter.add("Concat", before, { attributes, from: node });
    return rewriter.add(op, [joined, number], { from: first.node });
  });
}

/** Looks through a reshape for an operation of a tensor and one number. */
function partOf(value: Value, rewriter: Rewriter): Part | undefined {
  const node = rewriter.producer(rewriter.beforeReshape(value));
  if (node === undefined || !OPERATIONS.has(node.op)) return undefined;
  return node.inputs[1].shape.length === 0 ? { node, value } : undefined;
}

/** Returns the part without the number, in the shape of the part. */
function unapplied({ node, value }: Part, rewriter: Rewriter): Value {
  if (value === node.outputs[0]) return node.inputs[0];
  const attributes = { shape: value.shape };
  return rewriter.add("Reshape", [node.inputs[0]], { attributes, from: node });
}

/**
 * Takes a vector in place of one that is joined from all its parts again, as
 * between two functions of flat parameters.
 */
export function joinSplits(graph: Graph): Graph {
  return rewrite(graph, (node, rewriter) => {
    if (node.op !== "Concat" || node.outputs[0].shape.length !== 1) {
      return undefined;
    }
    const parts = node.inputs.map((value) => rewriter.beforeReshape(value));
    const split = rewriter.producerOf(parts[0], "Split");
    if (split?.inputs[0].shape.length !== 1) return undefined;
    const whole = split.outputs.length === parts.length &&
      split.outputs.every((output, i) => output === parts[i]);
    return whole ? split.inputs[0] : undefined;
  });
}
