import { type ConfigSchema, defaultsOf } from "@bellman/agent";
import schema from "./config.schema.json" with { type: "json" };

/**
 * Settings of A2C. The comments are the command line's `--help`; the tags are the
 * defaults, ranges and other names, for YAML files and `--set` as well.
 */
export interface A2CConfig {
  /**
   * Steps of each environment copy between two updates.
   *
   * @default 5
   * @minimum 1
   * @maximum 100000000
   * @asType integer
   * @alias nsteps, n_steps, num_steps
   */
  numSteps: number;
  /**
   * Discount factor of one step.
   *
   * @default 0.99
   * @minimum 0
   * @maximum 1
   * @alias discount_factor
   */
  gamma: number;
  /**
   * Weight of longer returns in the advantages: 1 takes the whole rollout, 0 one step.
   *
   * @default 1
   * @minimum 0
   * @maximum 1
   * @alias gae_lambda
   */
  gaeLambda: number;
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
   * Weight of the policy's entropy, which keeps it exploring.
   *
   * @default 0.01
   * @minimum 0
   * @maximum 1e30
   * @alias ent_coef, entropy_regularization_strength
   */
  entropyCoefficient: number;
  /**
   * Global norm that gradients are clipped to; null leaves them as they are.
   *
   * @default 0.5
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias max_grad_norm
   */
  maxGradNorm: number | null;
  /**
   * Learning rate at the start.
   *
   * @default 0.0007
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias lr, learning_rate
   */
  learningRate: number;
  /**
   * How the learning rate falls over the run's totalTimesteps.
   *
   * @default "linear"
   * @alias lrschedule, lr_schedule
   */
  learningRateSchedule:
    | "constant"
    | "linear"
    | "double_linear_con"
    | "middle_drop"
    | "double_middle_drop"
    | "cosine"
    | "exponential";
  /**
   * Rule that turns gradients into steps; the tf1 ones are TensorFlow 1's.
   *
   * @default "rmsprop_tf1"
   */
  optimizer: "rmsprop_tf1" | "rmsprop" | "adam" | "adam_tf1" | "sgd";
  /**
   * Choose RMSProp as in TensorFlow 1 (true) or Adam (false); null leaves it to optimizer.
   *
   * @default null
   * @alias use_rms_prop, use_rmsprop
   */
  useRmsprop: boolean | null;
  /**
   * Share of the old mean square that RMSProp keeps at each update.
   *
   * @default 0.99
   * @minimum 0
   * @maximum 1
   * @alias alpha
   */
  rmspropDecay: number;
  /**
   * Added to the optimizer's denominator against division by zero.
   *
   * @default 0.00001
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias epsilon, rms_prop_eps
   */
  rmspropEpsilon: number;
  /**
   * Shift and scale each batch's advantages to mean 0 and deviation 1.
   *
   * @default false
   * @alias normalize_advantage
   */
  normalizeAdvantage: boolean;
  /**
   * Count the value of the last observation where a time limit cut an episode; false takes the cut for an end, as the original does.
   *
   * @default true
   */
  bootstrapTruncated: boolean;
  /**
   * Network between the observations and the heads.
   *
   * @default "mlp"
   */
  network:
    | "mlp"
    | "cnn"
    | "cnn_small"
    | "conv_only"
    | "lstm"
    | "lnlstm"
    | "cnn_lstm"
    | "cnn_lnlstm";
  /**
   * Units of each hidden layer of the mlp network.
   *
   * @default [64, 64]
   * @items {"type": "integer", "minimum": 1, "maximum": 1000000}
   * @alias hidden_sizes
   */
  hiddenSizes: number[];
  /**
   * Function after each layer of the mlp network.
   *
   * @default "tanh"
   */
  activation:
    | "tanh"
    | "relu"
    | "elu"
    | "selu"
    | "leaky_relu"
    | "sigmoid"
    | "softplus"
    | "silu"
    | "linear";
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
   * Whether the value has a network of its own or takes the policy's.
   *
   * @default "shared"
   * @alias value_network
   */
  valueNetwork: "shared" | "separate";
  /**
   * Minimise one weighted sum of the losses, or each loss with an optimizer of its own.
   *
   * @default "shared"
   */
  objective: "shared" | "separate";
  /**
   * Learning rate of the value's own optimizer, for separate objectives; null takes learningRate.
   *
   * @default null
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias value_learning_rate
   */
  valueLearningRate: number | null;
  /**
   * Logarithm of the actions' standard deviation at the start, for box actions.
   *
   * @default 0
   * @minimum -80
   * @maximum 80
   * @alias log_std_init
   */
  initialLogStd: number;
  /**
   * Explore box actions with noise that depends on the state (gSDE).
   *
   * @default false
   * @alias use_sde
   */
  useSde: boolean;
  /**
   * Steps between two draws of that noise; -1 draws once for each rollout.
   *
   * @default -1
   * @minimum -1
   * @maximum 1000000000000000
   * @asType integer
   * @alias sde_sample_freq
   */
  sdeSampleFrequency: number;
  /**
   * Start from orthogonal kernels instead of Glorot uniform ones.
   *
   * @default true
   * @alias ortho_init
   */
  orthogonalInit: boolean;
}

/** JSON Schema of {@linkcode A2CConfig}, made by `deno task schema`. */
export const a2cConfigSchema: ConfigSchema = schema;

/** Settings of the original `baselines/a2c`, but time limits are no ends. */
export const defaultA2CConfig: Readonly<A2CConfig> = defaultsOf<A2CConfig>(
  a2cConfigSchema,
);
