import texts from "./presets/texts.json" with { type: "json" };

/**
 * Tuned settings as YAML texts by environment id; `ALE` covers all ids that start with
 * `ALE/`, and `baselines` has the original's settings for MuJoCo. Keys are those of
 * {@linkcode PpoConfig} and of a run: `env`, `totalTimesteps`, `numEnvs` and others.
 */
export const ppoPresets: Readonly<Record<string, string>> = {
  "CartPole-v1": texts["cartpole_v1.yaml"],
  "MountainCarContinuous-v0": texts["mountain_car_continuous_v0.yaml"],
  "Acrobot-v1": texts["acrobot_v1.yaml"],
  "MountainCar-v0": texts["mountain_car_v0.yaml"],
  "Pendulum-v1": texts["pendulum_v1.yaml"],
  "PositionOnlyCartPole-v1": texts["position_only_cart_pole_v1.yaml"],
  "PositionOnlyCartPole-v1-mlp": texts["position_only_cart_pole_v1_mlp.yaml"],
  "ConnectFour-v0": texts["connect_four_v0.yaml"],
  "TicTacToe-v0": texts["tic_tac_toe_v0.yaml"],
  "gym:LunarLander-v3": texts["lunar_lander_v3.yaml"],
  "gym:LunarLanderContinuous-v3": texts["lunar_lander_continuous_v3.yaml"],
  "gym:BipedalWalker-v3": texts["bipedal_walker_v3.yaml"],
  "gym:Taxi-v4": texts["taxi_v4.yaml"],
  "gym:Taxi-v4-unmasked": texts["taxi_v4_unmasked.yaml"],
  "HalfCheetah-v5": texts["half_cheetah_v5.yaml"],
  "Hopper-v5": texts["hopper_v5.yaml"],
  "Walker2d-v5": texts["walker2d_v5.yaml"],
  "ALE": texts["atari.yaml"],
  "baselines": texts["baselines.yaml"],
};
