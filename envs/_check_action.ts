import { describeSpace } from "./describe_space.ts";
import { contains } from "./contains.ts";
import type { BoxArray, Space, SpaceValue } from "@bellman/types";
import { isArrayOf } from "./space_arrays.ts";

function show(value: unknown): string {
  if (ArrayBuffer.isView(value)) return `[${value}]`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * Whether an action can be taken. A box's action need not lie within the
 * bounds, since environments clip it, but it must be of its length and finite.
 */
function isUsable(space: Space, action: unknown): boolean {
  if (space.type !== "box") return contains(space, action);
  return isArrayOf(space, action) && areFinite(action);
}

/** Whether all are; a loop, since a call for each would allocate it. */
export function areFinite(numbers: BoxArray): boolean {
  for (let i = 0; i < numbers.length; i++) {
    if (!Number.isFinite(numbers[i])) return false;
  }
  return true;
}

/** Throws unless an action can be taken. */
export function checkAction(space: Space, action: SpaceValue): void {
  if (isUsable(space, action)) return;
  throw new RangeError(
    `Cannot take action ${show(action)}: expected ${describeSpace(space)}`,
  );
}
