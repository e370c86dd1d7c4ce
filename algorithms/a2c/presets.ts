import texts from "./presets/texts.json" with { type: "json" };

/**
 * Tuned settings as YAML texts by environment id; `ALE` covers all ids that start with
 * `ALE/`, and `baselines` has the original's settings, for any environment. Keys are
 * those of {@linkcode A2CConfig} and of a run: `env`, `totalTimesteps`, `numEnvs` and
 * others.
 */
export const a2cPresets: Readonly<Record<string, string>> = {
  "CartPole-v1": texts["cartpole_v1.yaml"],
  "CartPole-v0": texts["cartpole_v0.yaml"],
  "Acrobot-v1": texts["acrobot_v1.yaml"],
  "MountainCar-v0": texts["mountain_car_v0.yaml"],
  "MountainCarContinuous-v0": texts["mountain_car_continuous_v0.yaml"],
  "Pendulum-v1": texts["pendulum_v1.yaml"],
  "ALE": texts["atari.yaml"],
  "baselines": texts["baselines.yaml"],
};
