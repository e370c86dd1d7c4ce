import { type Params, paramsFromArrays } from "@bellman/compute";
import { record, type StateTree } from "./state_tree.ts";

/** Tensors of saved arrays, that must have the paths and shapes of others. */
export function restoreTensors(saved: StateTree, like: Params): Params {
  const arrays = record(saved, "a parameter map") as unknown as Parameters<
    typeof paramsFromArrays
  >[0];
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
  return paramsFromArrays(
    Object.fromEntries(Object.keys(like).map((path) => [path, arrays[path]])),
  );
}
