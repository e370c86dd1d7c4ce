import { GATHER_ROWS, gatherRowsOf } from "../graph/gather_rows.ts";
import {
  CONSTANT,
  type ConstantData,
  type Graph,
  type Node,
  sizeOf,
  type Value,
} from "../graph/graph.ts";
import { primitive } from "../kernels/mod.ts";
import { ModelBuilder, type ModelOptions } from "../onnx/model_builder.ts";
import type { OnnxModel, OnnxNode } from "../onnx/protobuf.ts";

/** Constants of one number are written out up to this size. */
const MAX_WRITTEN = 1 << 12;

/**
 * Lowers a graph to an ONNX model whose inputs and outputs have the graph's
 * names.
 *
 * @param graph The graph.
 * @param options The machine that the model is for, if not any.
 */
export function lowerGraph(
  graph: Graph,
  options: Pick<ModelOptions, "blockSize"> = {},
): OnnxModel {
  const outputNames = freeNames(graph);
  const inputNames = graph.inputs.map(({ name }) => name);
  const taken = new Set([...inputNames, ...outputNames]);
  const model = new ModelBuilder({ ...options, taken });
  const names = new Map<Value, string>();
  for (const { name, value } of graph.inputs) names.set(value, name);
  for (const node of graph.nodes) {
    const made = lowerNode(node, { model, names });
    node.outputs.forEach((output, i) => names.set(output, made[i]));
  }
  const outputs = makeOutputs(graph, { model, names })
    .map((it, i) => ({ ...it, name: outputNames[i] }));
  const renamed = new Map(outputs.map(({ made, name }) => [made, name]));
  const nodes = withoutUnused(model.nodes, new Set(renamed.keys()));
  const used = new Set(nodes.flatMap(({ inputs }) => inputs));
  return {
    inputs: graph.inputs.map(({ name, value }) => ({ name, ...typeOf(value) })),
    outputs: outputs.map(({ name, value }) => ({ name, ...typeOf(value) })),
    nodes: nodes.map((node) => rename(node, renamed)),
    initializers: model.initializers.filter(({ name }) => used.has(name)),
  };
}

/** Names the outputs in the model: a name that an input has gets a mark. */
function freeNames(graph: Graph): string[] {
  const inputs = new Set(graph.inputs.map(({ name }) => name));
  const taken = new Set([...inputs, ...graph.outputs.map(({ name }) => name)]);
  return graph.outputs.map(({ name }) => {
    if (!inputs.has(name)) return name;
    let marked = name;
    while (taken.has(marked)) marked += "'";
    taken.add(marked);
    return marked;
  });
}

/**
 * Names what makes each output. An output that is an input, a constant or
 * another output gets an operation of its own.
 */
function makeOutputs(
  graph: Graph,
  { model, names }: { model: ModelBuilder; names: Map<Value, string> },
): { made: string; value: Value }[] {
  const taken = new Set(graph.inputs.map(({ name }) => name));
  for (const { name } of model.initializers) taken.add(name);
  return graph.outputs.map(({ value }) => {
    const direct = names.get(value)!;
    const made = taken.has(direct) ? model.op("Identity", [direct]) : direct;
    taken.add(made);
    return { made, value };
  });
}

/** Drops operations that nothing depends on: a form may be made in vain. */
function withoutUnused(
  nodes: readonly OnnxNode[],
  needed: Set<string>,
): OnnxNode[] {
  return nodes.toReversed().filter(({ inputs, outputs }) => {
    if (!outputs.some((output) => needed.has(output))) return false;
    for (const input of inputs) needed.add(input);
    return true;
  }).reverse();
}

function typeOf({ shape, dtype }: Value) {
  return { shape, dtype };
}

function lowerNode(
  node: Node,
  { model, names }: { model: ModelBuilder; names: Map<Value, string> },
): readonly string[] {
  if (node.op === CONSTANT) {
    return [lowerConstant(node, model)];
  }
  if (node.op === GATHER_ROWS) {
    return [lowerGatherRows(node, {
      model,
      names,
      lowerNode: (it, names) => lowerNode(it, { model, names }),
    })];
  }
  const inputs = node.inputs.map((it) => names.get(it)!);
  const made = primitive(node.op).lower({ node, inputs, model });
  return typeof made === "string" ? [made] : made;
}

function lowerConstant(node: Node, model: ModelBuilder): string {
  const [{ shape, dtype }] = node.outputs;
  const data = node.attributes as ConstantData;
  if (data.values !== undefined) {
    return model.tensor(data.values, { shape, dtype });
  }
  const size = sizeOf(shape);
  if (size <= MAX_WRITTEN) {
    return model.tensor(new Array(size).fill(data.fill), { shape, dtype });
  }
  const scalar = model.scalar(data.fill, dtype);
  return model.op("Expand", [scalar, model.ints(shape)]);
}

/** Replaces names of a node. */
function rename(node: OnnxNode, names: ReadonlyMap<string, string>): OnnxNode {
  const renamed = (list: readonly string[]) =>
    list.map((name) => names.get(name) ?? name);
  return {
    ...node,
    inputs: renamed(node.inputs),
    outputs: renamed(node.outputs),
  };
}

/** The names that values have in a model. */
type Names = ReadonlyMap<Value, string>;

/**
 * Lowers operations on some rows: those rows are taken out of what has rows,
 * run through the chain, and put into zeros. Their number is known when the
 * model is run.
 */
function lowerGatherRows(
  node: Node,
  { model, names, lowerNode }: {
    model: ModelBuilder;
    names: Names;
    /** Adds an operation of the chain. */
    lowerNode(node: Node, names: Map<Value, string>): readonly string[];
  },
): string {
  const { chain, byRow } = gatherRowsOf(node);
  const [mask, ...taken] = node.inputs;
  const reshaped = (name: string, shape: readonly number[]) =>
    model.op("Reshape", [name, model.ints(shape)]);
  const flags = mask.shape.length === 1
    ? names.get(mask)!
    : reshaped(names.get(mask)!, [sizeOf(mask.shape)]);
  const places = model.op("NonZero", [flags]);
  const rows = reshaped(places, [-1]);
  const inner = new Map(taken.map((value) => [value, names.get(value)!]));
  for (const value of new Set(byRow)) {
    const gathered = model.op("Gather", [inner.get(value)!, rows], { axis: 0 });
    inner.set(value, gathered);
  }
  for (const it of chain) {
    lowerNode(it, inner).forEach((name, i) => inner.set(it.outputs[i], name));
  }
  const [output] = node.outputs;
  const zeros = model.op("Expand", [model.scalar(0), model.ints(output.shape)]);
  return model.op("ScatterND", [
    zeros,
    reshaped(places, [-1, 1]),
    inner.get(output)!,
  ]);
}
