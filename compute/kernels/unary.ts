import type { DType } from "../graph/graph.ts";
import type { Kernels, Lowering, PrimitiveKernel } from "./kernel.ts";

/** An elementwise kernel of one input, whose numbers have its type. */
function unary(lower: PrimitiveKernel["lower"]): PrimitiveKernel {
  return {
    inputs: ["x"],
    infer: ([x]) => ({ shape: x.shape, dtype: x.dtype }),
    lower,
  };
}

/** The operation of ONNX of that name, which takes floating-point numbers. */
function floating(op: string): PrimitiveKernel {
  return unary((lowering) =>
    inFloat(lowering, (x) => lowering.model.op(op, [x]))
  );
}

/** The operation of ONNX of that name, which takes any numbers. */
function direct(op: string): PrimitiveKernel {
  return unary(({ model, inputs }) => model.op(op, inputs));
}

/** A formula over floating-point numbers. */
function formula(
  compute: (x: string, lowering: Lowering) => string,
): PrimitiveKernel {
  return unary((lowering) => inFloat(lowering, (x) => compute(x, lowering)));
}

/** A question about each number. */
function question(
  compute: (x: string, lowering: Lowering) => string,
): PrimitiveKernel {
  return {
    inputs: ["x"],
    infer: ([x]) => ({ shape: x.shape, dtype: "bool" }),
    lower: (lowering) => compute(toFloat(lowering), lowering),
  };
}

/** The input as float32. */
function toFloat({ node, inputs, model }: Lowering): string {
  const [{ dtype }] = node.inputs;
  if (dtype === "float32") return inputs[0];
  return model.op("Cast", inputs, { to: 1 });
}

/** Computes in float32 and turns the result into the input's type. */
function inFloat(lowering: Lowering, compute: (x: string) => string): string {
  const { node, model } = lowering;
  const result = compute(toFloat(lowering));
  const [{ dtype }] = node.inputs;
  if (dtype === "float32") return result;
  return model.op("Cast", [result], { to: ONNX_TYPES[dtype] });
}

const ONNX_TYPES: Readonly<Record<DType, number>> = {
  float32: 1,
  uint8: 2,
  int32: 6,
  bool: 9,
};

/**
 * `exp(x) - 1` as `tanh(x / 2) * (exp(x) + 1)`, which keeps the digits of
 * numbers near 0.
 */
function expm1(x: string, { model }: Lowering): string {
  const half = model.op("Mul", [x, model.scalar(0.5)]);
  const above = model.op("Add", [model.op("Exp", [x]), model.scalar(1)]);
  return model.op("Mul", [model.op("Tanh", [half]), above]);
}

/**
 * `log(1 + x)` with the rounding of `1 + x` made good (Kahan): where `1 + x`
 * is `u`, it is `log(u) * x / (u - 1)`.
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

/** 1 above 0, `alpha` elsewhere; NaN stays. */
function step(x: string, { model, node }: Lowering): string {
  const { alpha = 0 } = node.attributes as { alpha?: number };
  const above = model.op("Greater", [x, model.scalar(0)]);
  const sides = [model.scalar(1), model.scalar(alpha)];
  const stepped = model.op("Where", [above, ...sides]);
  return model.op("Where", [model.op("IsNaN", [x]), x, stepped]);
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
  Exp: floating("Exp"),
  Expm1: formula(expm1),
  Floor: floating("Floor"),
  Identity: direct("Identity"),
  IsFinite: question((x, { model }) => {
    const bad = [model.op("IsNaN", [x]), model.op("IsInf", [x])];
    return model.op("Not", [model.op("Or", bad)]);
  }),
  IsInf: question((x, { model }) => model.op("IsInf", [x])),
  IsNan: question((x, { model }) => model.op("IsNaN", [x])),
  LeakyRelu: formula((x, { model, node }) => {
    const { alpha } = node.attributes as { alpha: number };
    return model.op("LeakyRelu", [x], { alpha: { float: alpha } });
  }),
  Log: floating("Log"),
  Log1p: formula(log1p),
  LogicalNot: direct("Not"),
  Neg: direct("Neg"),
  Reciprocal: floating("Reciprocal"),
  Relu: floating("Relu"),
  Relu6: formula((x, { model }) =>
    model.op("Clip", [x, model.scalar(0), model.scalar(6)])
  ),
  Round: floating("Round"),
  Rsqrt: formula((x, { model }) =>
    model.op("Reciprocal", [model.op("Sqrt", [x])])
  ),
  Selu: formula((x, { model }) => model.op("Selu", [x], SELU)),
  Sigmoid: floating("Sigmoid"),
  Sign: direct("Sign"),
  Sin: floating("Sin"),
  Sinh: floating("Sinh"),
  Softplus: floating("Softplus"),
  Sqrt: floating("Sqrt"),
  Square: unary(({ model, inputs: [x] }) => model.op("Mul", [x, x])),
  Step: formula(step),
  Tan: floating("Tan"),
  Tanh: floating("Tanh"),
  Cast: {
    inputs: ["x"],
    infer: ([x], attributes) => ({
      shape: x.shape,
      dtype: attributes.dtype as DType,
    }),
    lower: ({ model, inputs, node }) =>
      model.op("Cast", inputs, { to: ONNX_TYPES[node.outputs[0].dtype] }),
  },
  ClipByValue: unary(({ model, inputs, node }) => {
    const { clipValueMin, clipValueMax } = node.attributes as {
      clipValueMin: number;
      clipValueMax: number;
    };
    const { dtype } = node.inputs[0];
    return model.op("Clip", [
      ...inputs,
      model.scalar(clipValueMin, dtype),
      model.scalar(clipValueMax, dtype),
    ]);
  }),
};
