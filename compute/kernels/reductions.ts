import * as tf from "@tensorflow/tfjs";
import type { Attributes, DType, Value } from "../graph/graph.ts";
import type { Kernels, Lowering, PrimitiveKernel } from "./kernel.ts";

/** The axes that a reduction goes over, from its attributes. */
export function reducedAxes(attributes: Attributes, rank: number): number[] {
  const { axis, reductionIndices } = attributes as {
    axis?: number | number[];
    reductionIndices?: number | number[];
  };
  const given = axis ?? reductionIndices ?? null;
  const shape = new Array(rank).fill(1);
  return tf.util.parseAxisParam(given as number[], shape)
    .toSorted((a, b) => a - b);
}

function reducedShape(x: Value, attributes: Attributes): number[] {
  const axes = new Set(reducedAxes(attributes, x.shape.length));
  if (attributes.keepDims) {
    return x.shape.map((length, axis) => axes.has(axis) ? 1 : length);
  }
  return x.shape.filter((_, axis) => !axes.has(axis));
}

function reduce(
  lowering: Lowering,
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

function reduction(
  op: string,
  dtype: (of: DType) => DType = (of) => of,
): PrimitiveKernel {
  return {
    inputs: ["x"],
    infer: ([x], attributes) => ({
      shape: reducedShape(x, attributes),
      dtype: dtype(x.dtype),
    }),
    lower: (lowering) => {
      const { node, inputs, model } = lowering;
      const to = node.outputs[0].dtype === "float32" ? 1 : 6;
      const same = node.inputs[0].dtype === node.outputs[0].dtype;
      const x = same ? inputs[0] : model.op("Cast", inputs, { to });
      return reduce(lowering, op, x);
    },
  };
}

/** A reduction of booleans, which ONNX computes as whole numbers. */
function quantifier(op: string): PrimitiveKernel {
  return {
    inputs: ["x"],
    infer: ([x], attributes) => ({
      shape: reducedShape(x, attributes),
      dtype: "bool",
    }),
    lower: (lowering) => {
      const { model, inputs } = lowering;
      const numbers = model.op("Cast", inputs, { to: 6 });
      return model.op("Cast", [reduce(lowering, op, numbers)], { to: 9 });
    },
  };
}

/** Where the largest or smallest number is; the first of equals. */
function position(op: string): PrimitiveKernel {
  return {
    inputs: ["x"],
    infer: ([x], attributes) => ({
      shape: reducedShape(x, attributes),
      dtype: "int32",
    }),
    lower: ({ model, inputs, node }) => {
      const [axis] = reducedAxes(node.attributes, node.inputs[0].shape.length);
      const at = model.op(op, inputs, { axis, keepdims: 0 });
      return model.op("Cast", [at], { to: 6 });
    },
  };
}

const wide = (dtype: DType): DType => dtype === "bool" ? "int32" : dtype;

/** Kernels that reduce axes. */
export const REDUCTIONS: Kernels = {
  Sum: reduction("ReduceSum", wide),
  Mean: reduction("ReduceMean", () => "float32"),
  Max: reduction("ReduceMax"),
  Min: reduction("ReduceMin"),
  Prod: reduction("ReduceProd", wide),
  All: quantifier("ReduceMin"),
  Any: quantifier("ReduceMax"),
  ArgMax: position("ArgMax"),
  ArgMin: position("ArgMin"),
};
