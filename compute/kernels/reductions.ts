import * as tf from "@tensorflow/tfjs";
import type { DType, Value } from "../graph/graph.ts";
import { blockedSum } from "./blocked.ts";
import type {
  CompositeKernel,
  Kernels,
  Lowering,
  PrimitiveKernel,
} from "./kernel.ts";

type ReductionAttributes = {
  axis?: number | number[];
  reductionIndices?: number | number[];
  keepDims?: boolean;
};

/** Returns the axes that a reduction goes over, in order. */
function reducedAxes(
  { axis, reductionIndices }: ReductionAttributes,
  rank: number,
): number[] {
  const given = axis ?? reductionIndices ?? null;
  const shape = new Array(rank).fill(1);
  return tf.util.parseAxisParam(given as number[], shape)
    .toSorted((a, b) => a - b);
}

function reducedShape(x: Value, attributes: ReductionAttributes): number[] {
  const axes = new Set(reducedAxes(attributes, x.shape.length));
  if (attributes.keepDims) {
    return x.shape.map((length, axis) => axes.has(axis) ? 1 : length);
  }
  return x.shape.filter((_, axis) => !axes.has(axis));
}

const wide = (dtype: DType): DType => dtype === "bool" ? "int32" : dtype;

function reduce(
  lowering: Lowering<ReductionAttributes>,
  op: string,
  x = lowering.inputs[0],
): string {
  const { model, node } = lowering;
  const { attributes } = node;
  const axes = reducedAxes(attributes, node.inputs[0].shape.length);
  const inputs = [x, model.ints(axes)];
  // Without axes, ONNX would reduce over all of them.
  if (axes.length === 0) return model.op("Identity", [x]);
  return model.op(op, inputs, { keepdims: attributes.keepDims ? 1 : 0 });
}

/** Makes a reduction of numbers; ONNX has them of no booleans. */
function reduction(
  op: string,
  dtype: (of: DType) => DType = (of) => of,
): PrimitiveKernel<ReductionAttributes> {
  return {
    inputs: ["x"],
    infer: ([x], attributes) => ({
      shape: reducedShape(x, attributes),
      dtype: dtype(x.dtype),
    }),
    lower: (lowering) => {
      const { node, inputs: [x], model } = lowering;
      const to = node.outputs[0].dtype;
      const numeric = to === "bool" ? "int32" : to;
      const numbers = model.cast(x, numeric, node.inputs[0].dtype);
      return model.cast(reduce(lowering, op, numbers), to, numeric);
    },
  };
}

const SUM = reduction("ReduceSum", wide);

/**
 * Sums a matrix's rows, such as the gradient of a bias, by a product with ones:
 * ONNX Runtime's own sum takes five times as long.
 */
function sumOfRows(
  { inputs: [x], model, node }: Lowering<unknown>,
  keepDims: boolean,
): string {
  const [{ shape: [rows, columns] }] = node.inputs;
  const ones = model.tensor(new Array(rows).fill(1), {
    shape: [1, rows],
    dtype: "float32",
  });
  const sum = model.op("MatMul", [ones, x]);
  return keepDims ? sum : model.reshape(sum, [columns]);
}

/** A sum; of images in another layout, it is computed in that. */
const FAST_SUM: PrimitiveKernel<ReductionAttributes> = {
  ...SUM,
  lower: (lowering) => {
    const { attributes, inputs: [x] } = lowering.node;
    const axes = reducedAxes(attributes, x.shape.length);
    const keepDims = attributes.keepDims === true;
    const isOfRows = x.dtype === "float32" && x.shape.length === 2 &&
      axes.length === 1 && axes[0] === 0 && x.shape.every((it) => it > 1);
    if (isOfRows) return sumOfRows(lowering, keepDims);
    return blockedSum(lowering, { axes, keepDims }) ?? SUM.lower(lowering);
  },
};

/** Finds the index of the largest or smallest number, the first of equals. */
function position(op: string): PrimitiveKernel<ReductionAttributes> {
  return {
    inputs: ["x"],
    infer: ([x], attributes) => ({
      shape: reducedShape(x, attributes),
      dtype: "int32",
    }),
    lower: ({ model, inputs: [x], node }) => {
      const [{ shape, dtype }] = node.inputs;
      const [axis] = reducedAxes(node.attributes, shape.length);
      const numbers = dtype === "bool" ? model.cast(x, "int32") : x;
      const at = model.op(op, [numbers], { axis, keepdims: 0 });
      return model.cast(at, "int32");
    },
  };
}

/** Kernels that reduce axes. */
export const REDUCTIONS: Kernels = {
  Sum: FAST_SUM,
  Mean: reduction("ReduceMean", () => "float32"),
  Max: reduction("ReduceMax"),
  Min: reduction("ReduceMin"),
  Prod: reduction("ReduceProd", wide),
  All: reduction("ReduceMin", () => "bool"),
  // Not the largest: of nothing, that is the least number there is.
  Any: reduction("ReduceSum", () => "bool"),
  ArgMax: position("ArgMax"),
  ArgMin: position("ArgMin"),
};

function alongLast(op: string): PrimitiveKernel {
  return {
    inputs: ["logits"],
    infer: ([x]) => x,
    lower: ({ model, inputs }) => model.op(op, inputs, { axis: -1 }),
  };
}

const BATCH_NORM: CompositeKernel<{ varianceEpsilon: number }> = {
  inputs: ["x", "mean", "variance", "offset", "scale"],
  compose: ([x, mean, variance, offset, scale], { varianceEpsilon }) => {
    const inverse = tf.rsqrt(tf.add(variance, varianceEpsilon));
    const factor = scale ? tf.mul(inverse, scale) : inverse;
    const normal = tf.mul(tf.sub(x, mean), factor);
    return offset ? tf.add(normal, offset) : normal;
  },
};

/** Kernels that normalise. */
export const NORMALIZATION: Kernels = {
  Softmax: alongLast("Softmax"),
  LogSoftmax: alongLast("LogSoftmax"),
  FusedBatchNorm: BATCH_NORM,
};
