import type { Graph, Node, Value } from "../graph.ts";
import { rewrite, type Rewriter } from "./rewrite.ts";

/**
 * Multiplies the numbers that a tensor is scaled by with each other first: an
 * optimizer scales by a clipping factor and by a learning rate, and a vector of
 * all parameters is gone through once instead of twice.
 */
export function collectFactors(graph: Graph): Graph {
  const squares = new Map<Value, Value>();
  return rewrite(graph, (node, rewriter) => {
    switch (node.op) {
      case "Multiply":
        return scaledTwice(node, rewriter) ?? scaledQuotient(node, rewriter);
      case "Square": {
        const made = scaledSquare(node, { rewriter, squares });
        if (made === undefined) squares.set(node.inputs[0], node.outputs[0]);
        return made;
      }
      default:
        return undefined;
    }
  });
}

const isNumber = ({ shape }: Value) => shape.length === 0;
const isConstant = (value: Value, rewriter: Rewriter) =>
  rewriter.constantOf(value) !== undefined;

/** A tensor that a number scales, and the number. */
function scaling(value: Value, rewriter: Rewriter): [Value, Value] | undefined {
  const node = rewriter.producerOf(value, "Multiply");
  if (node === undefined || isNumber(value)) return undefined;
  const [x, factor] = node.inputs;
  if (isNumber(factor) && !isNumber(x)) return [x, factor];
  return isNumber(x) && !isNumber(factor) ? [factor, x] : undefined;
}

/** `(x a) b` is `x (a b)`. */
function scaledTwice(node: Node, rewriter: Rewriter): Value | undefined {
  for (const side of [0, 1] as const) {
    const factor = node.inputs[1 - side];
    const scaled = scaling(node.inputs[side], rewriter);
    if (scaled === undefined || !isNumber(factor)) continue;
    const [x, first] = scaled;
    // Constants are for `simplify`, which looks at what their product is.
    if (isConstant(first, rewriter) && isConstant(factor, rewriter)) continue;
    const both = rewriter.add("Multiply", [first, factor], { from: node });
    return rewriter.add("Multiply", [x, both], { from: node });
  }
  return undefined;
}

/** `(x a) (b / y)` is `(x (a b)) / y`. */
function scaledQuotient(node: Node, rewriter: Rewriter): Value | undefined {
  for (const side of [0, 1] as const) {
    const quotient = rewriter.producerOf(node.inputs[1 - side], "RealDiv");
    const scaled = scaling(node.inputs[side], rewriter);
    if (quotient === undefined || scaled === undefined) continue;
    const [numerator, divisor] = quotient.inputs;
    if (!isNumber(numerator) || isNumber(divisor)) continue;
    const [x, factor] = scaled;
    const both = rewriter.add("Multiply", [factor, numerator], { from: node });
    const product = rewriter.add("Multiply", [x, both], { from: node });
    return rewriter.add("RealDiv", [product, divisor], { from: node });
  }
  return undefined;
}

/** `(x a)^2` is `x^2 a^2`, where `x^2` is needed anyway. */
function scaledSquare(
  node: Node,
  { rewriter, squares }: { rewriter: Rewriter; squares: Map<Value, Value> },
): Value | undefined {
  const scaled = scaling(node.inputs[0], rewriter);
  const known = scaled && squares.get(scaled[0]);
  if (scaled === undefined || known === undefined) return undefined;
  const factor = rewriter.add("Square", [scaled[1]], { from: node });
  return rewriter.add("Multiply", [known, factor], { from: node });
}
