import { type Graph, type Node, sameShape, type Value } from "../graph.ts";
import { rewrite, type Rewriter } from "./rewrite.ts";

/**
 * Drops operations that give back what they take, and joins chains of those
 * that only change shape, order or type.
 */
export function removeAliases(graph: Graph): Graph {
  return rewrite(graph, (node, rewriter) => {
    if (isAlias(node)) return node.inputs[0];
    const chain = CHAINS[node.op];
    return chain?.(node, rewriter);
  });
}

const isOne = (it: number) => it === 1;
const inOrder = (axis: number, i: number) => axis === i;

/** True where the output is the first input, number for number. */
function isAlias({ op, inputs, outputs, attributes }: Node): boolean {
  switch (op) {
    case "Identity":
      return true;
    case "Cast":
      return inputs[0].dtype === outputs[0].dtype;
    case "Reshape":
    case "BroadcastTo":
    case "Strided":
      return sameShape(inputs[0].shape, outputs[0].shape) &&
        !reverses(attributes);
    case "Transpose":
      return (attributes.perm as number[]).every(inOrder);
    case "Tile":
      return (attributes.reps as number[]).every(isOne);
    case "PadV2":
      return sameShape(inputs[0].shape, outputs[0].shape);
    case "Concat":
    case "AddN":
    case "Split":
      return inputs.length === 1 && outputs.length === 1;
    default:
      return false;
  }
}

function reverses({ strides }: Node["attributes"]): boolean {
  return Array.isArray(strides) && strides.some((it) => it < 0);
}

type Chain = (node: Node, rewriter: Rewriter) => Value | undefined;

/** Rules that join an operation with the same one before it. */
const CHAINS: Readonly<Record<string, Chain>> = {
  Reshape: (node, rewriter) => {
    const before = rewriter.producerOf(node.inputs[0], "Reshape");
    if (before === undefined) return undefined;
    const { shape } = node.outputs[0];
    if (sameShape(before.inputs[0].shape, shape)) return before.inputs[0];
    const attributes = { shape };
    return rewriter.add("Reshape", before.inputs, { attributes, from: node });
  },
  Transpose: (node, rewriter) => {
    const before = rewriter.producerOf(node.inputs[0], "Transpose");
    if (before === undefined) return undefined;
    const first = before.attributes.perm as number[];
    const perm = (node.attributes.perm as number[]).map((axis) => first[axis]);
    if (perm.every(inOrder)) return before.inputs[0];
    const attributes = { perm };
    return rewriter.add("Transpose", before.inputs, { attributes, from: node });
  },
  Cast: (node, rewriter) => {
    const before = rewriter.producerOf(node.inputs[0], "Cast");
    if (before === undefined) return undefined;
    // Only a first step that loses nothing can be left out.
    const [{ dtype }] = before.inputs;
    const lossless = dtype === "uint8" || dtype === "bool";
    if (!lossless || node.outputs[0].dtype === "bool") return undefined;
    if (before.outputs[0].dtype === "bool") return undefined;
    const { attributes } = node;
    return rewriter.add("Cast", before.inputs, { attributes, from: node });
  },
};
