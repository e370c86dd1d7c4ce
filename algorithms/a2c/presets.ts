import cartpoleV1 from "./presets/cartpole_v1.yaml" with { type: "text" };

/**
 * Settings that are known to work, as YAML texts by environment id. Each holds
 * keys of {@linkcode A2CConfig} beside those of a run: `env`,
 * `totalTimesteps`, `numEnvs`, `normalizeObservation`, `normalizeReward`.
 *
 * @example
 * ```ts
 * import { a2cPresets } from "@bellman/a2c";
 * import { assert } from "@std/assert";
 *
 * assert(a2cPresets["CartPole-v1"].includes("env: CartPole-v1"));
 * ```
 */
export const a2cPresets: Readonly<Record<string, string>> = {
  "CartPole-v1": cartpoleV1,
};
