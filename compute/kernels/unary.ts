import type { DType } from "../graph/graph.ts";
import {
  type Kernels,
  type Lowering,
  type PrimitiveKernel,
  truncated,
} from "./kernel.ts";

/** Makes an elementwise kernel of one input, whose numbers have its type. */
function unary(lower: PrimitiveKernel["lower"]): PrimitiveKernel {
  return {
    inputs: ["x"],
    infer: ([x]) => x,
    lower,
  };
}

type Compute = (x: string, lowering: Lowering) => string;

/** Computes a formula in any numbers; those of booleans are whole ones. */
function numeric(compute: Compute): PrimitiveKernel {
  return unary((lowering) => {
    const { model, inputs: [x], node } = lowering;
    if (node.inputs[0].dtype !== "bool") return compute(x, lowering);
    return model.cast(compute(model.cast(x, "int32"), lowering), "bool");
  });
}

/** Takes the operation of ONNX of that name, which takes any numbers. */
function direct(op: string): PrimitiveKernel {
  return numeric((x, { model }) => model.op(op, [x]));
}

/**
 * Computes a formula in floating-point numbers, turned into the input's type.
 */
function formula(compute: Compute): PrimitiveKernel {
  return unary((lowering) => {
    const { node: { inputs: [{ dtype }] }, model } = lowering;
    const result = compute(toFloat(lowering), lowering);
    return dtype === "float32" ? result : truncated(model, result, dtype);
  });
}

/** Takes the operation of ONNX of that name, in floating-point numbers. */
function floating(op: string): PrimitiveKernel {
  return formula((x, { model }) => model.op(op, [x]));
}

/** Computes a formula in floating-point numbers, of a type of its own. */
function typed(dtype: "float32" | "bool", compute: Compute): PrimitiveKernel {
  return {
    inputs: ["x"],
    infer: ([x]) => ({ shape: x.shape, dtype }),
    lower: (lowering) => compute(toFloat(lowering), lowering),
  };
}

/** Casts the input to float32. */
function toFloat({ node, inputs: [x], model }: Lowering): string {
  return node.inputs[0].dtype === "float32" ? x : model.cast(x, "float32");
}

/**
 * Computes `exp(x) - 1` as `tanh(x / 2) * (exp(x) + 1)`, which keeps the digits
 * of numbers near 0.
 */
function expm1(x: string, { model }: Lowering): string {
  const half = model.op("Mul", [x, model.scalar(0.5)]);
  const above = model.op("Add", [model.op("Exp", [x]), model.scalar(1)]);
  return model.op("Mul", [model.op("Tanh", [half]), above]);
}

/**
 * Computes `log(1 + x)` with the rounding of `1 + x` made good (Kahan): where
 * `1 + x` is `u`, it is `log(u) * x / (u - 1)`.
 */
function log1p(x: string, { model }: Lowering): string {
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
function sigmoid(x: string, { model }: Lowering): string {
  const inverse = model.op("Exp", [model.op("Neg", [x])]);
  return model.op("Reciprocal", [model.op("Add", [inverse, model.scalar(1)])]);
}

/** Returns 1 above 0, `alpha` elsewhere; NaN stays. */
function step(x: string, { model, node }: Lowering): string {
  const { alpha = 0 } = node.attributes as { alpha?: number };
  const above = model.op("Greater", [x, model.scalar(0)]);
  const sides = [model.scalar(1), model.scalar(alpha)];
  const stepped = model.op("Where", [above, ...sides]);
  return model.op("Where", [model.op("IsNaN", [x]), x, stepped]);
}

const MAX_INT32 = 2 ** 31 - 1;

/** Clips to bounds, which may be infinite for whole numbers too. */
function clip(
  x: string,
  { model, node }: Lowering,
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
  Abs: direct("Abs"),
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
  Exp: typed("float32", (x, { model }) => model.op("Exp", [x])),
  Expm1: formula(expm1),
  Floor: floating("Floor"),
  Identity: unary(({ model, inputs }) => model.op("Identity", inputs)),
  IsFinite: typed("bool", (x, { model }) => {
    const bad = [model.op("IsNaN", [x]), model.op("IsInf", [x])];
    return model.op("Not", [model.op("Or", bad)]);
  }),
  IsInf: typed("bool", (x, { model }) => model.op("IsInf", [x])),
  IsNan: typed("bool", (x, { model }) => model.op("IsNaN", [x])),
  LeakyRelu: typed("float32", (x, { model, node }) => {
    const { alpha } = node.attributes as { alpha: number };
    return model.op("LeakyRelu", [x], { alpha: { float: alpha } });
  }),
  Log: floating("Log"),
  Log1p: formula(log1p),
  LogicalNot: unary(({ model, inputs }) => model.op("Not", inputs)),
  Neg: direct("Neg"),
  Reciprocal: floating("Reciprocal"),
  Relu: direct("Relu"),
  Relu6: numeric((x, lowering) => clip(x, lowering, [0, 6])),
  Round: floating("Round"),
  Rsqrt: formula((x, { model }) =>
    model.op("Reciprocal", [model.op("Sqrt", [x])])
  ),
  Selu: formula((x, { model }) => model.op("Selu", [x], SELU)),
  Sigmoid: formula(sigmoid),
  Sign: direct("Sign"),
  Sin: floating("Sin"),
  Sinh: floating("Sinh"),
  Softplus: floating("Softplus"),
  Sqrt: floating("Sqrt"),
  Square: numeric((x, { model }) => model.op("Mul", [x, x])),
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
  ClipByValue: numeric((x, lowering) => {
    const { clipValueMin, clipValueMax } = lowering.node.attributes as Record<
      "clipValueMin" | "clipValueMax",
      number
    >;
    return clip(x, lowering, [clipValueMin, clipValueMax]);
  }),
};
