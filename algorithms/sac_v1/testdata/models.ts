/** Small models for the tests of the update. */
import { valueFunction } from "@bellman/policies";
import { CONTINUOUS, continuousModel } from "../../sac/testdata/models.ts";
import type { SacV1Model } from "../update.ts";

/** Policy, Q and V functions of continuous actions. */
export function valueModel(
  distribution: "gaussian" | "mixture" = "gaussian",
): SacV1Model {
  return {
    ...continuousModel({ distribution }),
    vf: valueFunction(CONTINUOUS),
  };
}
