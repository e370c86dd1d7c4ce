import type { TensorType } from "../graph/graph.ts";
import { type Traced, traceFunction } from "../tracing/trace.ts";
import type { Tree } from "../tracing/tree.ts";

/** A function from a state and inputs to the next state and results. */
export type StepFunction = (
  state: unknown,
  inputs: unknown,
) => { state: unknown };

/** Traces a step: its inputs are named `inputs.x`, its state `state.y`. */
export function traceStep(
  fn: StepFunction,
  types: { inputs: Tree<TensorType>; state: unknown },
): Traced {
  return traceFunction((all) => {
    const { state, inputs } = all as Record<string, unknown>;
    return fn(state ?? {}, inputs ?? {});
  }, types);
}
