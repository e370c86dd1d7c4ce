import type { DType } from "../graph/graph.ts";
import type { HloTensor } from "../stablehlo/program_builder.ts";
import {
  type Computes,
  direct,
  directHlo,
  elementwise,
  type HloCompute,
  type HloLowering,
  isNotZero,
  type Kernels,
  type Lowering,
  named,
  type PrimitiveKernel,
} from "./kernel.ts";

const inputs = ["x"];

/** Computes in any numbers; those of booleans are whole ones. */
function numeric(compute: Computes): PrimitiveKernel {
  return elementwise(compute, { inputs, by: "numbers" });
}

/** Computes in floating-point numbers, turned into the input's type. */
function formula(compute: Computes): PrimitiveKernel {
  return elementwise(compute, { inputs, by: "float32" });
}

/** Takes the operations of these names, in floating-point numbers. */
function floating(onnx: string, hlo: string): PrimitiveKernel {
  return formula(named(onnx, hlo));
}

/** Computes in floating-point numbers, of a type of its own. */
function typed(dtype: "float32" | "bool", compute: Computes): PrimitiveKernel {
  return elementwise(compute, { inputs, by: "float32", dtype });
}

/**
 * Computes `exp(x) - 1` as `tanh(x / 2) * (exp(x) + 1)`, which keeps the digits
 * of numbers near 0.
 */
function expm1({ model, inputs: [x] }: Lowering): string {
  const half = model.op("Mul", [x, model.scalar(0.5)]);
  const above = model.op("Add", [model.op("Exp", [x]), model.scalar(1)]);
  const made = model.op("Mul", [model.op("Tanh", [half]), above]);
  return model.op("Max", [made, model.scalar(-1)]);
}

/**
 * Cuts tanh off, as ONNX Runtime's exceeds 1 by the last bit between 8 and 9;
 * not where the operations that take it round more than that.
 */
function tanh({ model, inputs: [x], node: { attributes } }: Lowering): string {
  const made = model.op("Tanh", [x]);
  return attributes.isRounded
    ? made
    : model.op("Clip", [made, model.scalar(-1), model.scalar(1)]);
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

/** {@linkcode clip} in a StableHLO program. */
function clipHlo(
  { program, inputs: [x] }: HloLowering,
  [least, most]: readonly number[],
): HloTensor {
  const bound = (it: number) =>
    x.dtype === "float32" ? it : Math.max(~MAX_INT32, Math.min(it, MAX_INT32));
  const above = program.with("maximum", x, bound(least));
  return program.with("minimum", above, bound(most));
}

/** Makes `scale * x` above 0, and `slope * (exp(x) - 1)` below. */
function exponentialBelow(slope: number, scale: number): HloCompute {
  return ({ program, inputs: [x] }) =>
    program.select(
      program.compareWith("GE", x, 0),
      program.with("multiply", x, scale),
      program.with(
        "multiply",
        program.map("exponential_minus_one", x),
        slope,
      ),
    );
}

/** Computes `log(1 + exp(x))` without large numbers. */
const softplusHlo: HloCompute = ({ program, inputs: [x] }) => {
  const small = program.map("exponential", negatedSize(program, x));
  const rest = program.map("log_plus_one", small);
  return program.map("add", program.with("maximum", x, 0), rest);
};

function negatedSize(
  program: HloLowering["program"],
  x: HloTensor,
): HloTensor {
  return program.map("negate", program.map("abs", x));
}

const sigmoidHlo: HloCompute = ({ program, inputs: [x] }) => {
  const inverse = program.map("exponential", program.map("negate", x));
  const one = program.fill(1, x);
  return program.map("divide", one, program.map("add", inverse, one));
};

const stepHlo: HloCompute = ({ program, inputs: [x], node }) => {
  const { alpha = 0 } = node.attributes as { alpha?: number };
  const above = program.compareWith("GT", x, 0);
  const sides = [1, alpha].map((it) => program.fill(it, x));
  const stepped = program.select(above, sides[0], sides[1]);
  return program.select(program.compare("NE", x, x), x, stepped);
};

const SELU_ALPHA = 1.6732632423543772, SELU_SCALE = 1.0507009873554805;

const SELU = { alpha: { float: SELU_ALPHA }, gamma: { float: SELU_SCALE } };

/** Elementwise kernels of one input. */
export const UNARY: Kernels = {
  Abs: numeric(named("Abs", "abs")),
  Acos: floating("Acos", "chlo.acos"),
  Acosh: floating("Acosh", "chlo.acosh"),
  Asin: floating("Asin", "chlo.asin"),
  Asinh: floating("Asinh", "chlo.asinh"),
  Atan: floating("Atan", "chlo.atan"),
  Atanh: floating("Atanh", "chlo.atanh"),
  Ceil: floating("Ceil", "ceil"),
  Cos: floating("Cos", "cosine"),
  Cosh: floating("Cosh", "chlo.cosh"),
  Elu: formula({ onnx: direct("Elu"), hlo: exponentialBelow(1, 1) }),
  Erf: formula({
    // ONNX Runtime 1.24's exceeds 1 by the last bit, and is 1 of NaN.
    onnx: ({ model, inputs: [x] }) =>
      model.op("Where", [
        model.op("IsNaN", [x]),
        x,
        model.op("Clip", [
          model.op("Erf", [x]),
          model.scalar(-1),
          model.scalar(1),
        ]),
      ]),
    // XLA's exceeds 1 by the last bit between 3.8 and 4.
    hlo: ({ program, inputs, ...rest }) =>
      clipHlo(
        { program, inputs: [program.map("chlo.erf", ...inputs)], ...rest },
        [-1, 1],
      ),
  }),
  Exp: typed("float32", named("Exp", "exponential")),
  Expm1: formula({ onnx: expm1, hlo: directHlo("exponential_minus_one") }),
  Floor: floating("Floor", "floor"),
  Identity: elementwise({
    onnx: direct("Identity"),
    hlo: ({ inputs: [x] }) => x,
  }, { inputs }),
  IsFinite: typed("bool", {
    onnx: ({ model, inputs: [x] }) => {
      const bad = [model.op("IsNaN", [x]), model.op("IsInf", [x])];
      return model.op("Not", [model.op("Or", bad)]);
    },
    hlo: ({ program, inputs: [x] }) =>
      program.op("is_finite", [x], { ...x, dtype: "bool" }),
  }),
  IsInf: typed("bool", {
    onnx: direct("IsInf"),
    hlo: ({ program, inputs: [x] }) =>
      program.compareWith("EQ", program.map("abs", x), Infinity),
  }),
  IsNan: typed("bool", {
    onnx: direct("IsNaN"),
    hlo: ({ program, inputs: [x] }) => program.compare("NE", x, x),
  }),
  LeakyRelu: typed("float32", {
    onnx: ({ model, inputs: [x], node }) => {
      const { alpha } = node.attributes as { alpha: number };
      return model.op("LeakyRelu", [x], { alpha: { float: alpha } });
    },
    hlo: ({ program, inputs: [x], node }) => {
      const { alpha } = node.attributes as { alpha: number };
      const below = program.compareWith("LT", x, 0);
      return program.select(below, program.with("multiply", x, alpha), x);
    },
  }),
  Log: floating("Log", "log"),
  Log1p: formula({ onnx: log1p, hlo: directHlo("log_plus_one") }),
  LogicalNot: elementwise(named("Not", "not"), { inputs }),
  Neg: numeric(named("Neg", "negate")),
  Reciprocal: formula({
    onnx: direct("Reciprocal"),
    hlo: ({ program, inputs: [x] }) =>
      program.map("divide", program.fill(1, x), x),
  }),
  Relu: numeric({
    onnx: direct("Relu"),
    hlo: ({ program, inputs: [x] }) => program.with("maximum", x, 0),
  }),
  Relu6: numeric({
    onnx: (lowering) => clip(lowering, [0, 6]),
    hlo: (lowering) => clipHlo(lowering, [0, 6]),
  }),
  Round: floating("Round", "round_nearest_even"),
  Rsqrt: formula({
    onnx: ({ model, inputs: [x] }) =>
      model.op("Reciprocal", [model.op("Sqrt", [x])]),
    hlo: ({ program, inputs: [x] }) => program.map("rsqrt", x),
  }),
  Selu: formula({
    onnx: ({ model, inputs: [x] }) => model.op("Selu", [x], SELU),
    hlo: exponentialBelow(SELU_SCALE * SELU_ALPHA, SELU_SCALE),
  }),
  Sigmoid: formula({ onnx: sigmoid, hlo: sigmoidHlo }),
  Sign: numeric(named("Sign", "sign")),
  Sin: floating("Sin", "sine"),
  Sinh: floating("Sinh", "chlo.sinh"),
  Softplus: formula({ onnx: direct("Softplus"), hlo: softplusHlo }),
  Sqrt: floating("Sqrt", "sqrt"),
  Square: numeric({
    onnx: ({ model, inputs: [x] }) => model.op("Mul", [x, x]),
    hlo: ({ program, inputs: [x] }) => program.map("multiply", x, x),
  }),
  Step: formula({ onnx: step, hlo: stepHlo }),
  Tan: floating("Tan", "tan"),
  Tanh: formula({ onnx: tanh, hlo: directHlo("tanh") }),
  // 1 - y^2, cut off at 0: as many operations as without the cut.
  TanhSlope: formula({
    onnx: ({ model, inputs: [y] }) =>
      model.op("HardSigmoid", [model.op("Mul", [y, y])], {
        alpha: { float: -1 },
        beta: { float: 1 },
      }),
    hlo: ({ program, inputs: [y] }) => {
      const slope = program.map("negate", program.map("multiply", y, y));
      return program.with("add", slope, 1);
    },
  }),
  Cast: {
    inputs: ["x"],
    infer: ([x], attributes) => ({
      shape: x.shape,
      dtype: attributes.dtype as DType,
    }),
    lower: ({ model, inputs: [x], node }) => {
      const [{ dtype: from }] = node.inputs, [{ dtype: to }] = node.outputs;
      return from === "int32" && to === "bool"
        ? isNotZero(model, x)
        : model.cast(x, to);
    },
    lowerHlo: ({ program, inputs: [x], node }) =>
      program.cast(x, node.outputs[0].dtype),
  },
  ClipByValue: numeric({
    onnx: (lowering) => clip(lowering, boundsOf(lowering)),
    hlo: (lowering) => clipHlo(lowering, boundsOf(lowering)),
  }),
};

/** Returns the bounds of `ClipByValue`. */
function boundsOf(
  { node: { attributes } }: Pick<Lowering, "node">,
): readonly number[] {
  const { clipValueMin, clipValueMax } = attributes as Record<
    "clipValueMin" | "clipValueMax",
    number
  >;
  return [clipValueMin, clipValueMax];
}
