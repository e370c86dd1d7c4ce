import type { DType } from "../graph/graph.ts";
import type { ConstantKernel, Kernels } from "./kernel.ts";

function like(fill: number): ConstantKernel {
  return {
    inputs: ["x"],
    constant: ([x]) => ({ shape: x.shape, dtype: x.dtype, data: { fill } }),
  };
}

const FILL: ConstantKernel<
  { shape: number[]; value: number; dtype?: DType }
> = {
  inputs: [],
  constant: (_, { shape, value, dtype = "float32" }) => ({
    shape,
    dtype,
    data: { fill: value },
  }),
};

/** Counts from a start by equal steps, each rounded as it is in the array. */
function steps(
  length: number,
  { start, step, dtype }: {
    start: number;
    step: number;
    dtype: "float32" | "int32";
  },
): ReturnType<ConstantKernel["constant"]> {
  const values = dtype === "int32"
    ? new Int32Array(length)
    : new Float32Array(length);
  values[0] = start;
  for (let i = 1; i < length; i++) values[i] = values[i - 1] + step;
  return { shape: [length], dtype, data: { values } };
}

const RANGE: ConstantKernel<
  & Record<"start" | "stop" | "step", number>
  & { dtype?: "float32" | "int32" }
> = {
  inputs: [],
  constant: (_, { start, stop, step: given, dtype = "float32" }) => {
    // A step of 1 that was not asked for goes down where the stop is below.
    const turned = stop < start && given === 1;
    const count = Math.ceil((stop - start) / given);
    return steps(Math.max(0, turned ? -count : count), {
      start,
      step: turned ? -1 : given,
      dtype,
    });
  },
};

const LIN_SPACE: ConstantKernel<Record<"start" | "stop" | "num", number>> = {
  inputs: [],
  constant: (_, { start, stop, num }) => {
    const step = (stop - start) / (num - 1);
    return steps(num, { start, step, dtype: "float32" });
  },
};

/** Kernels whose numbers follow from shapes and settings. */
export const CONSTANTS: Kernels = {
  Fill: FILL,
  OnesLike: like(1),
  ZerosLike: like(0),
  Range: RANGE,
  LinSpace: LIN_SPACE,
};
