import { type DType, sizeOf, type Value } from "../graph/graph.ts";
import {
  type CompositeKernel,
  type Kernels,
  type Lowering,
  only,
  type PrimitiveKernel,
} from "./kernel.ts";

/** Whole numbers from 0, as a constant of a type. */
function range(length: number): Int32Array {
  return Int32Array.from({ length }, (_, i) => i);
}

const GATHER: PrimitiveKernel = {
  inputs: ["x", "indices"],
  infer: ([x, indices], attributes) => {
    const axis = attributes.axis as number;
    return {
      shape: x.shape.toSpliced(axis, 1, ...indices.shape),
      dtype: x.dtype,
    };
  },
  lower: ({ model, inputs, node }) =>
    model.op("Gather", inputs, { axis: node.attributes.axis as number }),
};

/** Rows of each batch of their own: the batches are laid end to end. */
const GATHER_V2: CompositeKernel = {
  inputs: ["x", "indices"],
  expand: (record, [x, indices], attributes) => {
    const { axis: given, batchDims = 0 } = attributes as {
      axis: number;
      batchDims?: number;
    };
    const axis = given < 0 ? given + x!.shape.length : given;
    if (batchDims === 0) return record("Gather", [x!, indices!], { axis });
    const batch = x!.shape.slice(0, batchDims);
    const outer = x!.shape.slice(batchDims, axis);
    const inner = x!.shape.slice(axis + 1);
    const length = x!.shape[axis];
    const batches = sizeOf(batch);
    const rows = sizeOf(indices!.shape.slice(batchDims));
    const apart = record("Reshape", [x!], {
      shape: [batches, sizeOf(outer), length, sizeOf(inner)],
    });
    const turned = record("Transpose", apart, { perm: [0, 2, 1, 3] });
    const flat = record("Reshape", turned, {
      shape: [batches * length, sizeOf(outer) * sizeOf(inner)],
    });
    const starts = record("Constant", [], {
      values: range(batches).map((i) => i * length),
      type: { shape: [batches, 1], dtype: "int32" },
    });
    const byBatch = record("Reshape", [indices!], { shape: [batches, rows] });
    const at = record("Add", [...byBatch, ...starts]);
    const taken = record("Gather", [flat[0], at[0]], { axis: 0 });
    const again = record("Reshape", taken, {
      shape: [batches, rows, sizeOf(outer), sizeOf(inner)],
    });
    const back = record("Transpose", again, { perm: [0, 2, 1, 3] });
    return record("Reshape", back, {
      shape: [...batch, ...outer, ...indices!.shape.slice(batchDims), ...inner],
    });
  },
};

const GATHER_ND: PrimitiveKernel = {
  inputs: ["params", "indices"],
  infer: ([params, indices]) => {
    const depth = indices.shape[indices.shape.length - 1];
    return {
      shape: [...indices.shape.slice(0, -1), ...params.shape.slice(depth)],
      dtype: params.dtype,
    };
  },
  lower: ({ model, inputs: [params, indices] }) =>
    model.op("GatherND", [params, model.cast(indices, "int64")]),
};

/** A number in every place of a shape. */
function filled(
  { model }: Lowering,
  { shape, dtype }: Value,
  value = 0,
): string {
  const of = model.ints(shape);
  return model.op("Expand", [model.scalar(value, dtype), of]);
}

const SCATTER_ND: PrimitiveKernel = {
  inputs: ["indices", "updates"],
  infer: ([, updates], { shape }) => ({
    shape: shape as number[],
    dtype: updates.dtype,
  }),
  lower: (lowering) => {
    const { model, inputs: [indices, updates], node } = lowering;
    return model.op("ScatterND", [
      filled(lowering, node.outputs[0]),
      model.cast(indices, "int64"),
      updates,
    ], { reduction: "add" });
  },
};

const SCATTER_UPDATE: PrimitiveKernel = {
  inputs: ["tensor", "indices", "updates"],
  infer: ([tensor]) => ({ shape: tensor.shape, dtype: tensor.dtype }),
  lower: ({ model, inputs: [tensor, indices, updates] }) =>
    model.op("ScatterND", [
      tensor,
      model.cast(indices, "int64"),
      updates,
    ]),
};

const SPARSE_TO_DENSE: CompositeKernel = {
  inputs: ["sparseIndices", "sparseValues", "defaultValue"],
  expand: (record, [indices, values, otherwise], { outputShape }) => {
    const shape = outputShape as number[];
    const base = record("BroadcastTo", [otherwise!], { shape });
    const rank = indices!.shape.length;
    const rows = rank === 0 ? 1 : indices!.shape[0];
    const depth = rank < 2 ? 1 : indices!.shape[1];
    const at = record("Reshape", [indices!], { shape: [rows, depth] });
    const updates = sizeOf(values!.shape) === rows && values!.shape.length > 0
      ? [values!]
      : record("BroadcastTo", [values!], { shape: [rows] });
    return record("TensorScatterUpdate", [base[0], at[0], updates[0]]);
  },
};

/** Compares, since ONNX's own operation counts negative indices from the end. */
const ONE_HOT: PrimitiveKernel = {
  inputs: ["indices"],
  infer: ([indices], { depth, dtype }) => ({
    shape: [...indices.shape, depth as number],
    dtype: (dtype as DType) ?? "int32",
  }),
  lower: ({ model, inputs, node }) => {
    const { depth, onValue, offValue } = node.attributes as Record<
      "depth" | "onValue" | "offValue",
      number
    >;
    const [{ shape }] = node.inputs;
    const { dtype } = node.outputs[0];
    const column = model.op("Reshape", [
      inputs[0],
      model.ints([...shape, 1]),
    ]);
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
    return dtype === between ? chosen : model.cast(chosen, dtype);
  },
};

/**
 * Sums of rows by number. Rows whose number is out of range are left out:
 * they go into one row more, which is cut off.
 */
const SEGMENT_SUM: PrimitiveKernel = {
  inputs: ["x", "segmentIds"],
  infer: ([x, ids], { numSegments }) => ({
    shape: [numSegments as number, ...x.shape.slice(ids.shape.length)],
    dtype: x.dtype,
  }),
  lower: (lowering) => {
    const { model, inputs: [x, ids], node } = lowering;
    const { shape, dtype } = node.outputs[0];
    const last = model.scalar(shape[0], "int32");
    const below = model.op("Less", [ids, model.scalar(0, "int32")]);
    const above = model.op("Greater", [ids, last]);
    const outside = model.op("Or", [below, above]);
    const rows = model.op("Where", [outside, last, ids]);
    const at = model.op("Reshape", [
      model.cast(rows, "int64"),
      model.ints([...node.inputs[1].shape, 1]),
    ]);
    const base = filled(lowering, {
      shape: [shape[0] + 1, ...shape.slice(1)],
      dtype,
    });
    const sums = model.op("ScatterND", [base, at, x], { reduction: "add" });
    const cut = [[0], [shape[0]], [0]].map((it) => model.ints(it));
    return model.op("Slice", [sums, ...cut]);
  },
};

const TOP_K: PrimitiveKernel = {
  inputs: ["x"],
  infer: ([x], { k }) => {
    const shape = [...x.shape.slice(0, -1), k as number];
    return [{ shape, dtype: x.dtype }, { shape, dtype: "int32" }];
  },
  lower: ({ model, inputs, node }) => {
    const k = model.ints([node.attributes.k as number]);
    const [values, at] = model.ops("TopK", [...inputs, k], {
      attributes: { axis: -1, largest: 1, sorted: 1 },
      count: 2,
    });
    return [values, model.cast(at, "int32")];
  },
};

interface ScanAttributes {
  readonly axis: number;
  readonly exclusive: boolean;
  readonly reverse: boolean;
}

const CUMSUM: PrimitiveKernel = {
  inputs: ["x"],
  infer: ([x]) => ({
    shape: x.shape,
    dtype: x.dtype === "bool" ? "int32" : x.dtype,
  }),
  lower: ({ model, inputs, node }) => {
    const { axis, exclusive, reverse } = node
      .attributes as unknown as ScanAttributes;
    const x = node.inputs[0].dtype === "bool"
      ? model.cast(inputs[0], "int32")
      : inputs[0];
    return model.op("CumSum", [x, model.scalar(axis, "int64")], {
      exclusive: exclusive ? 1 : 0,
      reverse: reverse ? 1 : 0,
    });
  },
};

/** Products of ever longer runs: each round doubles the length. */
const CUMPROD: CompositeKernel = {
  inputs: ["x"],
  expand: (record, [x], attributes) => {
    const { axis, exclusive, reverse } =
      attributes as unknown as ScanAttributes;
    const { shape } = x!;
    const at = axis < 0 ? axis + shape.length : axis;
    const length = shape[at];
    /** The numbers moved along the axis, with ones behind them. */
    const moved = (of: Value, by: number): Value => {
      const distance = Math.min(by, length);
      const kept = only(record("Slice", [of], {
        begin: shape.map((_, i) => i === at && reverse ? distance : 0),
        size: shape.with(at, length - distance),
      }));
      const padding: [number, number] = reverse ? [0, distance] : [distance, 0];
      const paddings = shape.map((_, i) => i === at ? padding : [0, 0]);
      return only(record("PadV2", [kept], { paddings, constantValue: 1 }));
    };
    const numbers = x!.dtype === "bool"
      ? only(record("Cast", [x!], { dtype: "int32" }))
      : x!;
    let product = exclusive ? moved(numbers, 1) : numbers;
    for (let by = 1; by < length; by *= 2) {
      product = only(record("Multiply", [product, moved(product, by)]));
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
  SparseToDense: SPARSE_TO_DENSE,
  OneHot: ONE_HOT,
  UnsortedSegmentSum: SEGMENT_SUM,
  TopK: TOP_K,
  Cumsum: CUMSUM,
  Cumprod: CUMPROD,
};
