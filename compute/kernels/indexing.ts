import * as tf from "@tensorflow/tfjs";
import { type DType, sizeOf, type TensorType } from "../graph/graph.ts";
import type { ModelBuilder } from "../onnx/model_builder.ts";
import {
  type HloTensor,
  integers,
  type ProgramBuilder,
} from "../stablehlo/program_builder.ts";
import {
  type CompositeKernel,
  type Kernels,
  type PrimitiveKernel,
  run,
} from "./kernel.ts";

/** Counts from 0. */
function range(length: number): Int32Array {
  return Int32Array.from({ length }, (_, i) => i);
}

/** Counts from a number to another. */
function axesFrom(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

/** Takes slices of a tensor, one for each place. */
function gatherHlo(
  program: ProgramBuilder,
  [x, places]: readonly HloTensor[],
  { axes, offsets, shape }: {
    /** Axes that the last axis of the places has numbers of. */
    axes: readonly number[];
    /** Axes of the result that the others become. */
    offsets: readonly number[];
    shape: readonly number[];
  },
): HloTensor {
  const last = places.shape.length - 1;
  return program.op("gather", [x, places], {
    shape,
    dtype: x.dtype,
    attributes: {
      dimension_numbers: `#stablehlo.gather<offset_dims = [${offsets}], ` +
        `collapsed_slice_dims = [${axes}], start_index_map = [${axes}], ` +
        `index_vector_dim = ${last}>`,
      slice_sizes: integers(
        x.shape.map((length, axis) => axes.includes(axis) ? 1 : length),
      ),
    },
  });
}

/** Takes places of an axis, by indices of any shape. */
function takeHlo(
  program: ProgramBuilder,
  [x, indices]: readonly HloTensor[],
  axis: number,
): HloTensor {
  const shape = x.shape.toSpliced(axis, 1, ...indices.shape);
  const after = axis + indices.shape.length;
  const places = program.reshape(indices, [...indices.shape, 1]);
  return gatherHlo(program, [x, places], {
    axes: [axis],
    offsets: [...axesFrom(0, axis), ...axesFrom(after, shape.length)],
    shape,
  });
}

/** Puts rows into a tensor, by numbers of its first axes; others are left out. */
function scatterHlo(
  program: ProgramBuilder,
  [x, places, updates]: readonly HloTensor[],
  merge: (before: HloTensor, update: HloTensor) => HloTensor,
): HloTensor {
  const last = places.shape.length - 1;
  const axes = axesFrom(0, places.shape[last]);
  return program.op("scatter", [x, places, updates], {
    shape: x.shape,
    dtype: x.dtype,
    attributes: {
      scatter_dimension_numbers: "#stablehlo.scatter<update_window_dims = [" +
        `${axesFrom(last, updates.shape.length)}], ` +
        `inserted_window_dims = [${axes}], ` +
        `scatter_dims_to_operand_dims = [${axes}], index_vector_dim = ${last}>`,
    },
    region: program.region(x.dtype, merge),
  });
}

const GATHER: PrimitiveKernel<{ axis: number }> = {
  inputs: ["x", "indices"],
  infer: ([{ shape, dtype }, indices], { axis }) => {
    tf.util.parseAxisParam(axis, [...shape]);
    return { shape: shape.toSpliced(axis, 1, ...indices.shape), dtype };
  },
  lower: ({ model, inputs, node: { attributes: { axis } } }) =>
    model.op("Gather", inputs, { axis }),
  lowerHlo: ({ program, inputs, node: { attributes: { axis } } }) =>
    takeHlo(program, inputs, axis),
};

/** Rows of each batch of their own: the batches are laid end to end. */
const GATHER_V2: CompositeKernel<{ axis: number; batchDims?: number }> = {
  inputs: ["x", "indices"],
  compose: ([x, indices], { axis: given, batchDims = 0 }) => {
    const axis = given < 0 ? given + x.rank : given;
    if (batchDims === 0) return run("Gather", { x, indices }, { axis });
    const batch = x.shape.slice(0, batchDims);
    const outer = x.shape.slice(batchDims, axis);
    const inner = x.shape.slice(axis + 1);
    const length = x.shape[axis];
    const batches = sizeOf(batch);
    const rows = sizeOf(indices.shape.slice(batchDims));
    const apart = [batches, sizeOf(outer), length, sizeOf(inner)];
    const turned = tf.transpose(tf.reshape(x, apart), [0, 2, 1, 3]);
    const flat = tf.reshape(turned, [batches * length, -1]);
    const starts = tf.tensor2d(
      range(batches).map((i) => i * length),
      [batches, 1],
      "int32",
    );
    const at = tf.add(tf.reshape(indices, [batches, rows]), starts);
    const taken = run("Gather", { x: flat, indices: at }, { axis: 0 });
    const again = tf.reshape(taken, [batches, rows, apart[1], apart[3]]);
    return tf.reshape(
      tf.transpose(again, [0, 2, 1, 3]),
      [...batch, ...outer, ...indices.shape.slice(batchDims), ...inner],
    );
  },
};

const GATHER_ND: PrimitiveKernel = {
  inputs: ["params", "indices"],
  infer: ([params, indices]) => {
    const depth = indices.shape[indices.shape.length - 1];
    if (depth > params.shape.length) {
      throw new RangeError(
        `Cannot gather from [${params.shape}] by indices of ${depth} numbers: expected one for each axis at most`,
      );
    }
    return {
      shape: [...indices.shape.slice(0, -1), ...params.shape.slice(depth)],
      dtype: params.dtype,
    };
  },
  lower: ({ model, inputs: [params, indices] }) =>
    model.op("GatherND", [params, model.cast(indices, "int64")]),
  lowerHlo: ({ program, inputs: [params, indices], node }) => {
    const [{ shape }] = node.outputs;
    const last = indices.shape.length - 1;
    return gatherHlo(program, [params, indices], {
      axes: axesFrom(0, indices.shape[last]),
      offsets: axesFrom(last, shape.length),
      shape,
    });
  },
};

/** Adds a tensor of zeros. */
function zeros(model: ModelBuilder, { shape, dtype }: TensorType): string {
  const of = model.ints(shape);
  return model.op("Expand", [model.scalar(0, dtype), of]);
}

const SCATTER_ND: PrimitiveKernel<{ shape: readonly number[] }> = {
  inputs: ["indices", "updates"],
  infer: ([, { dtype }], { shape }) => ({ shape, dtype }),
  lower: ({ model, inputs: [indices, updates], node }) =>
    model.op("ScatterND", [
      zeros(model, node.outputs[0]),
      model.cast(indices, "int64"),
      updates,
    ], { reduction: "add" }),
  lowerHlo: ({ program, inputs: [indices, updates], node }) => {
    const base = program.fill(0, node.outputs[0]);
    return scatterHlo(
      program,
      [base, indices, updates],
      (sum, update) => program.map("add", sum, update),
    );
  },
};

const SCATTER_UPDATE: PrimitiveKernel = {
  inputs: ["tensor", "indices", "updates"],
  infer: ([tensor]) => tensor,
  lower: ({ model, inputs: [tensor, indices, updates] }) =>
    model.op("ScatterND", [
      tensor,
      model.cast(indices, "int64"),
      updates,
    ]),
  lowerHlo: ({ program, inputs }) =>
    scatterHlo(program, inputs, (_, update) => update),
};

/** Compares, since ONNX's own operation counts negative indices from the end. */
const ONE_HOT: PrimitiveKernel<{
  depth: number;
  onValue: number;
  offValue: number;
  dtype?: DType;
}> = {
  inputs: ["indices"],
  infer: ([indices], { depth, dtype = "int32" }) => ({
    shape: [...indices.shape, depth],
    dtype,
  }),
  lower: ({ model, inputs, node }) => {
    const { depth, onValue, offValue } = node.attributes;
    const [{ shape }] = node.inputs;
    const { dtype } = node.outputs[0];
    const column = model.reshape(inputs[0], [...shape, 1]);
    const all = model.tensor(range(depth), { shape: [depth], dtype: "int32" });
    const on = model.op("Equal", [column, all]);
    if (onValue === 1 && offValue === 0) {
      return model.cast(on, dtype);
    }
    // ONNX Runtime chooses between no booleans.
    const between = dtype === "bool" ? "int32" : dtype;
    const [yes, no] = [onValue, offValue].map((it) =>
      model.scalar(it, between)
    );
    const chosen = model.op("Where", [on, yes, no]);
    return model.cast(chosen, dtype, between);
  },
  lowerHlo: ({ program, inputs: [indices], node }) => {
    const { attributes: { onValue, offValue }, outputs: [type] } = node;
    const { shape } = type;
    const places = program.spread(indices, {
      shape,
      axes: indices.shape.map((_, axis) => axis),
    });
    const all = program.iota({ shape, dtype: "int32" }, shape.length - 1);
    return program.select(
      program.compare("EQ", places, all),
      program.fill(onValue, type),
      program.fill(offValue, type),
    );
  },
};

/**
 * Sums of rows by number. Rows whose number is out of range are left out:
 * they go into one row more, which is cut off.
 */
const SEGMENT_SUM: PrimitiveKernel<{ numSegments: number }> = {
  inputs: ["x", "segmentIds"],
  infer: ([x, ids], { numSegments }) => {
    const rank = ids.shape.length;
    tf.util.assertShapesMatch(
      x.shape.slice(0, rank),
      [...ids.shape],
      "Error in the sums of segments: ",
    );
    return { shape: [numSegments, ...x.shape.slice(rank)], dtype: x.dtype };
  },
  lower: ({ model, inputs: [x, ids], node }) => {
    const { shape, dtype } = node.outputs[0];
    const last = model.scalar(shape[0], "int32");
    const below = model.op("Less", [ids, model.scalar(0, "int32")]);
    const above = model.op("Greater", [ids, last]);
    const outside = model.op("Or", [below, above]);
    const rows = model.op("Where", [outside, last, ids]);
    const at = model.reshape(model.cast(rows, "int64"), [
      ...node.inputs[1].shape,
      1,
    ]);
    const base = zeros(model, {
      shape: [shape[0] + 1, ...shape.slice(1)],
      dtype,
    });
    const sums = model.op("ScatterND", [base, at, x], { reduction: "add" });
    return model.slice(sums, { starts: [0], ends: [shape[0]], axes: [0] });
  },
  lowerHlo: ({ program, inputs: [x, ids], node }) => {
    const base = program.fill(0, node.outputs[0]);
    const places = program.reshape(ids, [...ids.shape, 1]);
    return scatterHlo(
      program,
      [base, places, x],
      (sum, update) => program.map("add", sum, update),
    );
  },
};

const TOP_K: PrimitiveKernel<{ k: number }> = {
  inputs: ["x"],
  infer: ([x], { k }) => {
    const shape = [...x.shape.slice(0, -1), k];
    return [{ shape, dtype: x.dtype }, { shape, dtype: "int32" }];
  },
  lower: ({ model, inputs, node }) => {
    const k = model.ints([node.attributes.k]);
    const [values, at] = model.ops("TopK", [...inputs, k], {
      attributes: { axis: -1, largest: 1, sorted: 1 },
      count: 2,
    });
    return [values, model.cast(at, "int32")];
  },
  lowerHlo: ({ program, inputs: [x], node: { attributes: { k } } }) => {
    const axis = x.shape.length - 1;
    const places = program.iota({ shape: x.shape, dtype: "int32" }, axis);
    // XLA sorts -0 behind 0: the first of equals is to stay the first.
    const zero = program.fill(0, x);
    const isZero = program.compare("EQ", x, zero);
    return program.sort([program.select(isZero, zero, x), places], axis)
      .map((it) => program.range(it, { axis, from: 0, to: k }));
  },
};

type ScanAttributes = {
  readonly axis: number;
  readonly exclusive: boolean;
  readonly reverse: boolean;
};

const CUMSUM: PrimitiveKernel<ScanAttributes> = {
  inputs: ["x"],
  infer: ([{ shape, dtype }], { axis }) => {
    tf.util.parseAxisParam(axis, [...shape]);
    return { shape, dtype: dtype === "bool" ? "int32" : dtype };
  },
  lower: ({ model, inputs, node }) => {
    const { axis, exclusive, reverse } = node.attributes;
    const [[from], [to]] = [node.inputs, node.outputs];
    const x = model.cast(inputs[0], to.dtype, from.dtype);
    return model.op("CumSum", [x, model.scalar(axis, "int64")], {
      exclusive: exclusive ? 1 : 0,
      reverse: reverse ? 1 : 0,
    });
  },
  lowerHlo: ({ program, inputs: [given], node }) => {
    const { axis, exclusive, reverse } = node.attributes;
    const { shape, dtype } = node.outputs[0];
    const length = shape[axis];
    const none = shape.map(() => 0);
    /** Moves the numbers along the axis, with zeros behind them. */
    const moved = (x: HloTensor, distance: number): HloTensor => {
      const by = Math.min(distance, length);
      const kept = program.range(x, {
        axis,
        from: reverse ? by : 0,
        to: reverse ? length : length - by,
      });
      const padding = [none, none.with(axis, by)];
      const [before, after] = reverse ? padding : padding.reverse();
      return program.pad(kept, 0, { before, after });
    };
    const x = program.cast(given, dtype);
    let sum = exclusive ? moved(x, 1) : x;
    for (let by = 1; by < length; by *= 2) {
      sum = program.map("add", sum, moved(sum, by));
    }
    return sum;
  },
};

/** Products of ever longer runs: each round doubles the length. */
const CUMPROD: CompositeKernel<ScanAttributes> = {
  inputs: ["x"],
  compose: ([x], { axis, exclusive, reverse }) => {
    const { shape } = x;
    const at = axis < 0 ? axis + x.rank : axis;
    const length = shape[at];
    /** Moves the numbers along the axis, with ones behind them. */
    const moved = (of: tf.Tensor, by: number): tf.Tensor => {
      const distance = Math.min(by, length);
      const begin = shape.map((_, i) => i === at && reverse ? distance : 0);
      const kept = tf.slice(of, begin, shape.with(at, length - distance));
      const padding: [number, number] = reverse ? [0, distance] : [distance, 0];
      return tf.pad(kept, shape.map((_, i) => i === at ? padding : [0, 0]), 1);
    };
    const numbers = x.dtype === "bool" ? tf.cast(x, "int32") : x;
    let product = exclusive ? moved(numbers, 1) : numbers;
    for (let by = 1; by < length; by *= 2) {
      product = tf.mul(product, moved(product, by));
    }
    return product;
  },
};

/** Kernels that take or put numbers by index, or along an axis. */
export const INDEXING: Kernels = {
  Gather: GATHER,
  GatherV2: GATHER_V2,
  GatherNd: GATHER_ND,
  ScatterNd: SCATTER_ND,
  TensorScatterUpdate: SCATTER_UPDATE,
  OneHot: ONE_HOT,
  UnsortedSegmentSum: SEGMENT_SUM,
  TopK: TOP_K,
  Cumsum: CUMSUM,
  Cumprod: CUMPROD,
};
