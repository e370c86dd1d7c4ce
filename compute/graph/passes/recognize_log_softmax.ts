import type { Graph, Node, Value } from "../graph.ts";
import { rewrite, type Rewriter } from "./rewrite.ts";

/**
 * One operation for the six that TensorFlow.js computes a logarithm of softmax
 * with: `s - log(sum(exp(s)))` where `s = x - max(x)`, over the last axis.
 */
export function recognizeLogSoftmax(graph: Graph): Graph {
  return rewrite(graph, (node, rewriter) => {
    if (node.op !== "Sub") return undefined;
    const x = logSoftmaxOf(node, rewriter);
    return x && rewriter.add("LogSoftmax", [x], { from: node });
  });
}

function logSoftmaxOf(node: Node, rewriter: Rewriter): Value | undefined {
  const [shifted, normalizer] = node.inputs;
  const log = rewriter.producerOf(normalizer, "Log");
  const sum = log && rewriter.producerOf(log.inputs[0], "Sum");
  const exp = sum && rewriter.producerOf(sum.inputs[0], "Exp");
  const sub = rewriter.producerOf(shifted, "Sub");
  if (sub === undefined || exp?.inputs[0] !== shifted) return undefined;
  const max = rewriter.producerOf(sub.inputs[1], "Max");
  if (max === undefined || max.inputs[0] !== sub.inputs[0]) return undefined;
  return overLast(sum!) && overLast(max) ? sub.inputs[0] : undefined;
}

/** Whether a reduction is over the last axis, which it keeps. */
function overLast({ inputs: [x], attributes }: Node): boolean {
  const { axis, reductionIndices, keepDims } = attributes;
  const given = [axis ?? reductionIndices].flat();
  const last = x.shape.length - 1;
  return keepDims === true && given.length === 1 &&
    (given[0] === last || given[0] === -1);
}
