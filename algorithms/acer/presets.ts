import texts from "./presets/texts.json" with { type: "json" };

/**
 * Tuned settings as YAML texts by environment id, some followed by a variant; `ALE`
 * covers all ids that start with `ALE/`, and `baselines` has the original's settings,
 * for any environment. Keys are those of {@linkcode AcerConfig} and of a run: `env`,
 * `totalTimesteps`, `numEnvs` and others.
 */
export const acerPresets: Readonly<Record<string, string>> = {
  "CartPole-v1": texts["cartpole_v1.yaml"],
  "PositionOnlyCartPole-v1": texts["position_only_cart_pole_v1.yaml"],
  "PositionOnlyCartPole-v1-mlp": texts["position_only_cart_pole_v1_mlp.yaml"],
  "Acrobot-v1": texts["acrobot_v1.yaml"],
  "gym:LunarLander-v3": texts["lunar_lander_v3.yaml"],
  "MountainCarContinuous-v0": texts["mountain_car_continuous_v0.yaml"],
  "Pendulum-v1": texts["pendulum_v1.yaml"],
  "ALE": texts["atari.yaml"],
  "baselines": texts["baselines.yaml"],
};
