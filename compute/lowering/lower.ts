import {
  CONSTANT,
  type ConstantData,
  GATHER_ROWS,
  gatherRowsOf,
  type Graph,
  neededNodes,
  type Nested,
  type Node,
  sizeOf,
  SWITCH,
  type Switch,
  type Value,
  WHILE,
  type While,
} from "../graph/graph.ts";
import { primitive } from "../kernels/mod.ts";
import {
  ModelBuilder,
  type ModelOptions,
  type OnnxGraph,
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
  const operations = model.nodes
    .map((node) => ({ node, inputs: namesIn(node), outputs: node.outputs }));
  const needed = neededNodes(operations, renamed.keys());
  const nodes = needed.map(({ node }) => node);
  const used = new Set(needed.flatMap(({ inputs }) => inputs));
  return {
    inputs: graph.inputs.map(({ name, value }) => ({ name, ...value })),
    outputs: outputs.map(({ name, value }) => ({ name, ...value })),
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
 * another output gets a separate operation.
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

/** Adds an operation to a model, and names its outputs. */
function lowerNode(node: Node, target: Target): void {
  const made = [loweringOf(node, target)].flat();
  node.outputs.forEach((output, i) => target.names.set(output, made[i]));
}

function loweringOf(node: Node, target: Target): string | readonly string[] {
  const { model, names } = target;
  // ONNX Runtime 1.24 breaks off where it optimizes some operations on nothing.
  if (node.outputs.every(({ shape }) => shape.includes(0))) {
    return node.outputs.map((output) => model.tensor([], output));
  }
  if (node.op === CONSTANT) return lowerConstant(node, model);
  if (node.op === GATHER_ROWS) return lowerGatherRows(node, target);
  if (node.op === WHILE) return lowerWhile(node, target);
  if (node.op === SWITCH) return lowerSwitch(node, target);
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

/** Lowers a graph inside an operation, of some tensors. */
function lowerNested(
  { graph, captured }: Nested,
  { model, inputs, state = [] }: {
    model: ModelBuilder;
    inputs: readonly string[];
    state?: readonly string[];
  },
): string[] {
  const given = [...state, ...captured.map((i) => inputs[i])];
  const names = new Map(
    graph.inputs.map(({ value }, i) => [value, given[i]]),
  );
  for (const node of graph.nodes) lowerNode(node, { model, names });
  return graph.outputs.map(({ value }) => names.get(value)!);
}

/** Lowers a loop: the condition of the next round is computed in each. */
function lowerWhile(node: Node, { model, names }: Target): string[] {
  const { condition, body } = node.attributes as unknown as While;
  const inputs = node.inputs.map((it) => names.get(it)!);
  const count = node.outputs.length;
  const first = inputs.slice(0, count);
  const test = (state: readonly string[]) =>
    lowerNested(condition, { model, inputs, state });
  const before = test(first);
  const [round, goesOn, ...state] = [0, 1, ...first]
    .map(() => model.input());
  const { nodes, outputs } = model.nested(() => {
    const next = lowerNested(body, { model, inputs, state });
    return [...test(next), ...next];
  });
  const flag = { dtype: "bool", shape: [] } as const;
  const port = (name: string, i: number) => ({
    name,
    ...node.outputs[i],
  });
  return model.ops("Loop", ["", ...before, ...first], {
    count,
    attributes: {
      body: {
        graph: {
          nodes,
          inputs: [
            { name: round, dtype: "int64", shape: [] },
            { name: goesOn, ...flag },
            ...state.map(port),
          ],
          outputs: [
            { name: outputs[0], ...flag },
            ...outputs.slice(1).map(port),
          ],
        },
      },
    },
  });
}

/** Lowers a choice to choices of two. */
function lowerSwitch(node: Node, { model, names }: Target): string[] {
  const { branches } = node.attributes as unknown as Switch;
  const inputs = node.inputs.map((it) => names.get(it)!);
  const count = node.outputs.length;
  const from = (at: number): string[] => {
    const own = () => lowerNested(branches[at], { model, inputs });
    if (at === branches.length - 1) return own();
    const graphOf = (make: () => string[]) => {
      const { nodes, outputs } = model.nested(make);
      const ports = outputs
        .map((name, i) => ({ name, ...node.outputs[i] }));
      return { graph: { nodes, inputs: [], outputs: ports } };
    };
    const isIt = model.op("Equal", [inputs[0], model.scalar(at, "int32")]);
    return model.ops("If", [isIt], {
      count,
      attributes: {
        then_branch: graphOf(own),
        else_branch: graphOf(() => from(at + 1)),
      },
    });
  };
  return from(0);
}

/** Returns the graphs inside a node. */
function graphsIn({ attributes }: OnnxNode): OnnxGraph[] {
  return Object.values(attributes)
    .flatMap((it) => typeof it === "object" && "graph" in it ? [it.graph] : []);
}

/** Lists the names that a node takes, those of graphs inside it included. */
function namesIn(node: OnnxNode): string[] {
  const inside = graphsIn(node).flatMap(({ nodes }) => nodes.flatMap(namesIn));
  return [...node.inputs, ...inside];
}

/** Replaces names of a node. */
function rename(node: OnnxNode, names: ReadonlyMap<string, string>): OnnxNode {
  const renamed = (list: readonly string[]) =>
    list.map((name) => names.get(name) ?? name);
  const { inputs, outputs } = node;
  const inside = Object.entries(node.attributes).map(([key, it]) => {
    if (typeof it !== "object" || !("graph" in it)) return [key, it];
    const nodes = it.graph.nodes.map((node) => rename(node, names));
    return [key, { graph: { ...it.graph, nodes } }];
  });
  return {
    ...node,
    inputs: renamed(inputs),
    outputs: renamed(outputs),
    attributes: Object.fromEntries(inside),
  };
}
