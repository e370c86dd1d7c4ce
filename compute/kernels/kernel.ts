import type { Attributes, Node, TensorType, Value } from "../graph/graph.ts";
import type { ModelBuilder } from "../onnx/model_builder.ts";

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
