import * as tf from "@tensorflow/tfjs";
import type {
  Attributes,
  DType,
  Node,
  TensorType,
  Value,
} from "../graph/graph.ts";
import type { ModelBuilder } from "../onnx/model_builder.ts";
import type {
  HloTensor,
  ProgramBuilder,
} from "../stablehlo/program_builder.ts";

/** One operation on its way into an ONNX model. */
export interface Lowering<A = Attributes> {
  /** The operation. */
  readonly node: Node & { readonly attributes: A };
  /** Names of its inputs in the model. */
  readonly inputs: readonly string[];
  /** The model. */
  readonly model: ModelBuilder;
}

/** One operation on its way into a StableHLO program. */
export interface HloLowering<A = Attributes> {
  /** The operation. */
  readonly node: Node & { readonly attributes: A };
  /** Its inputs in the program. */
  readonly inputs: readonly HloTensor[];
  /** The program. */
  readonly program: ProgramBuilder;
}

/** Names of inputs in order, or `list` for any number of them. */
export type InputNames = readonly string[] | "list";

/** A kernel of TensorFlow.js that graphs hold, of attributes `A`. */
export interface PrimitiveKernel<A = Attributes> {
  readonly inputs: InputNames;
  /** Infers the shapes and types of the outputs. */
  infer(
    inputs: readonly Value[],
    attributes: A,
  ): TensorType | readonly TensorType[];
  /** Adds its ONNX operations; returns the names of the outputs. */
  lower(lowering: Lowering<A>): string | readonly string[];
  /** Adds its StableHLO operations; returns the outputs. */
  lowerHlo(lowering: HloLowering<A>): HloTensor | readonly HloTensor[];
}

/** A kernel of TensorFlow.js that is traced as other operations. */
export interface CompositeKernel<A = Attributes> {
  readonly inputs: InputNames;
  /** Computes it by the others; inputs that were not given are undefined. */
  compose(
    inputs: readonly tf.Tensor[],
    attributes: A,
  ): tf.Tensor | tf.Tensor[];
}

/** A kernel, as it is traced. */
export type Kernel = PrimitiveKernel | CompositeKernel;

/** Kernels by their names in TensorFlow.js. */
export type Kernels = Readonly<Record<string, Kernel>>;

/** Runs a kernel on the current backend, which traces it. */
export function run(
  op: string,
  inputs: tf.NamedTensorMap,
  attributes: Attributes,
): tf.Tensor {
  return tf.engine().runKernel(
    op,
    inputs,
    { ...attributes } as tf.NamedAttrMap,
  );
}

/**
 * Rounds floating-point numbers towards 0, to a type of whole ones. NaN and what
 * is too large become 0, as in JavaScript's arrays: ONNX leaves them open.
 */
export function truncated(model: ModelBuilder, x: string, to: DType): string {
  const fits = model.op("Less", [model.op("Abs", [x]), model.scalar(2 ** 31)]);
  const finite = model.op("Where", [fits, x, model.scalar(0)]);
  const whole = model.cast(finite, "int32");
  return to === "bool" ? isNotZero(model, whole) : whole;
}

/**
 * Casts whole numbers to Booleans: ONNX Runtime before 1.30 makes one of two casts,
 * and of 0.5 a 1.
 */
export function isNotZero(model: ModelBuilder, x: string): string {
  return model.op("Not", [model.op("Equal", [x, model.scalar(0, "int32")])]);
}

/** {@linkcode truncated} in a StableHLO program. */
export function truncatedHlo(
  program: ProgramBuilder,
  x: HloTensor,
  to: DType,
): HloTensor {
  const fits = program.compareWith("LT", program.map("abs", x), 2 ** 31);
  const finite = program.select(fits, x, program.fill(0, x));
  return program.cast(program.cast(finite, "int32"), to);
}

/** Adds the operations of a kernel; returns the name of what they make. */
export type Compute = (lowering: Lowering) => string;

/** Adds the operations of a kernel on tensors of one shape. */
export type HloCompute = (lowering: HloLowering) => HloTensor;

/** Operations of a kernel in ONNX and in StableHLO. */
export interface Computes {
  readonly onnx: Compute;
  readonly hlo: HloCompute;
}

/** Takes the operation of ONNX of that name. */
export function direct(op: string): Compute {
  return ({ model, inputs }) => model.op(op, inputs);
}

/** Takes the operation of StableHLO of that name. */
export function directHlo(op: string): HloCompute {
  return ({ program, inputs }) => program.map(op, ...inputs);
}

/** Takes the operations of these names. */
export function named(onnx: string, hlo: string): Computes {
  return { onnx: direct(onnx), hlo: directHlo(hlo) };
}

/** Numbers that an elementwise kernel computes with, and of what it makes. */
interface Elementwise {
  readonly inputs: InputNames;
  /**
   * Type that inputs are cast to before: that of floating-point numbers, or for
   * `numbers` that of whole ones, if they are booleans.
   */
  readonly by?: "float32" | "numbers";
  /**
   * Type of what the operations make.
   *
   * @default the first input's, to which it is cast
   */
  readonly dtype?: DType;
}

/** Makes a kernel that computes number by number, with broadcasting. */
export function elementwise(
  { onnx, hlo }: Computes,
  { inputs, by, dtype }: Elementwise,
): PrimitiveKernel {
  /** Returns the type that inputs of a type are cast to. */
  const typeFor = (of: DType): DType => {
    if (by === undefined) return of;
    if (by === "float32") return by;
    return of === "bool" ? "int32" : of;
  };
  return {
    inputs,
    infer: (values) => ({
      shape: values.map(({ shape }) => [...shape])
        .reduce(tf.backend_util.assertAndGetBroadcastShape),
      dtype: dtype ?? values[0].dtype,
    }),
    lower: (lowering) => {
      const { model, node } = lowering;
      const [{ dtype: of }] = node.inputs;
      if (by === undefined) return onnx(lowering);
      const to = typeFor(of);
      const operands = lowering.inputs
        .map((it, i) => model.cast(it, to, node.inputs[i].dtype));
      const made = onnx({ ...lowering, inputs: operands });
      if (dtype !== undefined || to === of) return made;
      return by === "float32"
        ? truncated(model, made, of)
        : model.cast(made, of);
    },
    lowerHlo: (lowering) => {
      const { program, node } = lowering;
      const [{ dtype: of }] = node.inputs;
      const to = typeFor(of);
      const { shape } = node.outputs[0];
      const operands = lowering.inputs
        .map((it) => program.broadcast(program.cast(it, to), shape));
      const made = hlo({ ...lowering, inputs: operands });
      if (dtype !== undefined || to === of) return made;
      return by === "float32"
        ? truncatedHlo(program, made, of)
        : program.cast(made, of);
    },
  };
}
