import texts from "./presets/texts.json" with { type: "json" };

/**
 * Tuned settings as YAML texts by environment id; `ALE` covers all ids that start with
 * `ALE/`, and `baselines` has the original's settings, for any environment. Keys are
 * those of {@linkcode AcktrConfig} and of a run: `env`, `totalTimesteps`, `numEnvs` and
 * others.
 */
export const acktrPresets: Readonly<Record<string, string>> = {
  "ALE": texts["atari.yaml"],
  "CartPole-v1": texts["cartpole_v1.yaml"],
  "Acrobot-v1": texts["acrobot_v1.yaml"],
  "Hopper-v5": texts["hopper_v5.yaml"],
  "MountainCar-v0": texts["mountain_car_v0.yaml"],
  "Pendulum-v1": texts["pendulum_v1.yaml"],
  "baselines": texts["baselines.yaml"],
};
