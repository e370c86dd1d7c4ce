import type { Space } from "@bellman/types";

function describeBound(bound: number | readonly number[]): string {
  return typeof bound === "number" ? String(bound) : `[${bound}]`;
}

/**
 * A space in words, for messages.
 *
 * @param space The space.
 * @returns One line.
 * @example
 * ```ts
 * import { describeSpace, discrete } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(describeSpace(discrete(2)), "a whole number from 0 to 1");
 * ```
 */
export function describeSpace(space: Space): string {
  switch (space.type) {
    case "discrete": {
      const start = space.start ?? 0;
      return `a whole number from ${start} to ${start + space.n - 1}`;
    }
    case "box":
      return `${space.dtype} numbers of shape [${space.shape}] from ${
        describeBound(space.low)
      } to ${describeBound(space.high)}`;
    case "multiDiscrete":
      return `${space.nvec.length} whole numbers below [${space.nvec}]`;
    case "multiBinary":
      return `${space.n} bits`;
    case "dict":
      return `a record of ${Object.keys(space.spaces).join(", ")}`;
    case "tuple":
      return `a list of ${space.spaces.length} values`;
  }
}
