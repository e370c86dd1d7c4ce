import * as tf from "@tensorflow/tfjs";
import type { Value } from "../graph/graph.ts";
import type { CompositeKernel, Kernels, PrimitiveKernel } from "./kernel.ts";

const REVERSE: CompositeKernel<{ dims: number[] }> = {
  inputs: ["x"],
  expand: (record, [x], { dims }) => {
    const axes = tf.util.parseAxisParam(dims, [...x!.shape]);
    if (axes.length === 0) return record("Identity", [x!]);
    return record("Strided", [x!], {
      begin: axes.map((axis) => x!.shape[axis] - 1),
      end: axes.map(() => BEFORE_START),
      strides: axes.map(() => -1),
      axes,
      shape: x!.shape,
    });
  },
};

/** ONNX counts an end of -1 from the end: before the start lies far below. */
const BEFORE_START = -(2 ** 31);

/** ONNX's Slice: begins, ends and steps of some axes. */
const STRIDED: PrimitiveKernel<
  Record<"begin" | "end" | "strides" | "axes" | "shape", number[]>
> = {
  inputs: ["x"],
  infer: ([{ dtype }], { shape }) => ({ shape, dtype }),
  lower: ({ model, inputs: [x], node }) => {
    const { begin, end, strides, axes } = node.attributes;
    const settings = [begin, end, axes, strides].map((it) => model.ints(it));
    return model.op("Slice", [x, ...settings]);
  },
};

const SLICE: CompositeKernel<{ begin: number; size: number }> = {
  inputs: ["x"],
  expand: (record, [x], { begin, size }) => {
    const [from, lengths] = tf.slice_util.parseSliceParams(
      { shape: [...x!.shape] } as tf.Tensor,
      begin,
      size,
    );
    return record("Strided", [x!], stridedOf(x!, from, lengths));
  },
};

/** Returns the axes that a slice with steps of 1 makes shorter. */
function stridedOf(x: Value, from: number[], lengths: number[]) {
  const axes = x.shape.map((_, axis) => axis)
    .filter((axis) => lengths[axis] !== x.shape[axis]);
  return {
    begin: axes.map((axis) => from[axis]),
    end: axes.map((axis) => from[axis] + lengths[axis]),
    strides: axes.map(() => 1),
    axes,
    shape: lengths,
  };
}

const STRIDED_SLICE: CompositeKernel<
  & Record<"begin" | "end" | "strides", number[]>
  & { [mask in `${string}Mask`]: number }
> = {
  inputs: ["x"],
  expand: (record, [x], it) => {
    const info = tf.slice_util.sliceInfo(
      [...x!.shape],
      it.begin,
      it.end,
      it.strides,
      it.beginMask,
      it.endMask,
      it.ellipsisMask,
      it.newAxisMask,
      it.shrinkAxisMask,
    );
    const { begin, end, strides } = info;
    const taken = record("Strided", [x!], {
      begin,
      end: end.map((at, axis) =>
        strides[axis] < 0 && at < 0 ? BEFORE_START : at
      ),
      strides,
      axes: begin.map((_, axis) => axis),
      shape: begin.map((from, axis) =>
        Math.max(0, Math.ceil((end[axis] - from) / strides[axis]))
      ),
    });
    return record("Reshape", taken, { shape: info.finalShape });
  },
};

const FLIP: CompositeKernel = {
  inputs: ["image"],
  expand: (record, [image]) => record("Reverse", [image!], { dims: [2] }),
};

/** Kernels that take a part of a tensor, or turn it round. */
export const SLICING: Kernels = {
  Reverse: REVERSE,
  FlipLeftRight: FLIP,
  Strided: STRIDED,
  Slice: SLICE,
  StridedSlice: STRIDED_SLICE,
};
