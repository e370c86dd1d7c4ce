import type { OnPolicyConfig } from "@bellman/a2c";
import { type ConfigSchema, defaultsOf } from "@bellman/agent";
import type { SacConfig } from "@bellman/sac";
import schema from "./config.schema.json" with { type: "json" };

/**
 * Settings of cloning (bc) and of implicit Q-learning (iql), each of which takes some of
 * them. The comments are the command line's `--help`; the tags are the defaults, ranges
 * and other names, for YAML files and `--set` as well.
 *
 * @defaults {"learningRate": 0.0003, "learningRateSchedule": "constant", "entropyCoefficient": 0, "gamma": 0.99}
 */
export interface OfflineConfig extends
  Pick<
    OnPolicyConfig,
    | "entropyCoefficient"
    | "gamma"
    | "initialLogStd"
    | "learningRate"
    | "learningRateSchedule"
    | "lstmSize"
    | "network"
    | "orthogonalInit"
    | "partNetworks"
    | "valueNetwork"
  >,
  Pick<SacConfig, "initializer" | "tau"> {
  /**
   * Policy of the clone: that of ppo and a2c (actorCritic), of sac (squashed), or of td3 (deterministic), so that these go on from its weights.
   *
   * @default "actorCritic"
   */
  policy: "actorCritic" | "squashed" | "deterministic";
  /**
   * Distribution of box actions of the actorCritic policy, as ppo's actions.
   *
   * @default "gaussian"
   */
  actions: "gaussian" | "squashed";
  /**
   * Units of each hidden layer of the mlp network; null takes those of the algorithm that goes on: [64, 64] for actorCritic, [256, 256] for others.
   *
   * @default null
   * @items {"type": "integer", "minimum": 1, "maximum": 1000000}
   * @maxItems 100
   * @alias hidden_sizes
   */
  hiddenSizes: number[] | null;
  /**
   * Activation function of each layer of the mlp network; null takes that of the algorithm that goes on: tanh for actorCritic, relu for others.
   *
   * @default null
   */
  activation: OnPolicyConfig["activation"] | null;
  /**
   * Steps in a batch.
   *
   * @default 256
   * @minimum 1
   * @maximum 100000000
   * @asType integer
   * @alias batch_size
   */
  batchSize: number;
  /**
   * Steps of each sequence that a recurrent network is cloned on; a divisor of batchSize.
   *
   * @default 16
   * @minimum 1
   * @maximum 1000000
   * @asType integer
   * @alias sequence_length
   */
  numSteps: number;
  /**
   * Expectile of the value among the Q-values of the data's actions: 0.5 is their mean, towards 1 their maximum.
   *
   * @default 0.7
   * @exclusiveMinimum 0
   * @exclusiveMaximum 1
   * @alias iql_tau
   */
  expectile: number;
  /**
   * Inverse temperature of the policy's weights exp(beta * advantage): 0 clones all actions alike.
   *
   * @default 3
   * @minimum 0
   * @maximum 1e30
   */
  beta: number;
  /**
   * Largest weight of a step in the policy's loss.
   *
   * @default 100
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias exp_adv_max, max_weight
   */
  weightMax: number;
  /**
   * Learning rate of the Q-functions and the value; null uses learningRate.
   *
   * @default null
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias critic_learning_rate, qf_lr
   */
  criticLearningRate: number | null;
  /**
   * Schedule of the policy's learning rate over the run's updates.
   *
   * @default "cosine"
   */
  policySchedule: "constant" | "linear" | "cosine";
  /**
   * Factor of the rewards; returnRange makes returns of the data differ by 1000.
   *
   * @default "returnRange"
   * @alias reward_scale
   */
  rewardScale: number | "returnRange";
}

const { properties } = schema as ConfigSchema;

/** Settings of cloning. */
export type BcConfig = Omit<
  OfflineConfig,
  | "beta"
  | "criticLearningRate"
  | "expectile"
  | "gamma"
  | "policySchedule"
  | "rewardScale"
  | "tau"
  | "weightMax"
>;

/** Settings of implicit Q-learning. */
export type IqlConfig = Omit<
  OfflineConfig,
  | "actions"
  | "entropyCoefficient"
  | "initialLogStd"
  | "learningRateSchedule"
  | "lstmSize"
  | "numSteps"
  | "orthogonalInit"
  | "policy"
  | "valueNetwork"
>;

/** Leaves settings out. */
function without(names: string): ConfigSchema {
  const others = names.split(" ");
  const own = Object.entries(properties)
    .filter(([name]) => !others.includes(name));
  return { properties: Object.fromEntries(own) };
}

/** JSON Schema of {@linkcode BcConfig}. */
export const bcConfigSchema: ConfigSchema = without(
  "beta criticLearningRate expectile gamma policySchedule rewardScale tau weightMax",
);

/** JSON Schema of {@linkcode IqlConfig}. */
export const iqlConfigSchema: ConfigSchema = without(
  "actions entropyCoefficient initialLogStd learningRateSchedule lstmSize numSteps orthogonalInit policy valueNetwork",
);

/** Default settings of cloning. */
export const defaultBcConfig: Readonly<BcConfig> = defaultsOf(bcConfigSchema);

/** Default settings of implicit Q-learning. */
export const defaultIqlConfig: Readonly<IqlConfig> = defaultsOf(
  iqlConfigSchema,
);
