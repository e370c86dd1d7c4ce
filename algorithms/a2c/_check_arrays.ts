import { record } from "./state_tree.ts";
import type { StateTree } from "@bellman/types";
import type { TensorData } from "@bellman/compute";

/** A tensor's numbers and its shape. */
type SavedArray = { data: TensorData; shape: number[] };

/** Saved arrays, that must have the paths and shapes of others. */
export function checkArrays(
  saved: StateTree,
  like: Readonly<Record<string, SavedArray>>,
): Record<string, SavedArray> {
  const arrays = record(saved, "a parameter map") as unknown as Record<
    string,
    SavedArray
  >;
  for (const path in like) {
    const shape = arrays[path]?.shape;
    if (String(shape) !== String(like[path].shape)) {
      throw new RangeError(
        `Cannot restore '${path}' of shape [${
          shape ?? "none"
        }]: the agent has [${like[path].shape}]`,
      );
    }
  }
  return arrays;
}
