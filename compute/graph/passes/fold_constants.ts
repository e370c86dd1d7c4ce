import * as tf from "@tensorflow/tfjs";
import { withBackend } from "../../backends/select_backend.ts";
import { primitive } from "../../kernels/mod.ts";
import {
  type Attributes,
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

/** Computes at once what depends on constants alone, on plain JavaScript. */
export function foldConstants(graph: Graph): Graph {
  if (!graph.nodes.some((node) => node.op === CONSTANT)) return graph;
  return withBackend("cpu", () => rewrite(graph, fold));
}

function fold(node: Node, rewriter: Rewriter): readonly Value[] | undefined {
  if (node.op === CONSTANT || node.inputs.length === 0) return undefined;
  const call = kernelCall(node);
  if (call === undefined) return undefined;
  if (!node.outputs.every(({ shape }) => sizeOf(shape) <= MAX_FOLDED)) {
    return undefined;
  }
  const data = node.inputs.map((input) => rewriter.constantOf(input));
  if (data.some((it) => it === undefined)) return undefined;
  const results = run(node, call, data as ConstantData[]);
  return node.outputs.map((output, i) =>
    rewriter.constant({ values: results[i] }, output)
  );
}

/** A kernel of TensorFlow.js, as it is called. */
interface KernelCall {
  readonly name: string;
  readonly attributes: Attributes;
}

/**
 * Returns the kernel of TensorFlow.js that an operation is, if there is one.
 */
function kernelCall({ op, attributes }: Node): KernelCall | undefined {
  switch (op) {
    case "Gather":
      return { name: "GatherV2", attributes: { ...attributes, batchDims: 0 } };
    case "Split":
      return {
        name: "SplitV",
        attributes: { ...attributes, numOrSizeSplits: attributes.sizes },
      };
    default:
      return tf.getKernel(op, "cpu") ? { name: op, attributes } : undefined;
  }
}

function run(
  node: Node,
  { name, attributes }: KernelCall,
  data: readonly ConstantData[],
): TensorData[] {
  const results: TensorData[] = [];
  tf.tidy(() => {
    const tensors = node.inputs.map((input, i) => tensorOf(input, data[i]));
    const made = tf.engine().runKernel<tf.Tensor | tf.Tensor[]>(
      name,
      namedInputs(node.op, tensors),
      { ...attributes } as tf.NamedAttrMap,
    );
    for (const it of Array.isArray(made) ? made : [made]) {
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
