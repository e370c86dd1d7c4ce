import texts from "./presets/texts.json" with { type: "json" };

/**
 * Tuned settings as YAML texts by environment id, and by name for mixtures. Keys are
 * those of {@linkcode SacV1Config} and of a run: `env`, `totalTimesteps`, `numEnvs`.
 */
export const sacV1Presets: Readonly<Record<string, string>> = {
  "Pendulum-v1": texts["pendulum_v1.yaml"],
  "Pendulum-v1-mixture": texts["pendulum_v1_mixture.yaml"],
};
