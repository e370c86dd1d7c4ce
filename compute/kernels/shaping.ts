import * as tf from "@tensorflow/tfjs";
import { sizeOf } from "../graph/graph.ts";
import {
  type CompositeKernel,
  type Kernels,
  type PrimitiveKernel,
  run,
} from "./kernel.ts";

const RESHAPE: PrimitiveKernel<{ shape: number[] }> = {
  inputs: ["x"],
  infer: ([x], { shape }) => ({
    // A length of -1 is worked out from the others.
    shape: tf.util.inferFromImplicitShape([...shape], sizeOf(x.shape)),
    dtype: x.dtype,
  }),
  lower: ({ model, inputs: [x], node }) =>
    model.reshape(x, node.outputs[0].shape),
  lowerHlo: ({ program, inputs: [x], node }) =>
    program.reshape(x, node.outputs[0].shape),
};

const EXPAND_DIMS: CompositeKernel<{ dim: number }> = {
  inputs: ["input"],
  compose: ([input], { dim }) => {
    const axis = dim < 0 ? input.rank + dim + 1 : dim;
    return tf.reshape(input, input.shape.toSpliced(axis, 0, 1));
  },
};

const TRANSPOSE: PrimitiveKernel<{ perm: number[] }> = {
  inputs: ["x"],
  infer: ([x], { perm }) => ({
    shape: perm.map((axis) => x.shape[axis]),
    dtype: x.dtype,
  }),
  lower: ({ model, inputs: [x], node }) =>
    model.transpose(x, node.attributes.perm),
  lowerHlo: ({ program, inputs: [x], node }) =>
    program.transpose(x, node.attributes.perm),
};

const TILE: PrimitiveKernel<{ reps: number[] }> = {
  inputs: ["x"],
  infer: ([x], { reps }) => ({
    shape: x.shape.map((length, axis) => length * reps[axis]),
    dtype: x.dtype,
  }),
  lower: ({ model, inputs: [x], node }) =>
    model.op("Tile", [x, model.ints(node.attributes.reps)]),
  lowerHlo: ({ program, inputs: [x], node }) => {
    const { attributes: { reps }, outputs: [{ shape }] } = node;
    const apart = program.spread(x, {
      shape: x.shape.flatMap((length, axis) => [reps[axis], length]),
      axes: x.shape.map((_, axis) => 2 * axis + 1),
    });
    return program.reshape(apart, shape);
  },
};

const BROADCAST_TO: PrimitiveKernel<{ shape: number[] }> = {
  inputs: ["x"],
  infer: ([{ dtype }], { shape }) => ({ shape, dtype }),
  lower: ({ model, inputs, node }) =>
    model.op("Expand", [...inputs, model.ints(node.outputs[0].shape)]),
  lowerHlo: ({ program, inputs: [x], node }) =>
    program.broadcast(x, node.outputs[0].shape),
};

const CONCAT: PrimitiveKernel<{ axis: number }> = {
  inputs: "list",
  infer: (inputs, attributes) => {
    const [{ shape, dtype }] = inputs;
    const [axis] = tf.util.parseAxisParam(attributes.axis, [...shape]);
    const shapes = inputs.map(({ shape }) => [...shape]);
    tf.backend_util.assertParamsConsistent(shapes, axis);
    const length = inputs.reduce((sum, it) => sum + it.shape[axis], 0);
    return { shape: shape.with(axis, length), dtype };
  },
  lower: ({ model, inputs, node }) => {
    const { axis } = node.attributes;
    const [{ dtype }] = node.outputs;
    // The first one's type is that of the others.
    const parts = inputs
      .map((it, i) => model.cast(it, dtype, node.inputs[i].dtype));
    return model.op("Concat", parts, { axis });
  },
  lowerHlo: ({ program, inputs, node }) => {
    const { attributes, outputs: [{ shape, dtype }] } = node;
    const [axis] = tf.util.parseAxisParam(attributes.axis, [...shape]);
    return program.concat(inputs.map((it) => program.cast(it, dtype)), axis);
  },
};

const PACK: CompositeKernel<{ axis: number }> = {
  inputs: "list",
  compose: (inputs, { axis }) => {
    const dim = axis < 0 ? inputs[0].rank + axis + 1 : axis;
    const parts = inputs.map((it) =>
      tf.reshape(it, it.shape.toSpliced(dim, 0, 1))
    );
    return tf.concat(parts, dim);
  },
};

const SPLIT: PrimitiveKernel<{ axis: number; sizes: number[] }> = {
  inputs: ["x"],
  infer: ([{ shape, dtype }], { axis, sizes }) =>
    sizes.map((size) => ({ shape: shape.with(axis, size), dtype })),
  lower: ({ model, inputs, node }) => {
    const { axis, sizes } = node.attributes;
    return model.ops("Split", [...inputs, model.ints(sizes)], {
      attributes: { axis },
      count: sizes.length,
    });
  },
  lowerHlo: ({ program, inputs: [x], node }) => {
    const { axis, sizes } = node.attributes;
    let to = 0;
    return sizes.map((size) =>
      program.range(x, { axis, from: to, to: to += size })
    );
  },
};

function split(x: tf.Tensor, axis: number, sizes: number[]): tf.Tensor[] {
  return run("Split", { x }, { axis, sizes }) as unknown as tf.Tensor[];
}

const SPLIT_V: CompositeKernel<{ axis: number; numOrSizeSplits: number[] }> = {
  inputs: ["x"],
  compose: ([x], { axis: given, numOrSizeSplits }) => {
    const [axis] = tf.util.parseAxisParam(given, x.shape);
    return split(
      x,
      axis,
      tf.backend_util.prepareSplitSize(x, numOrSizeSplits, axis),
    );
  },
};

const UNPACK: CompositeKernel<{ axis: number }> = {
  inputs: ["value"],
  compose: ([value], { axis: given }) => {
    const { shape } = value;
    const axis = given < 0 ? given + shape.length : given;
    return split(value, axis, new Array(shape[axis]).fill(1))
      .map((part) => tf.reshape(part, shape.toSpliced(axis, 1)));
  },
};

type Padding = [before: number, after: number];

const PAD: PrimitiveKernel<{ paddings: Padding[]; constantValue: number }> = {
  inputs: ["x"],
  infer: ([{ shape, dtype }], { paddings }) => ({
    shape: shape.map((length, axis) =>
      length + paddings[axis][0] + paddings[axis][1]
    ),
    dtype,
  }),
  lower: ({ model, inputs, node }) => {
    const { paddings, constantValue } = node.attributes;
    const { dtype } = node.inputs[0];
    return model.op("Pad", [
      ...inputs,
      model.ints([
        ...paddings.map(([before]) => before),
        ...paddings.map(([, after]) => after),
      ]),
      model.scalar(constantValue, dtype),
    ]);
  },
  lowerHlo: ({ program, inputs: [x], node }) => {
    const { paddings, constantValue } = node.attributes;
    return program.pad(x, constantValue, {
      before: paddings.map(([before]) => before),
      after: paddings.map(([, after]) => after),
    });
  },
};

/** Kernels that move numbers and compute none. */
export const SHAPING: Kernels = {
  Reshape: RESHAPE,
  ExpandDims: EXPAND_DIMS,
  Transpose: TRANSPOSE,
  Tile: TILE,
  BroadcastTo: BROADCAST_TO,
  Concat: CONCAT,
  Pack: PACK,
  Split: SPLIT,
  SplitV: SPLIT_V,
  Unpack: UNPACK,
  PadV2: PAD,
};

const REVERSE: CompositeKernel<{ dims: number[] }> = {
  inputs: ["x"],
  compose: ([x], { dims }) => {
    const axes = tf.util.parseAxisParam(dims, x.shape);
    if (axes.length === 0) return tf.clone(x);
    return run("Strided", { x }, {
      begin: axes.map((axis) => x.shape[axis] - 1),
      end: axes.map(() => BEFORE_START),
      strides: axes.map(() => -1),
      axes,
      shape: x.shape,
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
  lowerHlo: ({ program, inputs: [x], node }) => {
    const { begin, strides, axes, shape } = node.attributes;
    const back = axes.filter((_, i) => strides[i] < 0);
    const turned = program.reverse(x, back);
    const start = x.shape.map(() => 0);
    const steps = x.shape.map(() => 1);
    axes.forEach((axis, i) => {
      const from = strides[i] < 0 ? x.shape[axis] - 1 - begin[i] : begin[i];
      start[axis] = shape[axis] === 0 ? 0 : from;
      steps[axis] = Math.abs(strides[i]);
    });
    const limit = shape.map((length, axis) =>
      length === 0 ? 0 : start[axis] + (length - 1) * steps[axis] + 1
    );
    return program.slice(turned, { start, limit, strides: steps });
  },
};

const SLICE: CompositeKernel<{ begin: number; size: number }> = {
  inputs: ["x"],
  compose: ([x], { begin, size }) => {
    const [from, lengths] = tf.slice_util.parseSliceParams(x, begin, size);
    tf.slice_util.assertParamsValid(x, from, lengths);
    // The axes that become shorter.
    const axes = x.shape.map((_, axis) => axis)
      .filter((axis) => lengths[axis] !== x.shape[axis]);
    return run("Strided", { x }, {
      begin: axes.map((axis) => from[axis]),
      end: axes.map((axis) => from[axis] + lengths[axis]),
      strides: axes.map(() => 1),
      axes,
      shape: lengths,
    });
  },
};

const STRIDED_SLICE: CompositeKernel<
  & Record<"begin" | "end" | "strides", number[]>
  & { [mask in `${string}Mask`]: number }
> = {
  inputs: ["x"],
  compose: ([x], it) => {
    const info = tf.slice_util.sliceInfo(
      x.shape,
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
    const taken = run("Strided", { x }, {
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
    return tf.reshape(taken, info.finalShape);
  },
};

/** Kernels that take a part of a tensor, or turn it round. */
export const SLICING: Kernels = {
  Reverse: REVERSE,
  Strided: STRIDED,
  Slice: SLICE,
  StridedSlice: STRIDED_SLICE,
};
