import { type ConfigSchema, defaultsOf } from "@bellman/agent";
import type { OptimizerName } from "@bellman/compute";
import type {
  ActivationName,
  NetworkName,
  PartNetworks,
} from "@bellman/policies";
import type { ScheduleName } from "@bellman/schedulers";
import schema from "./config.schema.json" with { type: "json" };

/**
 * Settings of A2C. The comments are the command line's `--help`; the tags are the
 * defaults, ranges and other names, for YAML files and `--set` as well.
 */
export interface A2CConfig extends OnPolicyConfig {
  /**
   * Weight of the value loss in the shared objective.
   *
   * @default 0.5
   * @minimum 0
   * @maximum 1e30
   * @alias vf_coef, baseline_loss_weight
   */
  valueCoefficient: number;
  /**
   * Maximum gradient norm; null does not clip.
   *
   * @default 0.5
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias max_grad_norm
   */
  maxGradNorm: number | null;
  /**
   * Optimizer; the tf1 ones are those of TensorFlow 1.
   *
   * @default "adam"
   */
  optimizer: OptimizerName;
  /**
   * Decay of RMSProp's mean square.
   *
   * @default 0.99
   * @minimum 0
   * @maximum 1
   * @alias alpha
   */
  rmspropDecay: number;
  /**
   * Term added to the optimizer's denominator against division by zero.
   *
   * @default 0.00001
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias epsilon, rms_prop_eps
   */
  rmspropEpsilon: number;
  /**
   * Minimize one weighted sum of the losses (shared), or each loss with its own optimizer (separate); null follows valueNetwork.
   *
   * @default null
   */
  objective: "shared" | "separate" | null;
}

/** Settings of on-policy actor-critics, as {@linkcode onPolicyRollout} takes them. */
export interface OnPolicyConfig {
  /**
   * Steps of each environment between two updates.
   *
   * @default 16
   * @minimum 1
   * @maximum 1000000
   * @asType integer
   * @alias nsteps, n_steps, num_steps
   */
  numSteps: number;
  /**
   * Discount factor of one step.
   *
   * @default 0.995
   * @minimum 0
   * @maximum 1
   * @alias discount_factor
   */
  gamma: number;
  /**
   * Lambda of GAE: 1 uses the returns of the whole rollout for the advantages, 0 those of one step.
   *
   * @default 0.98
   * @minimum 0
   * @maximum 1
   * @alias gae_lambda
   */
  gaeLambda: number;
  /**
   * Weight of the policy's entropy, which keeps it exploring.
   *
   * @default 0.01
   * @minimum 0
   * @maximum 1e30
   * @alias ent_coef, entropy_regularization_strength
   */
  entropyCoefficient: number;
  /**
   * Initial learning rate.
   *
   * @default 0.002
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias lr, learning_rate
   */
  learningRate: number;
  /**
   * Schedule of the learning rate over the run's totalTimesteps.
   *
   * @default "linear"
   * @alias lrschedule, lr_schedule
   */
  learningRateSchedule: ScheduleName;
  /**
   * Normalize each batch's advantages to mean 0 and standard deviation 1.
   *
   * @default false
   * @alias normalize_advantage
   */
  normalizeAdvantage: boolean;
  /**
   * Bootstrap from the last observation of a truncated episode; false treats truncation as termination, as the original does.
   *
   * @default true
   */
  bootstrapTruncated: boolean;
  /**
   * Network between the observations and the heads: auto is cnn for images of at least 36x36, parts for a dict with one, mlp for others.
   *
   * @default "auto"
   */
  network: NetworkName;
  /**
   * Network of each part of dict observations, as {"camera": "cnn", "joints": "mlp"}; by default cnn for images of at least 36x36, and flat, the numbers as they are, for others.
   *
   * @default {}
   * @alias part_networks
   */
  partNetworks: PartNetworks;
  /**
   * Units of each hidden layer of the mlp network.
   *
   * @default [64, 64]
   * @items {"type": "integer", "minimum": 1, "maximum": 1000000}
   * @maxItems 100
   * @alias hidden_sizes
   */
  hiddenSizes: number[];
  /**
   * Activation function of each layer of the mlp network.
   *
   * @default "tanh"
   */
  activation: ActivationName;
  /**
   * Units of the recurrent networks.
   *
   * @default 128
   * @minimum 1
   * @maximum 1000000
   * @asType integer
   * @alias nlstm, lstm_size
   */
  lstmSize: number;
  /**
   * Network of the value: separate, or shared with the policy, as the original's.
   *
   * @default "separate"
   * @alias value_network
   */
  valueNetwork: "shared" | "separate";
  /**
   * Learning rate of the value's optimizer, for separate objectives; null uses learningRate.
   *
   * @default 0.006
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias value_learning_rate
   */
  valueLearningRate: number | null;
  /**
   * Initial log standard deviation of box actions.
   *
   * @default 0
   * @minimum -80
   * @maximum 80
   * @alias log_std_init
   */
  initialLogStd: number;
  /**
   * Explore box actions with state-dependent noise (gSDE).
   *
   * @default false
   * @alias use_sde
   */
  useSde: boolean;
  /**
   * Steps between two draws of the gSDE noise; -1 draws once per rollout.
   *
   * @default -1
   * @minimum -1
   * @maximum 1000000000000000
   * @asType integer
   * @alias sde_sample_freq
   */
  sdeSampleFrequency: number;
  /**
   * Initialize kernels orthogonally instead of Glorot uniform.
   *
   * @default true
   * @alias ortho_init
   */
  orthogonalInit: boolean;
}

/** JSON Schema of {@linkcode A2CConfig}, made by `deno task schema`. */
export const a2cConfigSchema: ConfigSchema = schema;

/**
 * Default settings, for environments without a preset; those of `baselines/a2c` are a
 * preset.
 */
export const defaultA2CConfig: Readonly<A2CConfig> = defaultsOf<A2CConfig>(
  a2cConfigSchema,
);
