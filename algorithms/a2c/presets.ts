import acrobotV1 from "./presets/acrobot_v1.yaml" with { type: "text" };
import atari from "./presets/atari.yaml" with { type: "text" };
import cartpoleV0 from "./presets/cartpole_v0.yaml" with { type: "text" };
import cartpoleV1 from "./presets/cartpole_v1.yaml" with { type: "text" };
import mountainCarContinuousV0 from "./presets/mountain_car_continuous_v0.yaml" with {
  type: "text",
};
import mountainCarV0 from "./presets/mountain_car_v0.yaml" with {
  type: "text",
};
import pendulumV1 from "./presets/pendulum_v1.yaml" with { type: "text" };

/**
 * Settings that are known to work, as YAML texts by environment id; `ALE` is for
 * all ids that start with `ALE/`. Each holds keys of {@linkcode A2CConfig}
 * beside those of a run: `env`, `totalTimesteps`, `numEnvs` and others.
 */
export const a2cPresets: Readonly<Record<string, string>> = {
  "CartPole-v1": cartpoleV1,
  "CartPole-v0": cartpoleV0,
  "Acrobot-v1": acrobotV1,
  "MountainCar-v0": mountainCarV0,
  "MountainCarContinuous-v0": mountainCarContinuousV0,
  "Pendulum-v1": pendulumV1,
  "ALE": atari,
};
