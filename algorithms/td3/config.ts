import { type ConfigSchema, defaultsOf } from "@bellman/agent";
import type { DqnConfig } from "@bellman/dqn";
import type { ReplayConfig, SacConfig } from "@bellman/sac";
import schema from "./config.schema.json" with { type: "json" };

/**
 * Settings of TD3 and, with other defaults, of DDPG. The comments are the command
 * line's `--help`; the tags are the defaults, ranges and other names, for YAML files
 * and `--set` as well.
 *
 * @defaults {"batchSize": 256}
 */
export interface Td3Config
  extends
    ReplayConfig,
    Pick<SacConfig, "tau" | "criticLearningRate">,
    Pick<DqnConfig, "batchSize" | "learningStarts"> {
  /**
   * Q functions, of which targets take the smallest value.
   *
   * @default 2
   * @minimum 1
   * @maximum 9
   * @asType integer
   * @alias n_critics
   */
  criticCount: number;
  /**
   * Updates of the critics for each of the policy and the target networks.
   *
   * @default 2
   * @minimum 1
   * @maximum 1000000
   * @asType integer
   * @alias policy_delay, policy_frequency
   */
  policyDelay: number;
  /**
   * Deviation of the noise that is added to the target policy's actions in [-1, 1]; 0 adds none.
   *
   * @default 0.2
   * @minimum 0
   * @maximum 1e30
   * @alias target_policy_noise, policy_noise
   */
  targetNoise: number;
  /**
   * Largest noise of the target policy's actions.
   *
   * @default 0.5
   * @minimum 0
   * @maximum 1e30
   * @alias target_noise_clip, noise_clip
   */
  targetNoiseClip: number;
  /**
   * Deviation of the noise that is added to actions in [-1, 1] when exploring, of ou that of its steps over a unit of time.
   *
   * @default 0.1
   * @minimum 0
   * @maximum 1e30
   * @alias noise_std, exploration_noise
   */
  explorationNoise: number;
  /**
   * Noise of exploration in each environment: drawn anew at each step (gaussian), or a walk that returns to 0 in some hundred steps and starts there with each episode (ou, of Ornstein and Uhlenbeck), for goals that only many like actions reach.
   *
   * @default "gaussian"
   * @alias noise_type
   */
  explorationNoiseType: "gaussian" | "ou";
  /**
   * Learning rate of the policy, and default of that of the critics.
   *
   * @default 0.001
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias lr, learning_rate
   */
  learningRate: number;
}

const { properties } = schema as ConfigSchema;

/** JSON Schema of {@linkcode Td3Config}, made by `deno task schema`. */
export const td3ConfigSchema: ConfigSchema = { properties };

/** {@linkcode td3ConfigSchema} with the defaults of DDPG. */
export const ddpgConfigSchema: ConfigSchema = {
  properties: {
    ...properties,
    criticCount: { ...properties.criticCount, default: 1 },
    policyDelay: { ...properties.policyDelay, default: 1 },
    targetNoise: { ...properties.targetNoise, default: 0 },
  },
};

/** Settings of TD3 that learn where there is no preset. */
export const defaultTd3Config: Readonly<Td3Config> = defaultsOf(
  td3ConfigSchema,
);

/** Settings of DDPG that learn where there is no preset. */
export const defaultDdpgConfig: Readonly<Td3Config> = defaultsOf(
  ddpgConfigSchema,
);
