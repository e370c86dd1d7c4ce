import texts from "./presets/texts.json" with { type: "json" };

/**
 * Tuned settings as YAML texts by algorithm and environment id. Keys are those of
 * {@linkcode Td3Config} and of a run: `env`, `totalTimesteps`, `numEnvs` and others.
 */
export const td3Presets: Readonly<
  Record<"td3" | "ddpg", Readonly<Record<string, string>>>
> = {
  td3: {
    "Pendulum-v1": texts["pendulum_v1.yaml"],
    "MountainCarContinuous-v0": texts["mountain_car_continuous_v0.yaml"],
    "gym:FetchReach-v4": texts["fetch_reach_v4.yaml"],
    "gym:LunarLanderContinuous-v3": texts["lunar_lander_continuous_v3.yaml"],
    "HalfCheetah-v5": texts["half_cheetah_v5.yaml"],
    "Hopper-v5": texts["hopper_v5.yaml"],
  },
  ddpg: { "Pendulum-v1": texts["ddpg_pendulum_v1.yaml"] },
};
