import acrobotV1 from "./presets/acrobot_v1.yaml" with { type: "text" };
import cartpoleV1 from "./presets/cartpole_v1.yaml" with { type: "text" };

/**
 * Settings that are known to work, as YAML texts by environment id. Each holds
 * keys of {@linkcode AcerConfig} beside those of a run: `env`, `totalTimesteps`,
 * `numEnvs` and others.
 */
export const acerPresets: Readonly<Record<string, string>> = {
  "CartPole-v1": cartpoleV1,
  "Acrobot-v1": acrobotV1,
};
