import type { BoxSpace } from "@bellman/types";
import { boundAt } from "./space_arrays.ts";

/**
 * An element's bound as its box holds numbers: float32 has no 0.1, and the
 * nearest number it has lies above, which must not count as outside.
 */
export function boundIn(
  space: BoxSpace,
  end: "low" | "high",
  i: number,
): number {
  const bound = boundAt(space[end], i);
  return space.dtype === "float32" ? Math.fround(bound) : bound;
}
