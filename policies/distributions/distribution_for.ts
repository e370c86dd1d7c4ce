import type { Space } from "@bellman/types";
import { diagonalGaussian, squashedGaussian } from "./continuous.ts";
import { bernoulli, categorical, multiCategorical } from "./discrete.ts";
import type { Distribution } from "./distribution.ts";
import { sizeOf } from "../networks/_layers.ts";
import { checkSquashable } from "./_shared.ts";

/**
 * Makes the distribution for an action space: categorical for discrete,
 * multi-categorical for multi-discrete, Bernoulli for multi-binary and diagonal
 * Gaussian for box spaces.
 *
 * @param actionSpace Action space.
 * @param options Squashed Gaussian or not.
 * @returns The distribution.
 * @throws {TypeError} If it is a dict or tuple space, or a box of bytes.
 * @throws {RangeError} If actions without a bound are to be squashed.
 *
 * @example
 * ```ts
 * import { distributionFor } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const distribution = distributionFor({ type: "discrete", n: 4 });
 * assertEquals(distribution.parameterSize, 4);
 * ```
 */
export function distributionFor(
  actionSpace: Space,
  options: {
    /**
     * Squash the Gaussian of box actions into [-1, 1].
     *
     * @default false
     */
    readonly squashed?: boolean;
  } = {},
): Distribution {
  switch (actionSpace.type) {
    case "discrete":
      return categorical(actionSpace.n, { start: actionSpace.start });
    case "multiDiscrete":
      return multiCategorical(actionSpace.nvec);
    case "multiBinary":
      return bernoulli(actionSpace.n);
    case "box": {
      if (actionSpace.dtype === "int32" || actionSpace.dtype === "uint8") {
        throw new TypeError(
          `Cannot choose a distribution for box actions of ${actionSpace.dtype}: use multiDiscrete for whole numbers`,
        );
      }
      const { shape } = actionSpace, size = sizeOf(shape);
      if (!options.squashed) return diagonalGaussian(size, { shape });
      checkSquashable(actionSpace);
      return squashedGaussian(size, { shape });
    }
    default:
      throw new TypeError(
        `Cannot choose a distribution for ${actionSpace.type} actions: wrap the environment so that it takes discrete, multiDiscrete, multiBinary or box actions`,
      );
  }
}
