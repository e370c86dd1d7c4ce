import type { Space } from "@bellman/types";
import { box, discrete, multiBinary, multiDiscrete } from "./constructors.ts";

const DTYPES = ["float32", "float64", "int32", "uint8"];

function checkBox(space: Space & { type: "box" }): void {
  const { shape, low, high, dtype } = space;
  if (!DTYPES.includes(dtype)) {
    throw new TypeError(
      `Cannot hold a box in '${dtype}': expected ${DTYPES.join(", ")}`,
    );
  }
  if (!Array.isArray(shape)) {
    throw new TypeError(
      `Cannot make a box of shape ${shape}: expected a list of whole numbers`,
    );
  }
  for (const length of shape) {
    if (Number.isInteger(length) && length >= 1) continue;
    throw new RangeError(
      `Cannot make a box of shape [${shape}]: expected whole numbers of at least 1`,
    );
  }
  for (const it of [low, high]) {
    if (it === undefined || typeof it === "number") continue;
    checkList("box with the bounds", it);
  }
  box({ shape, low, high, dtype });
}

function checkList(what: string, list: readonly number[]): void {
  if (Array.isArray(list) || ArrayBuffer.isView(list)) return;
  throw new TypeError(
    `Cannot make a ${what} ${JSON.stringify(list)}: expected numbers`,
  );
}

/**
 * Checks a space that was made without its constructor, such as one that was read
 * from a file.
 *
 * @param space The space.
 * @throws {TypeError} If it is none, or of no known type.
 * @throws {RangeError} If its numbers are none that a space may have.
 * @example
 * ```ts
 * import { checkSpace } from "@bellman/envs";
 * import { assertThrows } from "@std/assert";
 *
 * checkSpace({ type: "discrete", n: 2 });
 * assertThrows(() => checkSpace({ type: "discrete", n: 0 }), RangeError);
 * ```
 */
export function checkSpace(space: Space | undefined): void {
  switch (space?.type) {
    case "discrete":
      discrete(space.n, { start: space.start });
      return;
    case "box":
      return checkBox(space);
    case "multiDiscrete":
      checkList("multi-discrete space of", space.nvec);
      multiDiscrete(space.nvec);
      return;
    case "multiBinary":
      multiBinary(space.n);
      return;
    case "dict":
    case "tuple":
      if (typeof space.spaces !== "object" || space.spaces === null) {
        throw new TypeError(
          `Cannot use ${
            JSON.stringify(space)
          } as a space: expected 'spaces' in it`,
        );
      }
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
