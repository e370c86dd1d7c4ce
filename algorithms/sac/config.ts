import {
  type ConfigSchema,
  defaultsOf,
  type HindsightGoals,
} from "@bellman/agent";
import type { ActivationName, PartNetworks } from "@bellman/policies";
import type { ScheduleName } from "@bellman/schedulers";
import schema from "./config.schema.json" with { type: "json" };

/**
 * Settings of SAC. The comments are also the command line's help and the schema of
 * YAML files; `alias` lists the names of haarnoja/sac and stable-baselines3.
 */
export interface SacConfig {
  /**
   * Variant of SAC, which gives defaults to settings that are null: sac; tqc, whose critics estimate quantiles and drop the largest; crossq, with batch normalization instead of target networks, which needs fewer steps; redq and droq, which make 20 updates for each step. tqc and crossq take box actions and no images.
   *
   * @default "sac"
   */
  method: "sac" | "tqc" | "crossq" | "redq" | "droq";
  /**
   * Number of Q-functions; null uses 2 or, for redq, 10.
   *
   * @default null
   * @minimum 1
   * @maximum 100
   * @multipleOf 1
   * @alias n_critics
   */
  numCritics: number | null;
  /**
   * Quantiles of the return that each Q-function estimates; null uses 25 for tqc, else the mean alone is estimated.
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
   * Number of target networks drawn for each update, whose minimum is the target; null uses 2 for redq, else all.
   *
   * @default null
   * @minimum 1
   * @maximum 100
   * @multipleOf 1
   */
  targetCritics: number | null;
  /**
   * Estimate next values by target networks; null does, but not with batch normalization.
   *
   * @default null
   */
  targetNetworks: boolean | null;
  /**
   * Normalization of hidden layers: none, layer (of the critics, before each activation), or batch (batch renormalization of critics and policy, after each activation and of the inputs); null uses batch for crossq, layer for droq, else none.
   *
   * @default null
   */
  normalization: "none" | "layer" | "batch" | null;
  /**
   * Probability that a hidden unit of the critics is dropped in an update; null uses 0.01 for droq, else 0.
   *
   * @default null
   * @minimum 0
   * @exclusiveMaximum 1
   * @alias dropout_rate
   */
  dropout: number | null;
  /**
   * Critic updates for each update of policy and temperature; null uses 3 for crossq, gradientSteps for redq and droq, else 1.
   *
   * @default null
   * @minimum 1
   * @maximum 1000000
   * @multipleOf 1
   * @alias policy_delay
   */
  policyDelay: number | null;
  /**
   * Discount factor of one step.
   *
   * @default 0.99
   * @minimum 0
   * @maximum 1
   * @alias discount
   */
  gamma: number;
  /**
   * Soft update rate of the target networks (Polyak averaging): weight of the new parameters.
   *
   * @default 0.005
   * @exclusiveMinimum 0
   * @maximum 1
   */
  tau: number;
  /**
   * Learning rate of the policy, and default of those of critics and temperature; null uses 0.0003 or, for discrete actions and crossq, 0.001.
   *
   * @default null
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias lr, learning_rate
   */
  learningRate: number | null;
  /**
   * Learning rate of the critics; null uses learningRate.
   *
   * @default null
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias qf_lr, qf_learning_rate
   */
  criticLearningRate: number | null;
  /**
   * Learning rate of the temperature; null uses learningRate.
   *
   * @default null
   * @exclusiveMinimum 0
   * @maximum 1e30
   */
  temperatureLearningRate: number | null;
  /**
   * Adam's beta1, of policy and critics; null uses 0.5 for crossq, else 0.9.
   *
   * @default null
   * @minimum 0
   * @exclusiveMaximum 1
   * @alias adam_b1
   */
  adamBeta1: number | null;
  /**
   * Schedule of the learning rates over the run's totalTimesteps.
   *
   * @default "constant"
   * @alias lrschedule, lr_schedule
   */
  learningRateSchedule: ScheduleName;
  /**
   * Fixed temperature: weight of the entropy; null learns it.
   *
   * @default null
   * @minimum 0
   * @maximum 1e30
   * @alias ent_coef, alpha
   */
  temperature: number | null;
  /**
   * Initial temperature, if it is learned; null uses 1 or, for discrete actions, 0.02: a higher one makes survival worth more than many goals.
   *
   * @default null
   * @exclusiveMinimum 0
   * @maximum 1e30
   */
  initialTemperature: number | null;
  /**
   * Target of the policy's mean entropy in nats, if the temperature is learned; null uses minus the number of action dimensions or, for discrete actions, targetEntropyFactor times the largest entropy. A state whose mask allows k of n actions counts log(k)/log(n) of it.
   *
   * @default null
   * @minimum -1e30
   * @maximum 1e30
   * @alias target_entropy
   */
  targetEntropy: number | null;
  /**
   * Target entropy as a fraction of the maximum entropy, for discrete actions; with masks, that of the allowed ones.
   *
   * @default 0.3
   * @exclusiveMinimum 0
   * @maximum 1
   */
  targetEntropyFactor: number;
  /**
   * Reward scale: factor of all rewards.
   *
   * @default 1
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias scale_reward, reward_scale
   */
  rewardScale: number;
  /**
   * Capacity of the replay buffer in transitions.
   *
   * @default 1000000
   * @minimum 1
   * @maximum 1000000000000000
   * @asType integer
   * @alias buffer_size, max_pool_size
   */
  bufferSize: number;
  /**
   * Batch size: transitions of one update; null uses 256 or, for discrete actions, 64.
   *
   * @default null
   * @minimum 1
   * @maximum 100000000
   * @multipleOf 1
   * @alias batch_size
   */
  batchSize: number | null;
  /**
   * Transitions to collect before the first update; null uses 100 or, for discrete actions, a quarter of the run, but at most 5000 and bufferSize: enough to reach goals that random actions rarely reach.
   *
   * @default null
   * @minimum 1
   * @maximum 1000000000000000
   * @multipleOf 1
   * @alias learning_starts, min_pool_size
   */
  learningStarts: number | null;
  /**
   * Choice of actions before the first update: uniformly at random (uniform), random ones that are each repeated for a random number of steps (repeated), or by the policy; null uses uniform or, for discrete actions, repeated.
   *
   * @default null
   * @alias initial_exploration_policy
   */
  initialExploration: "uniform" | "repeated" | "policy" | null;
  /**
   * Exponent mu of repeated random actions (initialExploration repeated): each is repeated for n steps, at most 100, with probability in proportion to n^-mu; a large one repeats none.
   *
   * @default 2
   * @minimum 0
   * @maximum 1e30
   */
  repeatExponent: number;
  /**
   * Steps of each environment between two rounds of updates.
   *
   * @default 1
   * @minimum 1
   * @maximum 1000000000000000
   * @asType integer
   * @alias train_freq
   */
  trainFrequency: number;
  /**
   * Gradient steps per round; -1 takes as many as transitions were collected, null 20 for redq and droq, else 1.
   *
   * @default null
   * @minimum -1
   * @maximum 1000000000000000
   * @multipleOf 1
   * @alias gradient_steps, n_train_repeat
   */
  gradientSteps: number | null;
  /**
   * Number n of n-step returns: rewards summed before bootstrapping.
   *
   * @default 1
   * @minimum 1
   * @maximum 1000000
   * @asType integer
   * @alias n_steps
   */
  nSteps: number;
  /**
   * Entropies in n-step returns: those of all states after the first action (all), which is the soft value, or only the last one's (last), as in stable-baselines3, which underestimates values by the others.
   *
   * @default "all"
   */
  nStepEntropy: "all" | "last";
  /**
   * Sampling of transitions: uniform, in proportion to their error, or by the rank of their error.
   *
   * @default "uniform"
   */
  replay: "uniform" | "proportional" | "rank";
  /**
   * Exponent of the priorities; 0 samples uniformly.
   *
   * @default 0.6
   * @minimum 0
   * @maximum 1
   * @alias prioritized_replay_alpha
   */
  priorityAlpha: number;
  /**
   * Initial exponent of the importance weights; it rises to 1 over the run.
   *
   * @default 0.4
   * @minimum 0
   * @maximum 1
   * @alias prioritized_replay_beta0
   */
  priorityBeta: number;
  /**
   * Term added to each error, so that every transition can be drawn.
   *
   * @default 0.000001
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias prioritized_replay_eps
   */
  priorityEpsilon: number;
  /**
   * Hindsight experience replay for environments with goals: {"strategy": "future", "k": 4} relabels 4 of 5 sampled transitions with a goal achieved later in their episode, final with its last one, episode with any of it, random with any in the buffer.
   *
   * @default null
   */
  hindsight: HindsightGoals | null;
  /**
   * Storage of the replay buffer: memory, or a file in the run's folder, which may be larger than memory.
   *
   * @default "memory"
   */
  replayStorage: "memory" | "file";
  /**
   * Save the replay buffer in checkpoints, so that a resumed run continues bit for bit.
   *
   * @default true
   * @alias save_full_state
   */
  saveReplay: boolean;
  /**
   * Share of each batch that is from recorded data, if there is some, the rest from the replay buffer (RLPD); 1 learns from data alone.
   *
   * @default 0.5
   * @minimum 0
   * @maximum 1
   * @alias data_share
   */
  dataShare: number;
  /**
   * Bootstrap from the last observation of a truncated episode; false treats truncation as termination.
   *
   * @default true
   */
  bootstrapTruncated: boolean;
  /**
   * Feature extractor: mlp has none, parts has a network for each part of a dict, the others are for images; auto is cnn for images of at least 36x36, parts for a dict with one.
   *
   * @default "auto"
   */
  network:
    | "auto"
    | "parts"
    | "mlp"
    | "cnn"
    | "cnn_2013"
    | "cnn_small"
    | "conv_only";
  /**
   * Network of each part of dict observations, as {"camera": "cnn", "joints": "mlp"}; by default cnn for images of at least 36x36, and flat, the numbers as they are, for others.
   *
   * @default {}
   * @alias part_networks
   */
  partNetworks: PartNetworks;
  /**
   * Units of each hidden layer.
   *
   * @default [256, 256]
   * @items {"type": "integer", "minimum": 1, "maximum": 1000000}
   * @maxItems 100
   * @alias hidden_sizes, net_arch
   */
  hiddenSizes: number[];
  /**
   * Units of each hidden layer of the critics; null uses hiddenSizes.
   *
   * @default null
   * @items {"type": "integer", "minimum": 1, "maximum": 1000000}
   * @maxItems 100
   */
  criticHiddenSizes: number[] | null;
  /**
   * Activation function of each hidden layer.
   *
   * @default "relu"
   */
  activation: ActivationName;
  /**
   * Initial weights: uniform on +-1/sqrt(inputs), biases too (torch), or Glorot uniform with zero biases (glorot).
   *
   * @default "torch"
   */
  initializer: "torch" | "glorot";
  /**
   * Explore box actions with state-dependent noise (gSDE).
   *
   * @default false
   * @alias use_sde
   */
  useSde: boolean;
  /**
   * Steps between two draws of the gSDE noise; -1 draws once per trainFrequency.
   *
   * @default -1
   * @minimum -1
   * @maximum 1000000000000000
   * @asType integer
   * @alias sde_sample_freq
   */
  sdeSampleFrequency: number;
  /**
   * Initial log standard deviation of the gSDE noise.
   *
   * @default -3
   * @minimum -80
   * @maximum 80
   * @alias log_std_init
   */
  sdeInitialLogStd: number;
  /**
   * Form of the log-probability after the tanh: `exact`, or `epsilon` as in haarnoja/sac and stable-baselines3, which is imprecise for large values.
   *
   * @default "exact"
   */
  squashCorrection: "exact" | "epsilon";
}

const ELSEWHERE = "it is a setting of sac-v1 (@bellman/sac-v1)";

/** Settings of earlier versions, with the values that they had by default. */
const former: ConfigSchema["former"] = {
  critics: {
    const: "twin_q",
    description: "a value function is learned by sac-v1 (@bellman/sac-v1)",
  },
  policy: { const: "gaussian", description: ELSEWHERE },
  components: { const: 4, description: ELSEWHERE, alias: "K" },
  reparameterize: { const: null, description: ELSEWHERE },
  actionPrior: {
    const: "uniform",
    description: ELSEWHERE,
    alias: "action_prior",
  },
  policyRegularization: { const: 0.001, description: ELSEWHERE, alias: "reg" },
  haarnojaPolicyLoss: { const: false, description: ELSEWHERE },
  haarnojaMixtureGradient: { const: false, description: ELSEWHERE },
  targetUpdateInterval: {
    const: 1,
    description: "it is gone; choose a smaller tau",
    alias: "target_update_interval",
  },
};

/** JSON Schema of {@linkcode SacConfig}, made from the type. */
export const sacConfigSchema: ConfigSchema = {
  ...schema as ConfigSchema,
  former,
};

/**
 * Default settings: for box actions those of Stable-Baselines3, which are the second
 * paper's, except that learning starts earlier.
 */
export const defaultSacConfig: Readonly<SacConfig> = defaultsOf(
  sacConfigSchema,
);

/** Settings of replay and networks that SAC shares with other off-policy algorithms. */
export interface ReplayConfig extends
  Pick<
    SacConfig,
    | "gamma"
    | "learningRateSchedule"
    | "bufferSize"
    | "trainFrequency"
    | "nSteps"
    | "replay"
    | "priorityAlpha"
    | "priorityBeta"
    | "priorityEpsilon"
    | "hindsight"
    | "replayStorage"
    | "saveReplay"
    | "dataShare"
    | "bootstrapTruncated"
    | "network"
    | "partNetworks"
    | "hiddenSizes"
    | "activation"
    | "initializer"
  > {
  /**
   * Gradient steps per round; -1 takes as many as transitions were collected.
   *
   * @default 1
   * @minimum -1
   * @maximum 1000000000000000
   * @asType integer
   * @alias gradient_steps, n_train_repeat
   */
  gradientSteps: number;
}
