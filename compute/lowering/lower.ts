import {
  CONSTANT,
  type ConstantData,
  GATHER_ROWS,
  gatherRowsOf,
  type Graph,
  neededNodes,
  type Node,
  sizeOf,
  type Value,
} from "../graph/graph.ts";
import { primitive } from "../kernels/mod.ts";
import {
  ModelBuilder,
  type ModelOptions,
  type OnnxModel,
  type OnnxNode,
} from "../onnx/model_builder.ts";

/** A model, and the names that values have in it. */
interface Target {
  readonly model: ModelBuilder;
  readonly names: Map<Value, string>;
}

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
  const names = new Map(graph.inputs.map(({ name, value }) => [value, name]));
  for (const node of graph.nodes) lowerNode(node, { model, names });
  const outputs = makeOutputs(graph, { model, names })
    .map((it, i) => ({ ...it, name: outputNames[i] }));
  const renamed = new Map(outputs.map(({ made, name }) => [made, name]));
  // A form of a tensor may be made in vain.
  const nodes = neededNodes(model.nodes, renamed.keys());
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
  { model, names }: Target,
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

function typeOf({ shape, dtype }: Value) {
  return { shape, dtype };
}

/** Adds an operation to a model, and names its outputs. */
function lowerNode(node: Node, target: Target): void {
  const made = [loweringOf(node, target)].flat();
  node.outputs.forEach((output, i) => target.names.set(output, made[i]));
}

function loweringOf(node: Node, target: Target): string | readonly string[] {
  const { model, names } = target;
  if (node.op === CONSTANT) return lowerConstant(node, model);
  if (node.op === GATHER_ROWS) return lowerGatherRows(node, target);
  const inputs = node.inputs.map((it) => names.get(it)!);
  return primitive(node.op).lower({ node, inputs, model });
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

/**
 * Lowers operations on some rows: those rows are taken out of what has rows,
 * run through the chain, and put into zeros. Their number is known when the
 * model is run.
 */
function lowerGatherRows(node: Node, { model, names }: Target): string {
  const { chain, byRow } = gatherRowsOf(node);
  const [mask, ...taken] = node.inputs;
  const flags = mask.shape.length === 1
    ? names.get(mask)!
    : model.reshape(names.get(mask)!, [sizeOf(mask.shape)]);
  const places = model.op("NonZero", [flags]);
  const rows = model.reshape(places, [-1]);
  const inner = new Map(taken.map((value) => [value, names.get(value)!]));
  for (const value of new Set(byRow)) {
    const gathered = model.op("Gather", [inner.get(value)!, rows], { axis: 0 });
    inner.set(value, gathered);
  }
  for (const it of chain) lowerNode(it, { model, names: inner });
  const [output] = node.outputs;
  const zeros = model.op("Expand", [model.scalar(0), model.ints(output.shape)]);
  const at = model.reshape(places, [-1, 1]);
  return model.op("ScatterND", [zeros, at, inner.get(output)!]);
}

/** Replaces names of a node. */
function rename(node: OnnxNode, names: ReadonlyMap<string, string>): OnnxNode {
  const renamed = (list: readonly string[]) =>
    list.map((name) => names.get(name) ?? name);
  const { inputs, outputs } = node;
  return { ...node, inputs: renamed(inputs), outputs: renamed(outputs) };
}
