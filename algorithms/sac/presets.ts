import mujoco from "./presets/mujoco.json" with { type: "json" };
import texts from "./presets/texts.json" with { type: "json" };

/**
 * MuJoCo environments with their extra of the shared settings, from
 * rl-baselines3-zoo; it does not train SAC on the last five, which use the shared
 * settings.
 */
const MUJOCO: Readonly<Record<string, Readonly<Record<string, number>>>> =
  mujoco;

/** Merges the shared settings with an environment's extra. */
function mujocoPreset(
  id: string,
  extra: Readonly<Record<string, number>>,
): string {
  const shared = texts["mujoco.yaml"].split("\n").filter((line) =>
    !Object.hasOwn(extra, line.split(":")[0])
  );
  const lines = Object.entries({ env: id, ...extra });
  return [...lines.map(([key, value]) => `${key}: ${value}`), ...shared]
    .join("\n");
}

/**
 * Tuned settings as YAML texts by environment id, where `ALE` covers all ids that start
 * with `ALE/`. Keys are those of {@linkcode SacConfig} and of a run: `env`,
 * `totalTimesteps`, `numEnvs`.
 */
export const sacPresets: Readonly<Record<string, string>> = {
  "Pendulum-v1": texts["pendulum_v1.yaml"],
  "Pendulum-v1-crossq": texts["pendulum_v1_crossq.yaml"],
  "MountainCarContinuous-v0": texts["mountain_car_continuous_v0.yaml"],
  "CartPole-v1": texts["cartpole_v1.yaml"],
  "ALE": texts["atari.yaml"],
  "gym:FetchReach-v4": texts["fetch_reach_v4.yaml"],
  "gym:LunarLanderContinuous-v3": texts["lunar_lander_continuous_v3.yaml"],
  ...Object.fromEntries(
    Object.entries(MUJOCO).map(([id, extra]) => [id, mujocoPreset(id, extra)]),
  ),
};
