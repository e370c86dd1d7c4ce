import type { Distribution } from "./distribution.ts";
import { distributionFor } from "./distribution_for.ts";
import { gaussianMixture } from "./gaussian_mixture.ts";
import { sizeOf } from "./_layers.ts";
import type { BoxSpace } from "@bellman/types";
import { squashedGaussian } from "./squashed_gaussian.ts";
import type { StochasticPolicyOptions } from "./stochastic_policy_types.ts";

/** The distribution that the options of a policy ask for. */
export function policyDistribution(
  options: StochasticPolicyOptions,
): Distribution {
  const { actionSpace, distribution: kind = "gaussian", useSde } = options;
  if (actionSpace.type === "box") return boxDistribution(options, actionSpace);
  if (useSde) {
    throw new TypeError(
      `Cannot use state-dependent exploration for ${actionSpace.type} ` +
        `actions: it is for box actions`,
    );
  }
  if (kind !== "gaussian") {
    throw new TypeError(
      `Cannot use a ${kind} for ${actionSpace.type} actions: ` +
        `it is for box actions`,
    );
  }
  return distributionFor(actionSpace);
}

function boxDistribution(
  options: StochasticPolicyOptions,
  space: BoxSpace,
): Distribution {
  const { distribution = "gaussian", components, useSde } = options;
  checkBox(space);
  const { shape } = space;
  const { logStdBounds, squashCorrection } = options;
  const size = sizeOf(shape);
  const common = { shape, logStdBounds, squashCorrection };
  switch (distribution) {
    case "gaussian":
      return squashedGaussian(size, {
        ...common,
        ...(useSde && { logStdBounds: [-Infinity, Infinity] as const }),
      });
    case "mixture":
      if (!useSde) return gaussianMixture(size, { ...common, components });
      throw new TypeError(
        "Cannot use state-dependent exploration with a mixture: " +
          "it is for the Gaussian",
      );
    default:
      throw new RangeError(
        `Unknown distribution '${distribution}': choose gaussian or mixture`,
      );
  }
}

/** Throws where tanh cannot reach all actions and nothing else. */
function checkBox({ low, high, dtype }: BoxSpace): void {
  if (dtype === "int32" || dtype === "uint8") {
    throw new TypeError(
      `Cannot squash box actions of ${dtype}: ` +
        `use multiDiscrete for whole numbers`,
    );
  }
  const unbounded = [low, high].flat().find((it) => !Number.isFinite(it));
  if (unbounded === undefined) return;
  throw new RangeError(
    `Cannot squash actions to the bound ${unbounded}: bounds must be finite`,
  );
}
