import {
  type Graph,
  type Node,
  sameShape,
  sizeOf,
  type Value,
} from "../graph.ts";
import { bothWays, rewrite, type Rewriter } from "./rewrite.ts";

type Simplification = (node: Node, rewriter: Rewriter) => Value | undefined;

/**
 * Applies algebra that holds for all numbers but for the signs of 0 and NaN:
 * neutral elements, double negations, and broadcasts that the next operation
 * does by itself. No rule leaves more operations than there were, constants
 * aside. ACKTR's update takes 8 % less time, that of A2C and ACER 4 %.
 */
export function simplify(graph: Graph): Graph {
  return rewrite(graph, (node, rewriter) => {
    const rules = RULES[node.op] ?? [];
    for (const rule of rules) {
      const made = rule(node, rewriter);
      if (made !== undefined) return made;
    }
    return undefined;
  });
}

/** Operations of two inputs that broadcast them. */
const BROADCASTING = [
  "Add",
  "Sub",
  "Multiply",
  "RealDiv",
  "Maximum",
  "Minimum",
  "Pow",
  "SquaredDifference",
  "Equal",
  "NotEqual",
  "Less",
  "LessEqual",
  "Greater",
  "GreaterEqual",
] as const;

/** Takes the other operand where one is a number that changes nothing. */
function neutral(number: number, sides: readonly (0 | 1)[]): Simplification {
  return (node, rewriter) => {
    for (const side of sides) {
      if (rewriter.fillOf(node.inputs[side]) !== number) continue;
      return broadcastTo(node.inputs[1 - side], node, rewriter);
    }
    return undefined;
  };
}

/** Broadcasts a value to the shape of an operation's output. */
function broadcastTo(value: Value, node: Node, rewriter: Rewriter): Value {
  const { shape } = node.outputs[0];
  if (sameShape(value.shape, shape)) return value;
  const attributes = { shape };
  return rewriter.add("BroadcastTo", [value], { attributes, from: node });
}

/** Rewrites `0 - x` as `-x`. */
const subtractFromZero: Simplification = (node, rewriter) => {
  const [zero, x] = node.inputs;
  if (rewriter.fillOf(zero) !== 0) return undefined;
  if (!sameShape(x.shape, node.outputs[0].shape)) return undefined;
  return rewriter.add("Neg", [x], { from: node });
};

/** Rewrites `-(-x)` as `x`, and `-(x c)` as `x (-c)`. */
const negation: Simplification = (node, rewriter) => {
  const before = rewriter.producer(node.inputs[0]);
  if (before?.op === "Neg") return before.inputs[0];
  if (before?.op !== "Multiply") return undefined;
  const c = rewriter.fillOf(before.inputs[1]);
  if (c === undefined) return undefined;
  return scaled(before.inputs[0], -c, { node, rewriter });
};

/** Rewrites `(x a) b` as `x (a b)`, for numbers `a` and `b`. */
const twoFactors: Simplification = (node, rewriter) => {
  const b = rewriter.fillOf(node.inputs[1]);
  const before = rewriter.producerOf(node.inputs[0], "Multiply");
  if (b === undefined || before === undefined) return undefined;
  const a = rewriter.fillOf(before.inputs[1]);
  if (a === undefined) return undefined;
  const factor = Math.fround(a * b);
  if (!isNormal(factor)) return undefined;
  return scaled(before.inputs[0], factor, { node, rewriter });
};

/** Puts numbers second: other rules need to look in one place only. */
const numberLast: Simplification = (node, rewriter) => {
  const [a, b] = node.inputs;
  if (rewriter.fillOf(a) === undefined) return undefined;
  if (rewriter.fillOf(b) !== undefined) return undefined;
  return rewriter.add(node.op, [b, a], { from: node });
};

/** Rewrites `x / c` as `x (1 / c)` where `1 / c` is exact. */
const exactReciprocal: Simplification = (node, rewriter) => {
  const c = rewriter.fillOf(node.inputs[1]);
  if (c === undefined || !isNormal(c) || !isNormal(1 / c)) return undefined;
  if (!Number.isInteger(Math.log2(Math.abs(c)))) return undefined;
  return scaled(node.inputs[0], 1 / c, { node, rewriter });
};

/** True where float32 holds a number with all its digits. */
function isNormal(it: number): boolean {
  const size = Math.abs(it);
  return size >= 2 ** -126 && size < 2 ** 128;
}

function scaled(
  x: Value,
  factor: number,
  { node, rewriter }: { node: Node; rewriter: Rewriter },
): Value | undefined {
  const [{ shape, dtype }] = node.outputs;
  if (dtype !== "float32" || !sameShape(x.shape, shape)) return undefined;
  const by = rewriter.constant({ fill: factor }, { shape: [], dtype });
  return rewriter.add("Multiply", [x, by], { from: node });
}

/** Returns an operand as it was before it was broadcast. */
function narrower(value: Value, rewriter: Rewriter): Value | undefined {
  const node = rewriter.producer(value);
  if (node?.op === "BroadcastTo") return node.inputs[0];
  if (value.shape.length === 0) return undefined;
  const fill = rewriter.fillOf(value);
  if (fill === undefined) return undefined;
  return rewriter.constant({ fill }, { shape: [], dtype: value.dtype });
}

/** Takes operands that the operation broadcasts by itself. */
const broadcastInside: Simplification = (node, rewriter) => {
  const { shape } = node.outputs[0];
  for (const side of [0, 1] as const) {
    const other = node.inputs[1 - side];
    if (!sameShape(other.shape, shape)) continue;
    const operand = narrower(node.inputs[side], rewriter);
    if (operand === undefined || operand.shape.length > shape.length) continue;
    const inputs = node.inputs.with(side, operand);
    return rewriter.add(node.op, inputs, { from: node });
  }
  return undefined;
};

/** Takes one number that a choice broadcasts: its condition, or the last side. */
const chooseInside: Simplification = (node, rewriter) => {
  const [condition, t, e] = node.inputs;
  const filled = rewriter.fillOf(e) !== undefined && narrower(e, rewriter);
  const inputs = [
    spreadNumber(condition, rewriter) ?? condition,
    t,
    spreadNumber(e, rewriter) ?? (filled || e),
  ];
  if (inputs.every((it, i) => it === node.inputs[i])) return undefined;
  return rewriter.add(node.op, inputs, { from: node });
};

/** Returns the number that a value has in all its many places. */
function spreadNumber(value: Value, rewriter: Rewriter): Value | undefined {
  const node = rewriter.producerOf(value, "BroadcastTo");
  if (node === undefined || sizeOf(value.shape) === 1) return undefined;
  const [number] = node.inputs;
  return sizeOf(number.shape) === 1 ? unshaped(number, rewriter) : undefined;
}

/** Returns one number before it was given more or fewer axes. */
function unshaped(number: Value, rewriter: Rewriter): Value {
  const before = rewriter.beforeReshape(number);
  return before.shape.length <= number.shape.length ? before : number;
}

/** Computes once with one number in many places. */
const computeBeforeSpreading: Simplification = (node, rewriter) => {
  const { inputs } = node;
  const operands = inputs.map((input) =>
    input.shape.length === 0 ? input : spreadNumber(input, rewriter)
  );
  if (operands.some((it) => it === undefined)) return undefined;
  // A spread that others take too would stay, and one more would come.
  const spread = inputs.filter((it, i) => it !== operands[i]);
  if (!spread.some((it) => rewriter.isUsedOnce(it))) return undefined;
  const number = rewriter.add(node.op, operands as Value[], { from: node });
  return broadcastTo(number, node, rewriter);
};

/** Spreads one number in the last shape only. */
const reshapeBeforeSpreading: Simplification = (node, rewriter) => {
  const number = spreadNumber(node.inputs[0], rewriter);
  if (number === undefined) return undefined;
  if (number.shape.length > node.outputs[0].shape.length) return undefined;
  return broadcastTo(number, node, rewriter);
};

/** Spreads one number without giving it more axes before. */
const spreadAtOnce: Simplification = (node, rewriter) => {
  const [value] = node.inputs;
  if (sizeOf(value.shape) !== 1) return undefined;
  const number = unshaped(value, rewriter);
  if (number === value && node.op === "BroadcastTo") return undefined;
  return broadcastTo(number, node, rewriter);
};

const SPREADING = [computeBeforeSpreading, broadcastInside];

const RULES: Readonly<Record<string, readonly Simplification[]>> = {
  ...Object.fromEntries(BROADCASTING.map((op) => [op, SPREADING])),
  Add: [neutral(0, [0, 1]), numberLast, ...SPREADING],
  Sub: [neutral(0, [1]), subtractFromZero, ...SPREADING],
  Multiply: [neutral(1, [0, 1]), numberLast, twoFactors, ...SPREADING],
  RealDiv: [neutral(1, [1]), exactReciprocal, ...SPREADING],
  Neg: [negation, computeBeforeSpreading],
  Exp: [computeBeforeSpreading],
  Square: [computeBeforeSpreading],
  Select: [chooseInside],
  Reshape: [reshapeBeforeSpreading],
  BroadcastTo: [spreadAtOnce],
  Tile: [spreadAtOnce],
};

/**
 * Multiplies the numbers that a tensor is scaled by with each other first: an
 * optimizer scales by a clipping factor and by a learning rate, and a vector of
 * all parameters is gone through once instead of twice. ACER's update takes 9 %
 * less time, most others 0 to 1.
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

/** Returns a tensor that a number scales, and the number. */
function scaling(value: Value, rewriter: Rewriter): [Value, Value] | undefined {
  const node = rewriter.producerOf(value, "Multiply");
  if (node === undefined || isNumber(value)) return undefined;
  const [x, factor] = node.inputs;
  if (isNumber(factor) && !isNumber(x)) return [x, factor];
  return isNumber(x) && !isNumber(factor) ? [factor, x] : undefined;
}

/** Rewrites `(x a) b` as `x (a b)`. */
function scaledTwice(node: Node, rewriter: Rewriter): Value | undefined {
  for (const [tensor, factor] of bothWays(node)) {
    const scaled = scaling(tensor, rewriter);
    if (scaled === undefined || !isNumber(factor)) continue;
    const [x, first] = scaled;
    // Constants are for `simplify`, which looks at what their product is.
    if (isConstant(first, rewriter) && isConstant(factor, rewriter)) continue;
    const both = rewriter.add("Multiply", [first, factor], { from: node });
    return rewriter.add("Multiply", [x, both], { from: node });
  }
  return undefined;
}

/** Rewrites `(x a) (b / y)` as `(x (a b)) / y`. */
function scaledQuotient(node: Node, rewriter: Rewriter): Value | undefined {
  for (const [tensor, other] of bothWays(node)) {
    const quotient = rewriter.producerOf(other, "RealDiv");
    const scaled = scaling(tensor, rewriter);
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

/** Rewrites `(x a)^2` as `x^2 a^2`, where `x^2` is needed anyway. */
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
