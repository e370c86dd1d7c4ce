import {
  type CompositeKernel,
  type Kernels,
  only,
  type PrimitiveKernel,
} from "./kernel.ts";

function alongLast(op: string): PrimitiveKernel {
  return {
    inputs: ["logits"],
    infer: ([x]) => ({ shape: x.shape, dtype: x.dtype }),
    lower: ({ model, inputs }) => model.op(op, inputs, { axis: -1 }),
  };
}

const BATCH_NORM: CompositeKernel = {
  inputs: ["x", "mean", "variance", "offset", "scale"],
  expand: (record, [x, mean, variance, offset, scale], attributes) => {
    const epsilon = record("Constant", [], {
      fill: attributes.varianceEpsilon as number,
      type: { shape: [], dtype: "float32" },
    });
    const spread = record("Add", [variance!, ...epsilon]);
    const inverse = record("Rsqrt", spread);
    const factor = scale === undefined
      ? inverse
      : record("Multiply", [...inverse, scale]);
    const centred = record("Sub", [x!, mean!]);
    const normal = record("Multiply", [...centred, ...factor]);
    return offset === undefined
      ? normal
      : only(record("Add", [...normal, offset]));
  },
};

/** Kernels that normalise. */
export const NORMALIZATION: Kernels = {
  Softmax: alongLast("Softmax"),
  LogSoftmax: alongLast("LogSoftmax"),
  FusedBatchNorm: BATCH_NORM,
};
