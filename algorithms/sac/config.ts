/**
 * All settings of SAC. It is also the command line's help and the schema of
 * YAML files; `alias` lists the names of haarnoja/sac and stable-baselines3.
 */
export interface SacConfig {
  /**
   * Two Q functions with target networks and a temperature (twin_q), or the form of the first paper: a V function with a target network, two Q functions and a scale of rewards in the place of the temperature (value). Discrete actions take twin_q.
   *
   * @default "twin_q"
   */
  critics: "twin_q" | "value";
  /**
   * Discount of rewards, per step.
   *
   * @default 0.99
   * @minimum 0
   * @maximum 1
   * @alias discount
   */
  gamma: number;
  /**
   * Share of the new parameters by which target networks move at each update.
   *
   * @default 0.005
   * @exclusiveMinimum 0
   * @maximum 1
   */
  tau: number;
  /**
   * Updates between two moves of the target networks.
   *
   * @default 1
   * @minimum 1
   * @maximum 1000000000000000
   * @asType integer
   * @alias target_update_interval
   */
  targetUpdateInterval: number;
  /**
   * Learning rate of the policy and, unless they have their own, of the critics and the temperature.
   *
   * @default 0.0003
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias lr, learning_rate
   */
  learningRate: number;
  /**
   * Learning rate of the critics; null takes learningRate.
   *
   * @default null
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias qf_lr
   */
  criticLearningRate: number | null;
  /**
   * Learning rate of the temperature; null takes learningRate.
   *
   * @default null
   * @exclusiveMinimum 0
   * @maximum 1e30
   */
  temperatureLearningRate: number | null;
  /**
   * How the learning rates fall over the run's totalTimesteps.
   *
   * @default "constant"
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
   * Weight of the entropy, held at this value; null learns it.
   *
   * @default null
   * @minimum 0
   * @maximum 1e30
   * @alias ent_coef, alpha
   */
  temperature: number | null;
  /**
   * Weight of the entropy that learning it starts from.
   *
   * @default 1
   * @exclusiveMinimum 0
   * @maximum 1e30
   */
  initialTemperature: number;
  /**
   * Mean entropy in nats that the learned temperature holds the policy to; null takes minus the numbers of an action or, for discrete actions, targetEntropyFactor of the largest.
   *
   * @default null
   * @minimum -1e30
   * @maximum 1e30
   * @alias target_entropy
   */
  targetEntropy: number | null;
  /**
   * Share of the largest entropy that the policy is held to, for discrete actions.
   *
   * @default 0.98
   * @exclusiveMinimum 0
   * @maximum 1
   */
  targetEntropyFactor: number;
  /**
   * What rewards are multiplied with.
   *
   * @default 1
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias scale_reward, reward_scale
   */
  rewardScale: number;
  /**
   * Transitions that are kept for learning.
   *
   * @default 1000000
   * @minimum 1
   * @maximum 1000000000000000
   * @asType integer
   * @alias buffer_size, max_pool_size
   */
  bufferSize: number;
  /**
   * Transitions of one update.
   *
   * @default 256
   * @minimum 1
   * @maximum 100000000
   * @asType integer
   * @alias batch_size
   */
  batchSize: number;
  /**
   * Transitions that are collected before the first update.
   *
   * @default 100
   * @minimum 1
   * @maximum 1000000000000000
   * @asType integer
   * @alias learning_starts, min_pool_size
   */
  learningStarts: number;
  /**
   * How actions are chosen until then: each as likely, or by the policy.
   *
   * @default "uniform"
   * @alias initial_exploration_policy
   */
  initialExploration: "uniform" | "policy";
  /**
   * Steps of all copies between two times of learning.
   *
   * @default 1
   * @minimum 1
   * @maximum 1000000000000000
   * @asType integer
   * @alias train_freq
   */
  trainFrequency: number;
  /**
   * Updates at each of these times; -1 makes as many as transitions were collected.
   *
   * @default 1
   * @minimum -1
   * @maximum 1000000000000000
   * @asType integer
   * @alias gradient_steps, n_train_repeat
   */
  gradientSteps: number;
  /**
   * Steps over which rewards are summed before the value of what follows is estimated.
   *
   * @default 1
   * @minimum 1
   * @maximum 1000000
   * @asType integer
   * @alias n_steps
   */
  nSteps: number;
  /**
   * Entropies that returns of several steps count: those of all states after the first action, the soft value; or the last one's alone, as stable-baselines3 has it, which values an action too low by the others.
   *
   * @default "all"
   */
  nStepEntropy: "all" | "last";
  /**
   * Draw transitions with equal chances, in proportion to their error, or by the rank of their error.
   *
   * @default "uniform"
   */
  replay: "uniform" | "proportional" | "rank";
  /**
   * How much priorities count: 0 draws uniformly.
   *
   * @default 0.6
   * @minimum 0
   * @maximum 1
   * @alias prioritized_replay_alpha
   */
  priorityAlpha: number;
  /**
   * How far importance weights make up for priorities at first; it rises to 1 over the run.
   *
   * @default 0.4
   * @minimum 0
   * @maximum 1
   * @alias prioritized_replay_beta0
   */
  priorityBeta: number;
  /**
   * Added to each error, so that every transition has a chance.
   *
   * @default 0.000001
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias prioritized_replay_eps
   */
  priorityEpsilon: number;
  /**
   * Whether checkpoints hold the transitions too, so that a resumed run goes on bit for bit.
   *
   * @default true
   * @alias save_full_state
   */
  saveReplay: boolean;
  /**
   * Count the value of the last observation where a time limit cut an episode; false takes the cut for an end.
   *
   * @default true
   */
  bootstrapTruncated: boolean;
  /**
   * Network that turns observations into features: mlp takes them as they are, the others are for images.
   *
   * @default "mlp"
   */
  network: "mlp" | "cnn" | "cnn_small" | "conv_only";
  /**
   * Units of each hidden layer.
   *
   * @default [256, 256]
   * @items {"type": "integer", "minimum": 1, "maximum": 1000000}
   * @alias hidden_sizes, net_arch
   */
  hiddenSizes: number[];
  /**
   * Function after each hidden layer.
   *
   * @default "relu"
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
   * First values of all layers: uniform on +-1/sqrt(inputs) with biases (torch), or Glorot uniform with biases of 0 (glorot).
   *
   * @default "torch"
   */
  initializer: "torch" | "glorot";
  /**
   * Family of the policy's actions before the tanh, for box actions; a mixture needs value critics.
   *
   * @default "gaussian"
   */
  policy: "gaussian" | "mixture";
  /**
   * Gaussians of a mixture.
   *
   * @default 4
   * @minimum 1
   * @maximum 10000
   * @asType integer
   * @alias K
   */
  components: number;
  /**
   * Whether the policy's gradient goes through the Q functions (true) or is estimated by likelihood ratio (false), with value critics; null takes true, but false for mixtures.
   *
   * @default null
   */
  reparameterize: boolean | null;
  /**
   * What the policy's entropy is relative to, with value critics: every action alike, or a standard normal.
   *
   * @default "uniform"
   * @alias action_prior
   */
  actionPrior: "uniform" | "normal";
  /**
   * Weight that holds the policy's means and deviations down, with value critics.
   *
   * @default 0.001
   * @minimum 0
   * @maximum 1e30
   * @alias reg
   */
  policyRegularization: number;
  /**
   * Take the policy's loss of haarnoja/sac, with value critics: the first Q function in the place of the smaller one, and no prior where it is reparameterized.
   *
   * @default false
   */
  haarnojaPolicyLoss: boolean;
  /**
   * Let the gradient of a mixture also flow through the sampled action, as in the released haarnoja/sac; the estimate is then biased.
   *
   * @default false
   */
  haarnojaMixtureGradient: boolean;
  /**
   * Explore box actions with noise that depends on the state (gSDE).
   *
   * @default false
   * @alias use_sde
   */
  useSde: boolean;
  /**
   * Steps between two draws of that noise; -1 draws once for each trainFrequency.
   *
   * @default -1
   * @minimum -1
   * @maximum 1000000000000000
   * @asType integer
   * @alias sde_sample_freq
   */
  sdeSampleFrequency: number;
  /**
   * Logarithm of the deviation of that noise at the start.
   *
   * @default -3
   * @minimum -80
   * @maximum 80
   * @alias log_std_init
   */
  sdeInitialLogStd: number;
  /**
   * Form of log-probabilities after the tanh: `exact`, or `epsilon` as
   * haarnoja/sac and stable-baselines3 have it, which stops to count far out.
   *
   * @default "exact"
   */
  squashCorrection: "exact" | "epsilon";
}

/**
 * The settings that hold where nothing else is said: those of
 * stable-baselines3, which are those of the second paper but for the delayed
 * start.
 */
export const defaultSacConfig: Readonly<SacConfig> = {
  critics: "twin_q",
  gamma: 0.99,
  tau: 0.005,
  targetUpdateInterval: 1,
  learningRate: 3e-4,
  criticLearningRate: null,
  temperatureLearningRate: null,
  learningRateSchedule: "constant",
  temperature: null,
  initialTemperature: 1,
  targetEntropy: null,
  targetEntropyFactor: 0.98,
  rewardScale: 1,
  bufferSize: 1_000_000,
  batchSize: 256,
  learningStarts: 100,
  initialExploration: "uniform",
  trainFrequency: 1,
  gradientSteps: 1,
  nSteps: 1,
  nStepEntropy: "all",
  replay: "uniform",
  priorityAlpha: 0.6,
  priorityBeta: 0.4,
  priorityEpsilon: 1e-6,
  saveReplay: true,
  bootstrapTruncated: true,
  network: "mlp",
  hiddenSizes: [256, 256],
  activation: "relu",
  initializer: "torch",
  policy: "gaussian",
  components: 4,
  reparameterize: null,
  actionPrior: "uniform",
  policyRegularization: 0.001,
  haarnojaPolicyLoss: false,
  haarnojaMixtureGradient: false,
  useSde: false,
  sdeSampleFrequency: -1,
  sdeInitialLogStd: -3,
  squashCorrection: "exact",
};
