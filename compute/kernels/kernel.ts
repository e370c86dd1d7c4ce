import type {
  Attributes,
  DType,
  Node,
  TensorType,
  Value,
} from "../graph/graph.ts";
import type { ModelBuilder } from "../onnx/model_builder.ts";
import { ELEMENT_TYPES, type OnnxType } from "../onnx/protobuf.ts";

/** One operation on its way into an ONNX model. */
export interface Lowering {
  /** The operation. */
  readonly node: Node;
  /** Names of its inputs in the model. */
  readonly inputs: readonly string[];
  /** The model. */
  readonly model: ModelBuilder;
}

/** Names of inputs in order, or `list` for any number of them. */
export type InputNames = readonly string[] | "list";

/** A kernel of TensorFlow.js that graphs hold. */
export interface PrimitiveKernel {
  readonly inputs: InputNames;
  /** Shapes and types of what it makes. */
  infer(
    inputs: readonly Value[],
    attributes: Attributes,
  ): TensorType | readonly TensorType[];
  /** Adds its ONNX operations; returns the names of what they make. */
  lower(lowering: Lowering): string | readonly string[];
}

/** Records a kernel in the graph that is being traced. */
export type Record = (
  op: string,
  inputs: readonly Value[],
  attributes?: Attributes,
) => readonly Value[];

/** A kernel of TensorFlow.js that is recorded as several others. */
export interface CompositeKernel {
  readonly inputs: InputNames;
  /** Records the others; inputs that were not given are undefined. */
  expand(
    record: Record,
    inputs: readonly (Value | undefined)[],
    attributes: Attributes,
  ): Value | readonly Value[];
}

/** A kernel whose numbers are known while tracing. */
export interface ConstantKernel {
  readonly inputs: InputNames;
  /** The constant. */
  constant(
    inputs: readonly Value[],
    attributes: Attributes,
  ): TensorType & {
    readonly data: { fill: number } | { values: Float32Array | Int32Array };
  };
}

/** What is known of a kernel. */
export type Kernel = PrimitiveKernel | CompositeKernel | ConstantKernel;

/** Kernels by the names that TensorFlow.js has for them. */
export type Kernels = Readonly<globalThis.Record<string, Kernel>>;

/** The one output of a record. */
export function only(values: readonly Value[]): Value {
  return values[0];
}

/** The numbers as another type. */
export function cast(model: ModelBuilder, x: string, to: OnnxType): string {
  return model.op("Cast", [x], { to: ELEMENT_TYPES[to] });
}

/**
 * Floating-point numbers as a type of whole ones, rounded towards 0. NaN and
 * what is too large are 0, as in JavaScript's arrays: ONNX leaves them open.
 */
export function truncated(model: ModelBuilder, x: string, to: DType): string {
  const fits = model.op("Less", [model.op("Abs", [x]), model.scalar(2 ** 31)]);
  const finite = model.op("Where", [fits, x, model.scalar(0)]);
  const whole = cast(model, finite, "int32");
  return to === "bool" ? cast(model, whole, "bool") : whole;
}

/** What whole numbers give, and booleans as such: ONNX computes with none. */
export function throughInt32(
  { model, x, dtype }: { model: ModelBuilder; x: string; dtype: DType },
  compute: (x: string) => string,
): string {
  if (dtype !== "bool") return compute(x);
  return cast(model, compute(cast(model, x, "int32")), "bool");
}
