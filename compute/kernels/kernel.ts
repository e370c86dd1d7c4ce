import * as tf from "@tensorflow/tfjs";
import type {
  Attributes,
  DType,
  Node,
  TensorType,
  Value,
} from "../graph/graph.ts";
import type { ModelBuilder } from "../onnx/model_builder.ts";

/** One operation on its way into an ONNX model. */
export interface Lowering<A = Attributes> {
  /** The operation. */
  readonly node: Node & { readonly attributes: A };
  /** Names of its inputs in the model. */
  readonly inputs: readonly string[];
  /** The model. */
  readonly model: ModelBuilder;
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

/** Runs a kernel on the present backend, which traces it. */
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
  return to === "bool" ? model.cast(whole, "bool") : whole;
}

/** Adds the operations of a kernel; returns the name of what they make. */
export type Compute = (lowering: Lowering) => string;

/** Takes the operation of ONNX of that name. */
export function direct(op: string): Compute {
  return ({ model, inputs }) => model.op(op, inputs);
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
  compute: Compute,
  { inputs, by, dtype }: Elementwise,
): PrimitiveKernel {
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
      if (by === undefined) return compute(lowering);
      const whole = of === "bool" ? "int32" : of;
      const to = by === "numbers" ? whole : by;
      const operands = lowering.inputs
        .map((it, i) => model.cast(it, to, node.inputs[i].dtype));
      const made = compute({ ...lowering, inputs: operands });
      if (dtype !== undefined || to === of) return made;
      return by === "float32"
        ? truncated(model, made, of)
        : model.cast(made, of);
    },
  };
}
