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
   * Number of Q-functions; targets use their minimum.
   *
   * @default 2
   * @minimum 1
   * @maximum 100
   * @asType integer
   * @alias n_critics, criticCount
   */
  numCritics: number;
  /**
   * Quantiles of the return that each Q-function estimates, as in TQC; null estimates its mean.
   *
   * @default null
   * @minimum 1
   * @maximum 500
   * @multipleOf 1
   * @alias n_quantiles
   */
  quantiles: number | null;
  /**
   * Number of the largest target quantiles dropped for each Q-function; null uses 2, or quantiles - 1 if that is less.
   *
   * @default null
   * @minimum 0
   * @maximum 500
   * @multipleOf 1
   * @alias top_quantiles_to_drop_per_net
   */
  droppedQuantiles: number | null;
  /**
   * Normalization of the Q-functions' hidden layers: none, or layer normalization before each activation.
   *
   * @default "none"
   */
  normalization: "none" | "layer";
  /**
   * Weight of the Q-values beside the distance from the data's actions, as in TD3+BC, which has 2.5; 0 leaves the distance out.
   *
   * @default 0
   * @minimum 0
   * @maximum 1e30
   * @alias bc_alpha
   */
  bcAlpha: number;
  /**
   * Critic updates for each update of the policy and the target networks.
   *
   * @default 2
   * @minimum 1
   * @maximum 1000000
   * @asType integer
   * @alias policy_delay, policy_frequency
   */
  policyDelay: number;
  /**
   * Standard deviation of the noise added to the target policy's actions in [-1, 1] (target policy smoothing); 0 adds none.
   *
   * @default 0.2
   * @minimum 0
   * @maximum 1e30
   * @alias target_policy_noise, policy_noise
   */
  targetNoise: number;
  /**
   * Clip of the noise added to the target policy's actions.
   *
   * @default 0.5
   * @minimum 0
   * @maximum 1e30
   * @alias target_noise_clip, noise_clip
   */
  targetNoiseClip: number;
  /**
   * Standard deviation of the exploration noise added to actions in [-1, 1]; for ou, that of its increments per unit of time.
   *
   * @default 0.1
   * @minimum 0
   * @maximum 1e30
   * @alias noise_std, exploration_noise
   */
  explorationNoise: number;
  /**
   * Exploration noise of each environment: independent at each step (gaussian), or an Ornstein-Uhlenbeck process (ou) that reverts to 0 within some hundred steps and restarts with each episode, for goals that need many similar actions.
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
    numCritics: { ...properties.numCritics, default: 1 },
    policyDelay: { ...properties.policyDelay, default: 1 },
    targetNoise: { ...properties.targetNoise, default: 0 },
  },
};

/** Default settings of TD3, for environments without a preset. */
export const defaultTd3Config: Readonly<Td3Config> = defaultsOf(
  td3ConfigSchema,
);

/** Default settings of DDPG, for environments without a preset. */
export const defaultDdpgConfig: Readonly<Td3Config> = defaultsOf(
  ddpgConfigSchema,
);
