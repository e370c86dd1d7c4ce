import cartpoleV1 from "./presets/cartpole_v1.yaml" with { type: "text" };
import lunarLanderContinuousV3 from "./presets/lunar_lander_continuous_v3.yaml" with {
  type: "text",
};
import mountainCarContinuousV0 from "./presets/mountain_car_continuous_v0.yaml" with {
  type: "text",
};
import mujoco from "./presets/mujoco.yaml" with { type: "text" };
import pendulumV1 from "./presets/pendulum_v1.yaml" with { type: "text" };
import pendulumV1Mixture from "./presets/pendulum_v1_mixture.yaml" with {
  type: "text",
};
import pendulumV1Value from "./presets/pendulum_v1_value.yaml" with {
  type: "text",
};

/**
 * The environments of MuJoCo, which share their settings, and what each has in
 * place of them. Both are rl-baselines3-zoo's as far as it trains SAC on them;
 * it does not on the last five, which take what is shared.
 */
const MUJOCO: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "HalfCheetah-v5": {},
  "Hopper-v5": {},
  "Walker2d-v5": {},
  "Ant-v5": {},
  "Humanoid-v5": { totalTimesteps: 2_000_000 },
  "Swimmer-v5": { gamma: 0.9999 },
  "HumanoidStandup-v5": {},
  "Reacher-v5": {},
  "Pusher-v5": {},
  "InvertedPendulum-v5": {},
  "InvertedDoublePendulum-v5": {},
};

/** Joins the shared settings with an environment's own in place of them. */
function mujocoPreset(
  id: string,
  own: Readonly<Record<string, number>>,
): string {
  const shared = mujoco.split("\n").filter((line) =>
    !Object.hasOwn(own, line.split(":")[0])
  );
  const lines = Object.entries({ env: id, ...own });
  return [...lines.map(([key, value]) => `${key}: ${value}`), ...shared]
    .join("\n");
}

/**
 * Settings that are known to work, as YAML texts: by environment id, and by
 * names of their own for other forms of SAC. Each holds keys of
 * {@linkcode SacConfig} beside those of a run: `env`, `totalTimesteps`,
 * `numEnvs`.
 */
export const sacPresets: Readonly<Record<string, string>> = {
  "Pendulum-v1": pendulumV1,
  "Pendulum-v1-value": pendulumV1Value,
  "Pendulum-v1-mixture": pendulumV1Mixture,
  "MountainCarContinuous-v0": mountainCarContinuousV0,
  "CartPole-v1": cartpoleV1,
  "gym:LunarLanderContinuous-v3": lunarLanderContinuousV3,
  ...Object.fromEntries(
    Object.entries(MUJOCO).map(([id, own]) => [id, mujocoPreset(id, own)]),
  ),
};
