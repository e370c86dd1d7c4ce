import { type Graph, type Node, sizeOf, type Value } from "../graph.ts";
import { rewrite, type Rewriter } from "./rewrite.ts";

/**
 * Takes a vector in place of one that is joined from all its parts again, as
 * between two functions of flat parameters. ACER's update takes 10 to 20 % less
 * time, A2C's 3.
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

/**
 * Scales filters instead of images: those of frames in bytes, which are divided
 * by 255, are hundreds of times as large. The gradient of a filter is scaled as
 * the filter is. The Nature CNN takes 4 % less time to act on 16 frames.
 */
export function convolveBeforeScaling(graph: Graph): Graph {
  const kept = keptImages(graph);
  return rewrite(graph, (node, rewriter) => {
    const [images] = node.inputs;
    const scaling = isConvolution(node) ? rewriter.producer(images) : undefined;
    if (scaling === undefined || !isScaling(scaling)) return undefined;
    if (kept.has(images) || !isWorthwhile(node)) return undefined;
    return unscaled(node, { scaling, rewriter });
  });
}

const isConvolution = ({ op }: Node) =>
  op === "Conv2D" || op === "Conv2DBackpropFilter";

/** True where images are multiplied by a number or divided by one. */
function isScaling({ op, inputs }: Node): boolean {
  if (op !== "Multiply" && op !== "RealDiv") return false;
  const [images, factor] = inputs;
  return images.shape.length === 4 && sizeOf(factor.shape) === 1 &&
    factor.shape.length <= 1 && images.dtype === "float32";
}

/** Finds the images that something takes as they are. */
function keptImages({ nodes, outputs }: Graph): Set<Value> {
  const kept = new Set(outputs.map(({ value }) => value));
  for (const node of nodes) {
    const from = isConvolution(node) && isWorthwhile(node) ? 1 : 0;
    for (const input of node.inputs.slice(from)) kept.add(input);
  }
  return kept;
}

/** True where the images are larger than the filter. */
function isWorthwhile({ op, inputs: [images, filter], outputs }: Node) {
  const { shape } = op === "Conv2D" ? filter : outputs[0];
  return sizeOf(images.shape) > sizeOf(shape);
}

function unscaled(
  node: Node,
  { scaling, rewriter }: { scaling: Node; rewriter: Rewriter },
): Value {
  const { attributes, inputs: [, other] } = node;
  const [images, factor] = scaling.inputs;
  const scaled = (it: Value) =>
    rewriter.add(scaling.op, [it, factor], { from: scaling });
  const convolved = (it: Value) =>
    rewriter.add(node.op, [images, it], { attributes, from: node });
  return node.op === "Conv2D"
    ? convolved(scaled(other))
    : scaled(convolved(other));
}
