import * as tf from "@tensorflow/tfjs";
import { type DType, sizeOf, type Value } from "../graph/graph.ts";
import {
  type HloTensor,
  type ProgramBuilder,
  SMALL,
} from "../stablehlo/program_builder.ts";
import type {
  CompositeKernel,
  HloLowering,
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

/** Reduces numbers of a type in a StableHLO program. */
type HloReduce = (
  program: ProgramBuilder,
  x: HloTensor,
  axes: readonly number[],
) => HloTensor;

/** Takes the operation of StableHLO of that name. */
function by(op: string, from: number | Record<DType, number>): HloReduce {
  return (program, x, axes) =>
    program.reduce(op, x, {
      axes,
      from: typeof from === "number" ? from : from[x.dtype],
    });
}

const LEAST = { float32: -Infinity, int32: -(2 ** 31), bool: 0, uint8: 0 };
const MOST = { float32: Infinity, int32: 2 ** 31 - 1, bool: 1, uint8: 255 };

/** Numbers that XLA sums in one step. */
const ONE_STEP = 32;
/** Numbers of a large tensor, and columns of the matrix that it is summed as. */
const LARGE = 1024, COLUMNS = 128;

const plainSum = by("add", 0);

/**
 * Sums. On a CPU, XLA sums more than 32 numbers in several steps that use few of
 * the processor's lanes, and makes three buffers for each step in each call: a
 * product with ones is faster for the rows of a small matrix, such as the
 * gradient of a bias, and for all numbers of a large tensor, such as the norm of
 * the gradients.
 */
const sumHlo: HloReduce = (program, x, axes) => {
  const { shape, dtype } = x;
  const size = sizeOf(shape), rank = shape.length;
  const byProduct = program.isForCpu && dtype === "float32";
  if (byProduct && axes.length === rank && size >= LARGE) {
    return sumOfAll(program, x);
  }
  const isOfRows = rank === 2 && axes.length === 1 && axes[0] === 0;
  return byProduct && isOfRows && shape[0] > ONE_STEP && size <= SMALL
    ? rowSum(program, x)
    : plainSum(program, x, axes);
};

/** Sums all numbers of a tensor, as the rows of a matrix first. */
function sumOfAll(program: ProgramBuilder, x: HloTensor): HloTensor {
  const size = sizeOf(x.shape), rows = Math.ceil(size / COLUMNS);
  const places = { before: [0], after: [rows * COLUMNS - size] };
  const padded = program.pad(program.flatten(x), 0, places);
  const matrix = program.reshape(padded, [rows, COLUMNS]);
  return plainSum(program, rowSum(program, matrix), [0]);
}

/** Sums the rows of a matrix by a product with ones. */
function rowSum(program: ProgramBuilder, x: HloTensor): HloTensor {
  const ones = program.fill(1, { shape: [x.shape[0]], dtype: x.dtype });
  return program.dot(ones, x, { contract: [[0], [0]] });
}

/** Divides a sum by the count; of nothing it stays 0, as in TensorFlow.js. */
const meanHlo: HloReduce = (program, x, axes) => {
  const sum = sumHlo(program, x, axes);
  const count = axes.reduce((product, axis) => product * x.shape[axis], 1);
  return program.with("divide", sum, Math.max(count, 1));
};

/** Reduces the axes of a kernel, which may be kept with a length of 1. */
function reduceHlo(
  { program, node: { attributes, inputs, outputs } }: HloLowering<
    ReductionAttributes
  >,
  x: HloTensor,
  reduce: HloReduce,
): HloTensor {
  const axes = reducedAxes(attributes, inputs[0].shape.length);
  return program.reshape(reduce(program, x, axes), outputs[0].shape);
}

/** Makes a reduction of numbers; ONNX has them of no booleans. */
function reduction(
  { onnx: op, hlo }: { onnx: string; hlo: HloReduce },
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
    lowerHlo: (lowering) => {
      const { inputs: [x], program, node: { outputs: [{ dtype }] } } = lowering;
      return reduceHlo(lowering, program.cast(x, dtype), hlo);
    },
  };
}

const SUM = reduction({ onnx: "ReduceSum", hlo: sumHlo }, wide);

/**
 * Sums a matrix's rows, such as the gradient of a bias, by a product with ones:
 * ONNX Runtime's own sum takes five times as long, and A2C's update 8 % more time.
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

/** A sum, whose rows are summed by a product. */
const FAST_SUM: PrimitiveKernel<ReductionAttributes> = {
  ...SUM,
  lower: (lowering) => {
    const { attributes, inputs: [x] } = lowering.node;
    const axes = reducedAxes(attributes, x.shape.length);
    const keepDims = attributes.keepDims === true;
    const isOfRows = x.dtype === "float32" && x.shape.length === 2 &&
      axes.length === 1 && axes[0] === 0 && x.shape.every((it) => it > 1);
    if (isOfRows) return sumOfRows(lowering, keepDims);
    return SUM.lower(lowering);
  },
};

/** Finds the index of the largest or smallest number, the first of equals. */
function position(
  op: string,
  hlo: HloReduce,
): PrimitiveKernel<ReductionAttributes> {
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
    lowerHlo: (lowering) => {
      const { program, inputs: [given], node } = lowering;
      const [axis] = reducedAxes(node.attributes, given.shape.length);
      const x = given.dtype === "bool" ? program.cast(given, "int32") : given;
      const { shape } = x;
      const best = program.spread(hlo(program, x, [axis]), {
        shape,
        axes: shape.map((_, i) => i).filter((i) => i !== axis),
      });
      // What is no number is the best, so that there is one.
      const isBest = program.map(
        "or",
        program.compare("EQ", x, best),
        program.compare("NE", x, x),
      );
      const places = { shape, dtype: "int32" } as const;
      const at = program.select(
        isBest,
        program.iota(places, axis),
        program.fill(MOST.int32, places),
      );
      return reduceHlo(lowering, at, by("minimum", MOST.int32));
    },
  };
}

const max = { onnx: "ReduceMax", hlo: by("maximum", LEAST) };
const min = { onnx: "ReduceMin", hlo: by("minimum", MOST) };

/** Kernels that reduce axes. */
export const REDUCTIONS: Kernels = {
  Sum: FAST_SUM,
  SumOfSquares: reduction({
    onnx: "ReduceSumSquare",
    hlo: (program, x, axes) =>
      sumHlo(program, program.map("multiply", x, x), axes),
  }),
  Mean: reduction({ onnx: "ReduceMean", hlo: meanHlo }, () => "float32"),
  Max: reduction(max),
  Min: reduction(min),
  Prod: reduction({ onnx: "ReduceProd", hlo: by("multiply", 1) }, wide),
  All: reduction({ onnx: "ReduceMin", hlo: by("and", 1) }, () => "bool"),
  // Not the largest: of nothing, that is the least number there is.
  Any: reduction({ onnx: "ReduceSum", hlo: by("or", 0) }, () => "bool"),
  ArgMax: position("ArgMax", max.hlo),
  ArgMin: position("ArgMin", min.hlo),
};

/** Computes of numbers less their largest, their powers and the sum of these. */
type Normalize = (
  program: ProgramBuilder,
  parts: {
    readonly shifted: HloTensor;
    readonly powers: HloTensor;
    readonly sum: HloTensor;
    repeated(x: HloTensor): HloTensor;
  },
) => HloTensor;

function alongLast(op: string, normalize: Normalize): PrimitiveKernel {
  return {
    inputs: ["logits"],
    infer: ([x]) => x,
    lower: ({ model, inputs }) => model.op(op, inputs, { axis: -1 }),
    lowerHlo: ({ program, inputs: [x] }) => {
      const { shape } = x;
      const last = shape.length - 1;
      const axes = shape.slice(0, last).map((_, axis) => axis);
      const repeated = (it: HloTensor) => program.spread(it, { shape, axes });
      const largest = repeated(max.hlo(program, x, [last]));
      const shifted = program.map("subtract", x, largest);
      const powers = program.map("exponential", shifted);
      const sum = by("add", 0)(program, powers, [last]);
      return normalize(program, { shifted, powers, sum, repeated });
    },
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
  Softmax: alongLast(
    "Softmax",
    (program, { powers, sum, repeated }) =>
      program.map("divide", powers, repeated(sum)),
  ),
  LogSoftmax: alongLast(
    "LogSoftmax",
    (program, { shifted, sum, repeated }) =>
      program.map("subtract", shifted, repeated(program.map("log", sum))),
  ),
  FusedBatchNorm: BATCH_NORM,
};
