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
  const [{ shape }] = node.outputs;
  // By itself, ONNX takes a length of 0 for that of the input.
  const allowzero = Number(shape.includes(0));
  return model.op("Reshape", [inputs[0], model.ints(shape)], { allowzero });
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
  lower: ({ model, inputs, node }) => {
    const axis = node.attributes.axis as number;
    const [{ dtype }] = node.outputs;
    // The first one's type is that of the others.
    const parts = inputs.map((it, i) =>
      node.inputs[i].dtype === dtype ? it : model.cast(it, dtype)
    );
    return model.op("Concat", parts, { axis });
  },
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

/** Numbers on the diagonal of a square, 0 elsewhere. */
const DIAG: CompositeKernel = {
  inputs: ["x"],
  expand: (record, [x]) => {
    const { shape, dtype } = x!;
    const size = sizeOf(shape);
    const square = [size, size];
    const on = Uint8Array.from(
      { length: size * size },
      (_, i) => i % (size + 1) === 0 ? 1 : 0,
    );
    const column = record("Reshape", [x!], { shape: [size, 1] });
    const rows = record("BroadcastTo", column, { shape: square });
    const diagonal = record("Constant", [], {
      values: on,
      type: { shape: square, dtype: "bool" },
    });
    const none = record("Constant", [], {
      fill: 0,
      type: { shape: square, dtype },
    });
    const chosen = record("Select", [...diagonal, ...rows, ...none]);
    return record("Reshape", chosen, { shape: [...shape, ...shape] });
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
  Diag: DIAG,
};
