import cartpoleV1 from "./presets/cartpole_v1.yaml" with { type: "text" };
import mountainCarContinuousV0 from "./presets/mountain_car_continuous_v0.yaml" with {
  type: "text",
};
import pendulumV1 from "./presets/pendulum_v1.yaml" with { type: "text" };
import pendulumV1Mixture from "./presets/pendulum_v1_mixture.yaml" with {
  type: "text",
};
import pendulumV1Value from "./presets/pendulum_v1_value.yaml" with {
  type: "text",
};

/**
 * Settings that are known to work, as YAML texts: by environment id, and by
 * names of their own for other forms of SAC. Each holds keys of
 * {@linkcode SacConfig} beside those of a run: `env`, `totalTimesteps`,
 * `numEnvs`.
 *
 * @example
 * ```ts
 * import { sacPresets } from "@bellman/sac";
 * import { assert } from "@std/assert";
 *
 * assert(sacPresets["Pendulum-v1"].includes("env: Pendulum-v1"));
 * ```
 */
export const sacPresets: Readonly<Record<string, string>> = {
  "Pendulum-v1": pendulumV1,
  "Pendulum-v1-value": pendulumV1Value,
  "Pendulum-v1-mixture": pendulumV1Mixture,
  "MountainCarContinuous-v0": mountainCarContinuousV0,
  "CartPole-v1": cartpoleV1,
};
