import type { DType } from "../graph/graph.ts";
import {
  type Compute,
  direct,
  elementwise,
  type Kernels,
  type Lowering,
  type PrimitiveKernel,
} from "./kernel.ts";

const inputs = ["x"];

/** Computes in any numbers; those of booleans are whole ones. */
function numeric(compute: Compute): PrimitiveKernel {
  return elementwise(compute, { inputs, by: "numbers" });
}

/** Computes in floating-point numbers, turned into the input's type. */
function formula(compute: Compute): PrimitiveKernel {
  return elementwise(compute, { inputs, by: "float32" });
}

/** Takes the operation of ONNX of that name, in floating-point numbers. */
function floating(op: string): PrimitiveKernel {
  return formula(direct(op));
}

/** Computes in floating-point numbers, of a type of its own. */
function typed(dtype: "float32" | "bool", compute: Compute): PrimitiveKernel {
  return elementwise(compute, { inputs, by: "float32", dtype });
}

/**
 * Computes `exp(x) - 1` as `tanh(x / 2) * (exp(x) + 1)`, which keeps the digits
 * of numbers near 0.
 */
function expm1({ model, inputs: [x] }: Lowering): string {
  const half = model.op("Mul", [x, model.scalar(0.5)]);
  const above = model.op("Add", [model.op("Exp", [x]), model.scalar(1)]);
  return model.op("Mul", [model.op("Tanh", [half]), above]);
}

/**
 * Computes `log(1 + x)` with the rounding of `1 + x` made good (Kahan): where
 * `1 + x` is `u`, it is `log(u) * x / (u - 1)`.
 */
function log1p({ model, inputs: [x] }: Lowering): string {
  const one = model.scalar(1);
  const u = model.op("Add", [x, one]);
  const log = model.op("Log", [u]);
  const made = model.op("Div", [x, model.op("Sub", [u, one])]);
  const large = model.op("Equal", [u, x]);
  const exact = model.op("Where", [large, log, model.op("Mul", [log, made])]);
  return model.op("Where", [model.op("Equal", [u, one]), x, exact]);
}

/**
 * Computes the logistic function by its formula. ONNX Runtime's own is 0 from
 * -18 down, and the logarithm of that is no number.
 */
function sigmoid({ model, inputs: [x] }: Lowering): string {
  const inverse = model.op("Exp", [model.op("Neg", [x])]);
  return model.op("Reciprocal", [model.op("Add", [inverse, model.scalar(1)])]);
}

/** Returns 1 above 0, `alpha` elsewhere; NaN stays. */
function step({ model, inputs: [x], node }: Lowering): string {
  const { alpha = 0 } = node.attributes as { alpha?: number };
  const above = model.op("Greater", [x, model.scalar(0)]);
  const sides = [model.scalar(1), model.scalar(alpha)];
  const stepped = model.op("Where", [above, ...sides]);
  return model.op("Where", [model.op("IsNaN", [x]), x, stepped]);
}

const MAX_INT32 = 2 ** 31 - 1;

/** Clips to bounds, which may be infinite for whole numbers too. */
function clip(
  { model, inputs: [x], node }: Lowering,
  bounds: readonly number[],
): string {
  const isFloat = node.inputs[0].dtype === "float32";
  const limits = bounds.map((it) =>
    isFloat
      ? model.scalar(it)
      : model.scalar(Math.max(~MAX_INT32, Math.min(it, MAX_INT32)), "int32")
  );
  return model.op("Clip", [x, ...limits]);
}

const SELU = {
  alpha: { float: 1.6732632423543772 },
  gamma: { float: 1.0507009873554805 },
};

/** Elementwise kernels of one input. */
export const UNARY: Kernels = {
  Abs: numeric(direct("Abs")),
  Acos: floating("Acos"),
  Acosh: floating("Acosh"),
  Asin: floating("Asin"),
  Asinh: floating("Asinh"),
  Atan: floating("Atan"),
  Atanh: floating("Atanh"),
  Ceil: floating("Ceil"),
  Cos: floating("Cos"),
  Cosh: floating("Cosh"),
  Elu: floating("Elu"),
  Erf: floating("Erf"),
  Exp: typed("float32", direct("Exp")),
  Expm1: formula(expm1),
  Floor: floating("Floor"),
  Identity: elementwise(direct("Identity"), { inputs }),
  IsFinite: typed("bool", ({ model, inputs: [x] }) => {
    const bad = [model.op("IsNaN", [x]), model.op("IsInf", [x])];
    return model.op("Not", [model.op("Or", bad)]);
  }),
  IsInf: typed("bool", direct("IsInf")),
  IsNan: typed("bool", direct("IsNaN")),
  LeakyRelu: typed("float32", ({ model, inputs: [x], node }) => {
    const { alpha } = node.attributes as { alpha: number };
    return model.op("LeakyRelu", [x], { alpha: { float: alpha } });
  }),
  Log: floating("Log"),
  Log1p: formula(log1p),
  LogicalNot: elementwise(direct("Not"), { inputs }),
  Neg: numeric(direct("Neg")),
  Reciprocal: floating("Reciprocal"),
  Relu: numeric(direct("Relu")),
  Relu6: numeric((lowering) => clip(lowering, [0, 6])),
  Round: floating("Round"),
  Rsqrt: formula(({ model, inputs: [x] }) =>
    model.op("Reciprocal", [model.op("Sqrt", [x])])
  ),
  Selu: formula(({ model, inputs: [x] }) => model.op("Selu", [x], SELU)),
  Sigmoid: formula(sigmoid),
  Sign: numeric(direct("Sign")),
  Sin: floating("Sin"),
  Sinh: floating("Sinh"),
  Softplus: floating("Softplus"),
  Sqrt: floating("Sqrt"),
  Square: numeric(({ model, inputs: [x] }) => model.op("Mul", [x, x])),
  Step: formula(step),
  Tan: floating("Tan"),
  Tanh: floating("Tanh"),
  Cast: {
    inputs: ["x"],
    infer: ([x], attributes) => ({
      shape: x.shape,
      dtype: attributes.dtype as DType,
    }),
    lower: ({ model, inputs: [x], node }) =>
      model.cast(x, node.outputs[0].dtype),
  },
  ClipByValue: numeric((lowering) => {
    const { clipValueMin, clipValueMax } = lowering.node.attributes as Record<
      "clipValueMin" | "clipValueMax",
      number
    >;
    return clip(lowering, [clipValueMin, clipValueMax]);
  }),
};
