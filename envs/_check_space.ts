import type { Space } from "@bellman/types";
import {
  box,
  discrete,
  multiBinary,
  multiDiscrete,
} from "./space_constructors.ts";

const DTYPES = ["float32", "float64", "int32", "uint8"];

function checkBox(space: Space & { type: "box" }): void {
  const { shape, low, high, dtype } = space;
  if (!DTYPES.includes(dtype)) {
    throw new TypeError(
      `Cannot hold a box in '${dtype}': expected ${DTYPES.join(", ")}`,
    );
  }
  for (const length of shape) {
    if (Number.isInteger(length) && length >= 1) continue;
    throw new RangeError(
      `Cannot make a box of shape [${shape}]: expected whole numbers of at least 1`,
    );
  }
  box({ shape, low, high, dtype });
}

/** Throws unless a space, made without its constructor perhaps, is a sound one. */
export function checkSpace(space: Space | undefined): void {
  switch (space?.type) {
    case "discrete":
      if (!Number.isInteger(space.start ?? 0)) {
        throw new RangeError(
          `Cannot start a discrete space at ${space.start}: expected a whole number`,
        );
      }
      discrete(space.n);
      return;
    case "box":
      return checkBox(space);
    case "multiDiscrete":
      multiDiscrete(space.nvec);
      return;
    case "multiBinary":
      multiBinary(space.n);
      return;
    case "dict":
    case "tuple":
      for (const inner of Object.values<Space>({ ...space.spaces })) {
        checkSpace(inner);
      }
      return;
    default:
      throw new TypeError(
        `Cannot use ${
          JSON.stringify(space)
        } as a space: expected one with a known 'type'`,
      );
  }
}
