import * as tf from "@tensorflow/tfjs";
import type { DType } from "../graph/graph.ts";
import { fromBlocked, knownBlocked } from "./blocked_convolution.ts";
import type { Direction, HloTensor } from "../stablehlo/program_builder.ts";
import {
  type Computes,
  direct,
  directHlo,
  elementwise,
  type HloLowering,
  type Kernels,
  type Lowering,
  named,
  type PrimitiveKernel,
  truncated,
  truncatedHlo,
} from "./kernel.ts";

const inputs = ["a", "b"];

/** Makes numbers of numbers; booleans are computed with as whole numbers. */
function arithmetic(compute: Computes): PrimitiveKernel {
  return elementwise(compute, { inputs, by: "numbers" });
}

/** Computes in floating-point numbers, turned into the inputs' type. */
function formula(compute: Computes): PrimitiveKernel {
  return elementwise(compute, { inputs, by: "float32" });
}

const isFloat = ({ node }: Lowering): boolean =>
  node.inputs[0].dtype === "float32";

/**
 * Divides and rounds down, to a whole number; 0 where the divisor is. Whole
 * numbers are divided as doubles, which hold them: ONNX rounds towards 0, and
 * ONNX Runtime ends the process at -(2 ** 31) / -1.
 */
function floorDiv(lowering: Lowering): string {
  const { model, inputs: [a, b] } = lowering;
  if (isFloat(lowering)) {
    const quotient = model.op("Floor", [model.op("Div", [a, b])]);
    return truncated(model, quotient, "int32");
  }
  const [x, y] = [a, b].map((it) => model.op("Cast", [it], { to: 11 }));
  const quotient = model.op("Floor", [model.op("Div", [x, y])]);
  const isZero = equals(model, model.cast(b, "int32"), 0);
  return model.op("Where", [
    isZero,
    model.scalar(0, "int32"),
    model.cast(quotient, "int32"),
  ]);
}

function floorDivHlo({ program, inputs: [a, b] }: HloLowering): HloTensor {
  if (a.dtype === "float32") {
    const quotient = program.map("floor", program.map("divide", a, b));
    return truncatedHlo(program, quotient, "int32");
  }
  const [x, y] = [a, b].map((it) => program.cast(it, "int32"));
  const whole = program.map("divide", x, y);
  const rest = program.map("remainder", x, y);
  const isUneven = program.compareWith("NE", rest, 0);
  const below = program.map(
    "and",
    isUneven,
    program.map("xor", isBelow(program, x), isBelow(program, y)),
  );
  const floored = program.select(
    below,
    program.with("subtract", whole, 1),
    whole,
  );
  const none = program.fill(0, floored);
  return program.select(program.compareWith("EQ", y, 0), none, floored);
}

function isBelow(program: HloLowering["program"], x: HloTensor): HloTensor {
  return program.compareWith("LT", x, 0);
}

/** Computes the rest of {@link floorDiv}, which has the divisor's sign. */
function floorMod(lowering: Lowering): string {
  const { model, inputs: [a, b] } = lowering;
  if (!isFloat(lowering)) return wholeMod(lowering);
  const zero = model.scalar(0);
  const rest = model.op("Mod", [a, b], { fmod: 1 });
  const signs = [rest, b].map((it) => model.op("Less", [it, zero]));
  const none = model.op("Equal", [rest, zero]);
  const same = model.op("Not", [model.op("Xor", signs)]);
  const keep = model.op("Or", [none, same]);
  return model.op("Where", [keep, rest, model.op("Add", [rest, b])]);
}

function modHlo({ program, inputs: [a, b] }: HloLowering): HloTensor {
  const rest = program.map("remainder", a, b);
  const none = program.compareWith("EQ", rest, 0);
  const apart = program.map("xor", isBelow(program, rest), isBelow(program, b));
  const keep = program.map("or", none, program.map("not", apart));
  const made = program.select(keep, rest, program.map("add", rest, b));
  if (a.dtype === "float32") return made;
  const zero = program.fill(0, b);
  return program.select(program.compare("EQ", b, zero), zero, made);
}

/** Divides by 1 in place of -1 and 0, where ONNX Runtime fails. */
function wholeMod({ model, inputs: [a, b] }: Lowering): string {
  const one = model.scalar(1, "int32");
  const tiny = model.op("And", [
    model.op("Less", [b, model.scalar(2, "int32")]),
    model.op("Greater", [b, model.scalar(-2, "int32")]),
  ]);
  return model.op("Mod", [a, model.op("Where", [tiny, one, b])]);
}

/** Computes a power; for whole numbers, 0 where it would be infinite. */
function pow(lowering: Lowering): string {
  const { model, inputs: [a, b] } = lowering;
  const power = model.op("Pow", [a, b]);
  if (isFloat(lowering)) return power;
  const zero = model.scalar(0, "int32");
  const infinite = model.op("And", [
    equals(model, a, 0),
    model.op("Less", [b, zero]),
  ]);
  return model.op("Where", [infinite, zero, power]);
}

function powHlo({ program, inputs: [a, b] }: HloLowering): HloTensor {
  const power = program.map("power", a, b);
  if (a.dtype === "float32") return power;
  const infinite = program.map(
    "and",
    program.compareWith("EQ", a, 0),
    isBelow(program, b),
  );
  return program.select(infinite, program.fill(0, a), power);
}

/** Compares whole numbers with a number. */
function equals(model: Lowering["model"], x: string, number: number): string {
  return model.op("Equal", [x, model.scalar(number, "int32")]);
}

/** Computes the angle of a point, from the half plane that `atan` knows. */
function atan2({ model, inputs: [y, x] }: Lowering): string {
  const zero = model.scalar(0);
  const right = model.op("Atan", [model.op("Div", [y, x])]);
  const half = model.op("Where", [
    model.op("Less", [y, zero]),
    model.scalar(-Math.PI),
    model.scalar(Math.PI),
  ]);
  const left = model.op("Add", [right, half]);
  const side = model.op("Where", [model.op("Less", [x, zero]), left, right]);
  const quarter = model.scalar(Math.PI / 2);
  const onAxis = model.op("Mul", [model.op("Sign", [y]), quarter]);
  return model.op("Where", [model.op("Equal", [x, zero]), onAxis, side]);
}

/** Compares; booleans as whole numbers, as ONNX compares none by size. */
function comparison(op: string, direction: Direction): PrimitiveKernel {
  return elementwise({
    onnx: direct(op),
    hlo: ({ program, inputs: [a, b] }) => program.compare(direction, a, b),
  }, { inputs, by: "numbers", dtype: "bool" });
}

const SELECT: PrimitiveKernel = {
  inputs: ["condition", "t", "e"],
  infer: ([, t, e]) => ({
    shape: t.shape,
    dtype: tf.upcastType(
      t.dtype as tf.DataType,
      e.dtype as tf.DataType,
    ) as DType,
  }),
  lower: ({ model, inputs: [condition, ...sides], node }) => {
    const [by, ...types] = node.inputs;
    const { shape, dtype } = node.outputs[0];
    // ONNX Runtime chooses between no booleans.
    const between = dtype === "bool" ? "int32" : dtype;
    const [t, e] = sides
      .map((it, i) => model.cast(it, between, types[i].dtype));
    // A condition of rank 1 chooses rows.
    const rows = by.shape.length === 1 && shape.length > 1;
    const column = [by.shape[0], ...shape.slice(1).map(() => 1)];
    const chosen = rows ? model.reshape(condition, column) : condition;
    const made = model.op("Where", [chosen, t, e]);
    return model.cast(made, dtype, between);
  },
  lowerHlo: ({ program, inputs: [condition, ...sides], node }) => {
    const { shape, dtype } = node.outputs[0];
    const rows = condition.shape.length === 1 && shape.length > 1;
    const chosen = rows
      ? program.spread(condition, { shape, axes: [0] })
      : program.broadcast(condition, shape);
    const [t, e] = sides
      .map((it) => program.broadcast(program.cast(it, dtype), shape));
    return program.select(chosen, t, e);
  },
};

/** So steep that any number above 0 becomes at least 1, but for denormal ones. */
const STEEP = { alpha: { float: 3e38 }, beta: { float: 0 } };

/**
 * Keeps a gradient where `y` is above 0, and 0 elsewhere: `HardSigmoid` is a
 * line cut off at 0 and 1. It takes half as long as a comparison made a number.
 */
function masked({ model }: Lowering, dy: string, y: string): string {
  return model.op("Mul", [dy, model.op("HardSigmoid", [y], STEEP)]);
}

/** The gradient of `Relu`, from what that made. */
const RELU_GRADIENT: PrimitiveKernel = {
  inputs: ["dy", "y"],
  infer: ([dy]) => dy,
  lower: (lowering) => {
    const { model, inputs: [dy, y], node } = lowering;
    const blocked = [dy, y].map((it) => knownBlocked(model, it));
    if (blocked.includes(undefined)) return masked(lowering, dy, y);
    const made = masked(lowering, blocked[0]!, blocked[1]!);
    return fromBlocked(model, made, node.outputs[0].shape[3]);
  },
  lowerHlo: ({ program, inputs: [dy, y] }) =>
    program.select(program.compareWith("GT", y, 0), dy, program.fill(0, dy)),
};

/** Elementwise kernels of two inputs. */
export const BINARY: Kernels = {
  Add: arithmetic(named("Add", "add")),
  Sub: arithmetic(named("Sub", "subtract")),
  Multiply: arithmetic(named("Mul", "multiply")),
  RealDiv: formula(named("Div", "divide")),
  FloorDiv: elementwise({ onnx: floorDiv, hlo: floorDivHlo }, {
    inputs,
    dtype: "int32",
  }),
  Mod: arithmetic({ onnx: floorMod, hlo: modHlo }),
  Pow: arithmetic({ onnx: pow, hlo: powHlo }),
  Maximum: arithmetic(named("Max", "maximum")),
  Minimum: arithmetic(named("Min", "minimum")),
  SquaredDifference: arithmetic({
    onnx: ({ model, inputs }) => {
      const difference = model.op("Sub", inputs);
      return model.op("Mul", [difference, difference]);
    },
    hlo: ({ program, inputs }) => {
      const difference = program.map("subtract", ...inputs);
      return program.map("multiply", difference, difference);
    },
  }),
  Atan2: formula({ onnx: atan2, hlo: directHlo("atan2") }),
  Equal: comparison("Equal", "EQ"),
  NotEqual: elementwise({
    onnx: ({ model, inputs }) => model.op("Not", [model.op("Equal", inputs)]),
    hlo: ({ program, inputs: [a, b] }) => program.compare("NE", a, b),
  }, { inputs, dtype: "bool" }),
  Less: comparison("Less", "LT"),
  LessEqual: comparison("LessOrEqual", "LE"),
  Greater: comparison("Greater", "GT"),
  GreaterEqual: comparison("GreaterOrEqual", "GE"),
  LogicalAnd: elementwise(named("And", "and"), { inputs, dtype: "bool" }),
  LogicalOr: elementwise(named("Or", "or"), { inputs, dtype: "bool" }),
  EluGrad: elementwise({
    onnx: ({ model, inputs: [dy, y] }) => {
      const above = model.op("GreaterOrEqual", [y, model.scalar(0)]);
      const slope = model.op("Add", [y, model.scalar(1)]);
      return model.op("Where", [above, dy, model.op("Mul", [dy, slope])]);
    },
    hlo: ({ program, inputs: [dy, y] }) => {
      const slope = program.with("add", y, 1);
      return program.select(
        program.compareWith("GE", y, 0),
        dy,
        program.map("multiply", dy, slope),
      );
    },
  }, { inputs: ["dy", "y"] }),
  Select: SELECT,
  AddN: elementwise({
    onnx: ({ model, inputs }) =>
      inputs.reduce((sum, it) => model.op("Add", [sum, it])),
    hlo: ({ program, inputs }) =>
      inputs.reduce((sum, it) => program.map("add", sum, it)),
  }, { inputs: "list", by: "numbers" }),
  ReluGrad: RELU_GRADIENT,
};
