import type { DType } from "../graph/graph.ts";
import type { ConstantKernel, Kernels } from "./kernel.ts";

function like(fill: number): ConstantKernel {
  return {
    inputs: ["x"],
    constant: ([x]) => ({ shape: x.shape, dtype: x.dtype, data: { fill } }),
  };
}

const FILL: ConstantKernel = {
  inputs: [],
  constant: (_, attributes) => {
    const { shape, value, dtype } = attributes as {
      shape: number[];
      value: number;
      dtype?: DType;
    };
    return { shape, dtype: dtype ?? "float32", data: { fill: value } };
  },
};

/** Numbers from a start by equal steps. */
function steps(
  length: number,
  at: (i: number) => number,
  dtype: "float32" | "int32",
): ReturnType<ConstantKernel["constant"]> {
  const numbers = { length };
  const values = dtype === "int32"
    ? Int32Array.from(numbers, (_, i) => at(i))
    : Float32Array.from(numbers, (_, i) => at(i));
  return { shape: [length], dtype, data: { values } };
}

const RANGE: ConstantKernel = {
  inputs: [],
  constant: (_, attributes) => {
    const { start, stop, step, dtype } = attributes as {
      start: number;
      stop: number;
      step: number;
      dtype?: "float32" | "int32";
    };
    const length = Math.max(0, Math.ceil((stop - start) / step));
    return steps(length, (i) => start + i * step, dtype ?? "float32");
  },
};

const LIN_SPACE: ConstantKernel = {
  inputs: [],
  constant: (_, attributes) => {
    const { start, stop, num } = attributes as Record<
      "start" | "stop" | "num",
      number
    >;
    const step = num > 1 ? (stop - start) / (num - 1) : 0;
    return steps(num, (i) => start + i * step, "float32");
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
