import type {
  GaussianMixture,
  ReparameterizedDistribution,
} from "@bellman/policies";

/** Whether a distribution first chooses one of several components. */
export function isMixture(
  distribution: ReparameterizedDistribution,
): distribution is GaussianMixture {
  return "components" in distribution;
}
