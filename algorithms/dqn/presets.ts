import texts from "./presets/texts.json" with { type: "json" };

/**
 * Tuned settings as YAML texts by environment id; `rainbow` has the options of Hessel
 * et al. 2018 for any environment. Keys are those of {@linkcode DqnConfig} and of a
 * run: `env`, `totalTimesteps`, `numEnvs` and others.
 */
export const dqnPresets: Readonly<Record<string, string>> = {
  "CartPole-v1": texts["cartpole_v1.yaml"],
  "Acrobot-v1": texts["acrobot_v1.yaml"],
  "MountainCar-v0": texts["mountain_car_v0.yaml"],
  "gym:LunarLander-v3": texts["lunar_lander_v3.yaml"],
  "CartPole-v1-quantile": texts["cartpole_v1_quantile.yaml"],
  "Acrobot-v1-categorical": texts["acrobot_v1_categorical.yaml"],
  "gym:LunarLander-v3-rainbow": texts["lunar_lander_v3_rainbow.yaml"],
  "BitFlip-v0": texts["bit_flip_v0.yaml"],
  "BitFlip-v0-plain": texts["bit_flip_v0_plain.yaml"],
  "ALE/Pong-v5-rainbow": texts["atari_rainbow.yaml"],
  "rainbow": texts["rainbow.yaml"],
};
