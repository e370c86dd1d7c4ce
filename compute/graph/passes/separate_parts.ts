import { inferOutputs } from "../../kernels/mod.ts";
import { BINARY } from "../../kernels/binary.ts";
import { UNARY } from "../../kernels/unary.ts";
import {
  consumersOf,
  type Graph,
  type Node,
  sameShape,
  sizeOf,
  type Value,
} from "../graph.ts";
import { eliminateDeadCode, rewrite, type Rewriter } from "./rewrite.ts";

/** Least numbers of a part that has operations of its own. */
const LARGE = 1 << 14;

/** A vector whose parts are known. */
interface Parted {
  /** Length of each part. */
  readonly sizes: readonly number[];
  /** The large parts in their order, then the small ones as one vector. */
  readonly groups: readonly Value[];
}

/**
 * Computes with the large parts of a vector one by one, where it is joined of
 * parts, gone through number by number and split again, as the parameters of an
 * optimizer are. XLA then copies them neither when they are joined nor when
 * they are taken apart. What is small stays joined.
 *
 * @param graph A graph.
 */
export function separateParts(graph: Graph): Graph {
  const split = splitLater(graph);
  const parted = new Map<Value, Parted>();
  const made = rewrite(graph, (node, rewriter) => {
    const [output] = node.outputs;
    if (isJoin(node)) {
      const sizes = node.inputs.map(({ shape }) => sizeOf(shape));
      const groups = grouped(node.inputs, rewriter);
      if (groups.length > 1) parted.set(output, { sizes, groups });
      return undefined;
    }
    const parts = commonParts(node.inputs, parted);
    if (parts === undefined) return undefined;
    if (isSplit(node)) {
      return sameShape(partsOf(node), parts.sizes)
        ? members(parts, rewriter)
        : undefined;
    }
    if (!split.has(output)) return undefined;
    const groups = parts.groups.map((_, i) =>
      rewriter.add(
        node.op,
        node.inputs.map((it) => parted.get(it)?.groups[i] ?? it),
        { attributes: node.attributes, from: node },
      )
    );
    const whole = { sizes: parts.sizes, groups };
    // Nothing takes it but in rare cases: then it is left out.
    const joined = joinOf(members(whole, rewriter), rewriter);
    parted.set(joined, whole);
    return joined;
  });
  return eliminateDeadCode(made);
}

function isVector({ shape, dtype }: Value): boolean {
  return shape.length === 1 && dtype === "float32";
}

function isJoin({ op, outputs }: Node): boolean {
  return op === "Concat" && isVector(outputs[0]);
}

function isSplit({ op, inputs }: Node): boolean {
  return op === "Split" && isVector(inputs[0]);
}

/** Returns the lengths of the parts of a split. */
function partsOf({ outputs }: Node): number[] {
  return outputs.map(({ shape }) => shape[0]);
}

/** Finds vectors made number by number that are only computed with and split. */
function splitLater({ nodes, outputs }: Graph): Set<Value> {
  const consumers = consumersOf({ nodes });
  const returned = new Set(outputs.map(({ value }) => value));
  const found = new Set<Value>();
  for (const { op, outputs: [output] } of nodes.toReversed()) {
    const isMap = op in UNARY || op in BINARY;
    if (!isMap || !isVector(output) || returned.has(output)) continue;
    const takers = consumers.get(output) ?? [];
    const fits = takers.every((it) => isSplit(it) || found.has(it.outputs[0]));
    if (fits) found.add(output);
  }
  return found;
}

/** Returns the parts that all vectors among some inputs have in common. */
function commonParts(
  inputs: readonly Value[],
  parted: ReadonlyMap<Value, Parted>,
): Parted | undefined {
  const vectors = inputs.filter(({ shape }) =>
    shape.length > 1 || sizeOf(shape) !== 1
  );
  const [first, ...others] = vectors.map((it) => parted.get(it));
  const isCommon = first !== undefined &&
    others.every((it) => it && sameShape(it.sizes, first.sizes));
  return isCommon ? first : undefined;
}

/** Returns the large parts and, as one, the small ones. */
function grouped(parts: readonly Value[], rewriter: Rewriter): Value[] {
  const isLarge = ({ shape }: Value) => shape[0] >= LARGE;
  const small = parts.filter((it) => !isLarge(it));
  const large = parts.filter(isLarge);
  return small.length === 0 ? large : [...large, joinOf(small, rewriter)];
}

/** Returns the parts of a vector in their order. */
function members(
  { sizes, groups }: Parted,
  rewriter: Rewriter,
): readonly Value[] {
  const small = sizes.filter((it) => it < LARGE);
  const rest = small.length < 2
    ? groups.slice(-1)
    : splitOf(groups.at(-1)!, small, rewriter);
  let taken = 0, takenSmall = 0;
  return sizes.map((it) => it < LARGE ? rest[takenSmall++] : groups[taken++]);
}

function joinOf(parts: readonly Value[], rewriter: Rewriter): Value {
  if (parts.length === 1) return parts[0];
  return rewriter.add("Concat", parts, { attributes: { axis: 0 } });
}

function splitOf(
  x: Value,
  sizes: readonly number[],
  rewriter: Rewriter,
): readonly Value[] {
  const attributes = { axis: 0, sizes };
  const outputs = inferOutputs("Split", [x], attributes);
  return rewriter.push({ op: "Split", inputs: [x], attributes, outputs });
}
