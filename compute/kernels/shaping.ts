import * as tf from "@tensorflow/tfjs";
import { sizeOf, type Value } from "../graph/graph.ts";
import {
  type CompositeKernel,
  type Kernels,
  type Lowering,
  only,
  type PrimitiveKernel,
} from "./kernel.ts";

/** The shape that is meant by one with a length of -1. */
function resolveShape(x: Value, shape: readonly number[]): readonly number[] {
  return tf.util.inferFromImplicitShape([...shape], sizeOf(x.shape));
}

/** The same numbers in another shape: that of the output. */
function lowerReshape({ model, inputs, node }: Lowering): string {
  return model.op("Reshape", [
    inputs[0],
    model.ints(node.outputs[0].shape),
  ]);
}

const RESHAPE: PrimitiveKernel = {
  inputs: ["x"],
  infer: ([x], { shape }) => ({
    shape: resolveShape(x, shape as number[]),
    dtype: x.dtype,
  }),
  lower: lowerReshape,
};

const EXPAND_DIMS: CompositeKernel = {
  inputs: ["input"],
  expand: (record, [input], attributes) => {
    const dim = attributes.dim as number;
    const shape = [...input!.shape];
    shape.splice(dim < 0 ? shape.length + dim + 1 : dim, 0, 1);
    return record("Reshape", [input!], { shape });
  },
};

const TRANSPOSE: PrimitiveKernel = {
  inputs: ["x"],
  infer: ([x], { perm }) => ({
    shape: (perm as number[]).map((axis) => x.shape[axis]),
    dtype: x.dtype,
  }),
  lower: ({ model, inputs, node }) =>
    model.op("Transpose", inputs, { perm: node.attributes.perm as number[] }),
};

const TILE: PrimitiveKernel = {
  inputs: ["x"],
  infer: ([x], { reps }) => ({
    shape: x.shape.map((length, axis) => length * (reps as number[])[axis]),
    dtype: x.dtype,
  }),
  lower: ({ model, inputs, node }) =>
    model.op("Tile", [
      ...inputs,
      model.ints(node.attributes.reps as number[]),
    ]),
};

const BROADCAST_TO: PrimitiveKernel = {
  inputs: ["x"],
  infer: ([x], { shape }) => ({ shape: shape as number[], dtype: x.dtype }),
  lower: ({ model, inputs, node }) =>
    model.op("Expand", [...inputs, model.ints(node.outputs[0].shape)]),
};

const CONCAT: PrimitiveKernel = {
  inputs: "list",
  infer: (inputs, attributes) => {
    const [{ shape, dtype }] = inputs;
    const axis = tf.util.parseAxisParam(
      attributes.axis as number,
      [...shape],
    )[0];
    const length = inputs.reduce((sum, it) => sum + it.shape[axis], 0);
    return { shape: shape.with(axis, length), dtype };
  },
  lower: ({ model, inputs, node }) =>
    model.op("Concat", inputs, { axis: node.attributes.axis as number }),
};

const PACK: CompositeKernel = {
  inputs: "list",
  expand: (record, inputs, attributes) => {
    const axis = attributes.axis as number;
    const dim = axis < 0 ? inputs[0]!.shape.length + axis + 1 : axis;
    const parts = inputs.map((it) =>
      only(record("Reshape", [it!], { shape: it!.shape.toSpliced(dim, 0, 1) }))
    );
    return record("Concat", parts, { axis: dim });
  },
};

const SPLIT: PrimitiveKernel = {
  inputs: ["x"],
  infer: ([x], attributes) => {
    const { axis, sizes } = attributes as { axis: number; sizes: number[] };
    return sizes.map((size) => ({
      shape: x.shape.with(axis, size),
      dtype: x.dtype,
    }));
  },
  lower: ({ model, inputs, node }) => {
    const { axis, sizes } = node.attributes as {
      axis: number;
      sizes: number[];
    };
    return model.ops("Split", [...inputs, model.ints(sizes)], {
      attributes: { axis },
      count: sizes.length,
    });
  },
};

const SPLIT_V: CompositeKernel = {
  inputs: ["x"],
  expand: (record, [x], attributes) => {
    const [axis] = tf.util.parseAxisParam(attributes.axis as number, [
      ...x!.shape,
    ]);
    const sizes = tf.backend_util.prepareSplitSize(
      { shape: [...x!.shape] } as tf.Tensor,
      attributes.numOrSizeSplits as number[],
      axis,
    );
    return record("Split", [x!], { axis, sizes });
  },
};

const UNPACK: CompositeKernel = {
  inputs: ["value"],
  expand: (record, [value], attributes) => {
    const { shape } = value!;
    const given = attributes.axis as number;
    const axis = given < 0 ? given + shape.length : given;
    const sizes = new Array(shape[axis]).fill(1);
    return record("Split", [value!], { axis, sizes }).map((part) =>
      only(record("Reshape", [part], { shape: shape.toSpliced(axis, 1) }))
    );
  },
};

const PAD: PrimitiveKernel = {
  inputs: ["x"],
  infer: ([x], { paddings }) => ({
    shape: paddedShape(x, paddings as [number, number][]),
    dtype: x.dtype,
  }),
  lower: ({ model, inputs, node }) => {
    const { paddings, constantValue } = node.attributes as {
      paddings: [number, number][];
      constantValue: number;
    };
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
};

function paddedShape(x: Value, paddings: readonly [number, number][]) {
  return x.shape.map((length, axis) =>
    length + paddings[axis][0] + paddings[axis][1]
  );
}

/** Which number stands at each place of a mirrored axis. */
function mirrored(
  length: number,
  [before, after]: [number, number],
  mode: string,
): number[] {
  const edge = mode === "reflect" ? 0 : 1;
  return Array.from({ length: before + length + after }, (_, i) => {
    const at = i - before;
    if (at < 0) return -at - edge;
    return at < length ? at : 2 * (length - 1) - at + edge;
  });
}

const MIRROR_PAD: PrimitiveKernel = {
  inputs: ["x"],
  infer: PAD.infer,
  lower: ({ model, inputs, node }) => {
    const { paddings, mode } = node.attributes as {
      paddings: [number, number][];
      mode: string;
    };
    return paddings.reduce((x, padding, axis) => {
      if (padding[0] + padding[1] === 0) return x;
      const length = node.inputs[0].shape[axis];
      const at = model.ints(mirrored(length, padding, mode));
      return model.op("Gather", [x, at], { axis });
    }, inputs[0]);
  },
};

const REVERSE: CompositeKernel = {
  inputs: ["x"],
  expand: (record, [x], { dims }) => {
    const axes = tf.util.parseAxisParam(dims as number[], [...x!.shape]);
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
const STRIDED: PrimitiveKernel = {
  inputs: ["x"],
  infer: ([x], { shape }) => ({ shape: shape as number[], dtype: x.dtype }),
  lower: ({ model, inputs, node }) => {
    const { begin, end, strides, axes } = node.attributes as Record<
      "begin" | "end" | "strides" | "axes",
      number[]
    >;
    const settings = [begin, end, axes, strides];
    return model.op("Slice", [
      inputs[0],
      ...settings.map((it) => model.ints(it)),
    ]);
  },
};

const SLICE: CompositeKernel = {
  inputs: ["x"],
  expand: (record, [x], attributes) => {
    const { begin, size } = attributes as { begin: number; size: number };
    const [from, lengths] = tf.slice_util.parseSliceParams(
      { shape: [...x!.shape] } as tf.Tensor,
      begin,
      size,
    );
    return record("Strided", [x!], stridedOf(x!, from, lengths));
  },
};

/** The axes that a slice with steps of 1 makes shorter. */
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

const STRIDED_SLICE: CompositeKernel = {
  inputs: ["x"],
  expand: (record, [x], attributes) => {
    const it = attributes as
      & Record<"begin" | "end" | "strides", number[]>
      & {
        [mask in `${string}Mask`]: number;
      };
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

const BATCH_TO_SPACE: CompositeKernel = {
  inputs: ["x"],
  expand: (record, [x], attributes) => {
    const { blockShape, crops } = attributes as {
      blockShape: number[];
      crops: number[][];
    };
    const shape = [...x!.shape];
    const product = sizeOf(blockShape);
    const { getReshaped, getPermuted, getReshapedPermuted } = tf.backend_util;
    const split = getReshaped(shape, blockShape, product);
    const perm = getPermuted(split.length, blockShape.length);
    const joined = getReshapedPermuted(shape, blockShape, product);
    const begin = tf.backend_util
      .getSliceBeginCoords(crops, blockShape.length);
    const size = tf.backend_util
      .getSliceSize(joined, crops, blockShape.length);
    const apart = record("Reshape", [x!], { shape: split });
    const turned = record("Transpose", apart, { perm });
    const [whole] = record("Reshape", turned, { shape: joined });
    return record("Strided", [whole], stridedOf(whole, begin, size));
  },
};

const SPACE_TO_BATCH: CompositeKernel = {
  inputs: ["x"],
  expand: (record, [x], attributes) => {
    const { blockShape, paddings } = attributes as {
      blockShape: number[];
      paddings: [number, number][];
    };
    const product = sizeOf(blockShape);
    const rank = x!.shape.length;
    const all: [number, number][] = Array.from({ length: rank }, () => [0, 0]);
    paddings.forEach((it, i) => all[i + 1] = it);
    const padded = record("PadV2", [x!], { paddings: all, constantValue: 0 });
    const shape = [...padded[0].shape];
    const { getReshaped, getPermuted, getReshapedPermuted } = tf.backend_util;
    const split = getReshaped(shape, blockShape, product, false);
    const perm = getPermuted(split.length, blockShape.length, false);
    const joined = getReshapedPermuted(shape, blockShape, product, false);
    const apart = record("Reshape", padded, { shape: split });
    const turned = record("Transpose", apart, { perm });
    return record("Reshape", turned, { shape: joined });
  },
};

const DEPTH_TO_SPACE: CompositeKernel = {
  inputs: ["x"],
  expand: (record, [x], attributes) => {
    const { blockSize, dataFormat } = attributes as {
      blockSize: number;
      dataFormat: string;
    };
    if (dataFormat !== "NHWC") {
      throw new TypeError(
        `Cannot trace depthToSpace of ${dataFormat} data: expected NHWC`,
      );
    }
    const [batch, height, width, depth] = x!.shape;
    const rest = depth / (blockSize * blockSize);
    const apart = record("Reshape", [x!], {
      shape: [batch, height, width, blockSize, blockSize, rest],
    });
    const turned = record("Transpose", apart, { perm: [0, 1, 3, 2, 4, 5] });
    return record("Reshape", turned, {
      shape: [batch, height * blockSize, width * blockSize, rest],
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
  MirrorPad: MIRROR_PAD,
  Reverse: REVERSE,
  Strided: STRIDED,
  Slice: SLICE,
  StridedSlice: STRIDED_SLICE,
  BatchToSpaceND: BATCH_TO_SPACE,
  SpaceToBatchND: SPACE_TO_BATCH,
  DepthToSpace: DEPTH_TO_SPACE,
};
