import { chosenRowsOf } from "../graph/chosen_rows.ts";
import { type Node, sizeOf, type Value } from "../graph/graph.ts";
import type { ModelBuilder } from "./model_builder.ts";

/** The names that values have in a model. */
type Names = ReadonlyMap<Value, string>;

/**
 * Operations on some rows: those rows are taken out of what has rows, run
 * through the chain, and put into zeros. How many they are is known when the
 * model is run.
 */
export function lowerChosenRows(
  node: Node,
  { model, names, lowerNode }: {
    model: ModelBuilder;
    names: Names;
    /** Adds an operation of the chain. */
    lowerNode(node: Node, names: Map<Value, string>): readonly string[];
  },
): string {
  const { chain, byRow } = chosenRowsOf(node);
  const [mask, ...taken] = node.inputs;
  const reshaped = (name: string, shape: readonly number[]) =>
    model.op("Reshape", [name, model.ints(shape)]);
  const flags = mask.shape.length === 1
    ? names.get(mask)!
    : reshaped(names.get(mask)!, [sizeOf(mask.shape)]);
  const places = model.op("NonZero", [flags]);
  const rows = reshaped(places, [-1]);
  const inner = new Map(taken.map((value) => [value, names.get(value)!]));
  for (const value of new Set(byRow)) {
    const gathered = model.op("Gather", [inner.get(value)!, rows], { axis: 0 });
    inner.set(value, gathered);
  }
  for (const it of chain) {
    lowerNode(it, inner).forEach((name, i) => inner.set(it.outputs[i], name));
  }
  const [output] = node.outputs;
  const zeros = model.op("Expand", [model.scalar(0), model.ints(output.shape)]);
  return model.op("ScatterND", [
    zeros,
    reshaped(places, [-1, 1]),
    inner.get(output)!,
  ]);
}
