import type { TensorType } from "../graph/graph.ts";
import type {
  HloTensor,
  ProgramBuilder,
} from "../stablehlo/program_builder.ts";
import type { Kernels, PrimitiveKernel } from "./kernel.ts";

/** Places along each axis of one row: its index, then 0. */
function placesOf(
  program: ProgramBuilder,
  { shape }: TensorType,
  index: HloTensor,
): HloTensor[] {
  const zero = program.scalar(0, "int32");
  return shape.map((_, axis) => axis === 0 ? index : zero);
}

const TAKE_ROW: PrimitiveKernel = {
  inputs: ["x", "index"],
  infer: ([{ shape, dtype }]) => ({ shape: shape.slice(1), dtype }),
  lower: ({ model, inputs: [x, index] }) =>
    model.op("Gather", [x, index], { axis: 0 }),
  lowerHlo: ({ program, inputs: [x, index], node: { outputs: [row] } }) => {
    const shape = [1, ...row.shape];
    const taken = program.op(
      "dynamic_slice",
      [x, ...placesOf(program, x, index)],
      {
        shape,
        dtype: x.dtype,
        attributes: { slice_sizes: `array<i64: ${shape.join(", ")}>` },
      },
    );
    return program.reshape(taken, row.shape);
  },
};

const SET_ROW: PrimitiveKernel = {
  inputs: ["x", "index", "row"],
  infer: ([{ shape, dtype }]) => ({ shape, dtype }),
  lower: ({ model, inputs: [x, index, row], node }) => {
    const place = model.reshape(model.cast(index, "int64", "int32"), [1, 1]);
    const [, , { shape }] = node.inputs;
    const update = model.reshape(row, [1, ...shape]);
    return model.op("ScatterND", [x, place, update]);
  },
  lowerHlo: ({ program, inputs: [x, index, row] }) => {
    const update = program.reshape(row, [1, ...row.shape]);
    return program.op(
      "dynamic_update_slice",
      [x, update, ...placesOf(program, x, index)],
      { shape: x.shape, dtype: x.dtype },
    );
  },
};

/** Kernels on one row of a tensor, whose index is a tensor: those of `scan`. */
export const ROWS: Kernels = { TakeRow: TAKE_ROW, SetRow: SET_ROW };
