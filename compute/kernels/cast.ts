import type { DType } from "../graph/graph.ts";
import type { ModelBuilder } from "../onnx/model_builder.ts";
import { ELEMENT_TYPES, type OnnxType } from "../onnx/protobuf.ts";

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
