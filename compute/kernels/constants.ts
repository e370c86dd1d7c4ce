import { withBackend } from "../backends/select_backend.ts";
import { CONSTANT, type DType } from "../graph/graph.ts";
import { type CompositeKernel, type Kernels, run } from "./kernel.ts";

function like(fill: number): CompositeKernel {
  return {
    inputs: ["x"],
    compose: ([{ shape, dtype }]) => run(CONSTANT, {}, { fill, shape, dtype }),
  };
}

const FILL: CompositeKernel<
  { shape: number[]; value: number; dtype?: DType }
> = {
  inputs: [],
  compose: (_, { shape, value, dtype = "float32" }) =>
    run(CONSTANT, {}, { fill: value, shape, dtype }),
};

/** Takes the numbers that TensorFlow.js computes, in plain JavaScript. */
function computed(op: string): CompositeKernel {
  return {
    inputs: [],
    compose: (_, attributes) =>
      withBackend("cpu", () => run(op, {}, attributes)),
  };
}

/** Kernels whose numbers follow from shapes and settings. */
export const CONSTANTS: Kernels = {
  Fill: FILL,
  OnesLike: like(1),
  ZerosLike: like(0),
  Range: computed("Range"),
  LinSpace: computed("LinSpace"),
};
