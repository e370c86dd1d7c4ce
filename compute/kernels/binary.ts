import * as tf from "@tensorflow/tfjs";
import type { DType } from "../graph/graph.ts";
import type { Kernels, Lowering, PrimitiveKernel } from "./kernel.ts";

type Compute = (a: string, b: string, lowering: Lowering) => string;

/** The shape that two shapes are broadcast to. */
function broadcast(
  a: readonly number[],
  b: readonly number[],
): readonly number[] {
  return tf.backend_util.assertAndGetBroadcastShape([...a], [...b]);
}

/** An elementwise kernel of two inputs, with broadcasting. */
function binary(compute: Compute, dtype?: DType): PrimitiveKernel {
  return {
    inputs: ["a", "b"],
    infer: ([a, b]) => ({
      shape: broadcast(a.shape, b.shape),
      dtype: dtype ?? a.dtype,
    }),
    lower: (lowering) => {
      const [a, b] = lowering.inputs;
      return compute(a, b, lowering);
    },
  };
}

/** Numbers from numbers; those of booleans are computed as whole numbers. */
function arithmetic(compute: Compute): PrimitiveKernel {
  return binary((a, b, lowering) => {
    const { model, node } = lowering;
    if (node.inputs[0].dtype !== "bool") return compute(a, b, lowering);
    const [x, y] = [a, b].map((it) => model.op("Cast", [it], { to: 6 }));
    return model.op("Cast", [compute(x, y, lowering)], { to: 9 });
  });
}

function direct(op: string): Compute {
  return (a, b, { model }) => model.op(op, [a, b]);
}

const isFloat = ({ node }: Lowering): boolean =>
  node.inputs[0].dtype === "float32";

/** The quotient rounded down, also below 0. */
function floorDiv(a: string, b: string, lowering: Lowering): string {
  const { model } = lowering;
  if (isFloat(lowering)) return model.op("Floor", [model.op("Div", [a, b])]);
  // Whole numbers of ONNX are divided towards 0.
  const rest = model.op("Mod", [a, b]);
  return model.op("Div", [model.op("Sub", [a, rest]), b]);
}

/** The rest of {@link floorDiv}: it has the divisor's sign. */
function floorMod(a: string, b: string, lowering: Lowering): string {
  const { model } = lowering;
  if (!isFloat(lowering)) return model.op("Mod", [a, b]);
  const zero = model.scalar(0);
  const rest = model.op("Mod", [a, b], { fmod: 1 });
  const signs = [rest, b].map((it) => model.op("Less", [it, zero]));
  const none = model.op("Equal", [rest, zero]);
  const same = model.op("Not", [model.op("Xor", signs)]);
  const keep = model.op("Or", [none, same]);
  return model.op("Where", [keep, rest, model.op("Add", [rest, b])]);
}

function squaredDifference(a: string, b: string, { model }: Lowering): string {
  const difference = model.op("Sub", [a, b]);
  return model.op("Mul", [difference, difference]);
}

/** The angle of a point, from the half plane that `atan` knows. */
function atan2(y: string, x: string, { model }: Lowering): string {
  const zero = model.scalar(0);
  const angle = model.op("Atan", [model.op("Div", [y, x])]);
  const half = signed(model, model.scalar(Math.PI), y);
  const left = model.op("Add", [angle, half]);
  const quarter = signed(model, model.scalar(Math.PI / 2), y);
  const onAxis = model.op("Where", [
    model.op("Equal", [y, zero]),
    model.op("Mul", [y, x]),
    quarter,
  ]);
  const side = model.op("Where", [
    model.op("Less", [x, zero]),
    left,
    angle,
  ]);
  return model.op("Where", [model.op("Equal", [x, zero]), onAxis, side]);
}

/** A number with the sign of another, 0 counting as positive. */
function signed(model: Lowering["model"], of: string, sign: string): string {
  const below = model.op("Less", [sign, model.scalar(0)]);
  return model.op("Where", [below, model.op("Neg", [of]), of]);
}

/** ONNX compares no booleans by size: they are compared as whole numbers. */
function comparison(op: string): PrimitiveKernel {
  return binary((a, b, { model, node }) => {
    if (node.inputs[0].dtype !== "bool") return model.op(op, [a, b]);
    const numbers = [a, b].map((it) => model.op("Cast", [it], { to: 6 }));
    return model.op(op, numbers);
  }, "bool");
}

/** Elementwise kernels of two inputs. */
export const BINARY: Kernels = {
  Add: arithmetic(direct("Add")),
  Sub: arithmetic(direct("Sub")),
  Multiply: arithmetic(direct("Mul")),
  RealDiv: arithmetic(direct("Div")),
  FloorDiv: arithmetic(floorDiv),
  Mod: arithmetic(floorMod),
  Pow: arithmetic(direct("Pow")),
  Maximum: arithmetic(direct("Max")),
  Minimum: arithmetic(direct("Min")),
  SquaredDifference: arithmetic(squaredDifference),
  Atan2: arithmetic(atan2),
  BitwiseAnd: binary(direct("BitwiseAnd")),
  Equal: comparison("Equal"),
  NotEqual: binary((a, b, { model, node }) => {
    const to = { to: 6 };
    const [x, y] = node.inputs[0].dtype === "bool"
      ? [a, b].map((it) => model.op("Cast", [it], to))
      : [a, b];
    return model.op("Not", [model.op("Equal", [x, y])]);
  }, "bool"),
  Less: comparison("Less"),
  LessEqual: comparison("LessOrEqual"),
  Greater: comparison("Greater"),
  GreaterEqual: comparison("GreaterOrEqual"),
  LogicalAnd: binary(direct("And"), "bool"),
  LogicalOr: binary(direct("Or"), "bool"),
  Prelu: {
    inputs: ["x", "alpha"],
    infer: ([x]) => ({ shape: x.shape, dtype: x.dtype }),
    lower: ({ model, inputs: [x, alpha] }) => {
      const below = model.op("Less", [x, model.scalar(0)]);
      return model.op("Where", [below, model.op("Mul", [x, alpha]), x]);
    },
  },
  EluGrad: {
    inputs: ["dy", "y"],
    infer: ([, y]) => ({ shape: y.shape, dtype: y.dtype }),
    lower: ({ model, inputs: [dy, y] }) => {
      const above = model.op("GreaterOrEqual", [y, model.scalar(0)]);
      const slope = model.op("Add", [y, model.scalar(1)]);
      return model.op("Where", [above, dy, model.op("Mul", [dy, slope])]);
    },
  },
  Select: {
    inputs: ["condition", "t", "e"],
    infer: ([, t, e]) => ({
      shape: t.shape,
      dtype: t.dtype === e.dtype ? t.dtype : "float32",
    }),
    lower: ({ model, inputs: [condition, t, e], node }) => {
      const [by, then] = node.inputs;
      // A condition of rank 1 chooses rows.
      const rows = by.shape.length === 1 && then.shape.length > 1;
      const shape = [by.shape[0], ...then.shape.slice(1).map(() => 1)];
      const chosen = rows
        ? model.op("Reshape", [condition, model.ints(shape)])
        : condition;
      return model.op("Where", [chosen, t, e]);
    },
  },
  AddN: {
    inputs: "list",
    infer: ([first]) => ({ shape: first.shape, dtype: first.dtype }),
    lower: ({ model, inputs }) =>
      inputs.slice(1).reduce(
        (sum, it) => model.op("Add", [sum, it]),
        inputs[0],
      ),
  },
};
