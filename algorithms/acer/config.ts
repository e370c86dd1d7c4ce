import { type ConfigSchema, defaultsOf } from "@bellman/agent";
import type { OptimizerName } from "@bellman/compute";
import type { ActivationName, NetworkName } from "@bellman/policies";
import type { ScheduleName } from "@bellman/schedulers";
import schema from "./config.schema.json" with { type: "json" };

/**
 * Settings of ACER. The comments are the command line's `--help`; the tags are
 * the defaults, ranges and other names, for YAML files and `--set` as well.
 */
export interface AcerConfig {
  /**
   * Steps of each environment in a segment: between two updates from new steps.
   *
   * @default 20
   * @minimum 1
   * @maximum 100000000
   * @asType integer
   * @alias nsteps, n_steps
   */
  numSteps: number;
  /**
   * Discount factor of one step.
   *
   * @default 0.99
   * @minimum 0
   * @maximum 1
   */
  gamma: number;
  /**
   * Weight of the Q function's loss.
   *
   * @default 0.5
   * @minimum 0
   * @maximum 1e30
   * @alias q_coef
   */
  qCoefficient: number;
  /**
   * Weight of the policy's entropy, which keeps it exploring.
   *
   * @default 0.01
   * @minimum 0
   * @maximum 1e30
   * @alias ent_coef
   */
  entropyCoefficient: number;
  /**
   * Global norm that gradients are clipped to; null does not clip.
   *
   * @default 10
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias max_grad_norm
   */
  maxGradNorm: number | null;
  /**
   * Initial learning rate.
   *
   * @default 0.004
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
   * @alias rprop_alpha
   */
  rmspropDecay: number;
  /**
   * Term added to the optimizer's denominator against division by zero.
   *
   * @default 0.00001
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias rprop_epsilon
   */
  rmspropEpsilon: number;
  /**
   * Steps of each environment that the replay buffer keeps: a multiple of numSteps.
   *
   * @default 20000
   * @minimum 1
   * @maximum 1000000000000000
   * @asType integer
   * @alias buffer_size
   */
  bufferSize: number;
  /**
   * Mean number of updates from replayed segments after each update from new ones, drawn from a Poisson distribution; 0 keeps no segments.
   *
   * @default 4
   * @minimum 0
   * @maximum 100
   * @alias replay_ratio
   */
  replayRatio: number;
  /**
   * Steps of each environment to collect before any are replayed.
   *
   * @default 500
   * @minimum 0
   * @maximum 1000000000000000
   * @asType integer
   * @alias replay_start
   */
  replayStart: number;
  /**
   * Sampling of segments: uniform, in proportion to the mean error of their Q values, or by the rank of that error.
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
   */
  priorityAlpha: number;
  /**
   * Initial exponent of the importance weights; it rises to 1 over the run.
   *
   * @default 0.4
   * @minimum 0
   * @maximum 1
   */
  priorityBeta: number;
  /**
   * Term added to each error, so that every segment can be drawn.
   *
   * @default 0.000001
   * @exclusiveMinimum 0
   * @maximum 1e30
   */
  priorityEpsilon: number;
  /**
   * Place of the replay buffer: memory, or a file in the run's folder, which may be larger than memory.
   *
   * @default "memory"
   */
  replayStorage: "memory" | "file";
  /**
   * Save the replay buffer in checkpoints, so that a resumed run continues bit for bit.
   *
   * @default true
   */
  saveReplay: boolean;
  /**
   * Largest importance weight of the policy's gradient.
   *
   * @default 10
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias c
   */
  importanceClip: number;
  /**
   * Make up for what the limit of importance weights leaves out, by an expectation under the policy.
   *
   * @default true
   */
  biasCorrection: boolean;
  /**
   * Project the policy's gradient into a trust region about the average policy.
   *
   * @default true
   * @alias trust_region
   */
  trustRegion: boolean;
  /**
   * Largest divergence of the policy from the average policy along its gradient.
   *
   * @default 1
   * @minimum 0
   * @maximum 1e30
   */
  delta: number;
  /**
   * Share that the average policy's parameters keep at each update.
   *
   * @default 0.99
   * @minimum 0
   * @maximum 1
   * @alias alpha
   */
  averageDecay: number;
  /**
   * Parameters that the average takes up: those after the step, or those before it, as most variables of the original's graph do.
   *
   * @default "after_step"
   */
  averageOrder: "after_step" | "before_step";
  /**
   * Bootstrap from the last observation of a truncated episode; false treats truncation as termination, as the original does.
   *
   * @default true
   */
  bootstrapTruncated: boolean;
  /**
   * Truncated episodes that a segment has room for in each environment: as many as time limits shorter than numSteps cut.
   *
   * @default 1
   * @minimum 1
   * @maximum 100000000
   * @asType integer
   */
  truncationsPerSegment: number;
  /**
   * Network between the observations and the heads: auto is cnn for images of at least 36x36, mlp for others.
   *
   * @default "auto"
   */
  network: NetworkName;
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
   * Network of the Q function: separate, or shared with the policy, as the original's.
   *
   * @default "separate"
   * @alias value_network
   */
  qNetwork: "shared" | "separate";
  /**
   * Actions of the policy that the advantage of a box or multi-discrete action is compared with.
   *
   * @default 5
   * @minimum 1
   * @maximum 1000
   * @asType integer
   */
  advantageSamples: number;
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
   * Steps between two draws of the gSDE noise; -1 draws once per segment.
   *
   * @default -1
   * @minimum -1
   * @maximum 1000000000000000
   * @asType integer
   * @alias sde_sample_freq
   */
  sdeSampleFrequency: number;
  /**
   * Recurrent state that segments start from: the one that the policy had when it acted (stored), or zeros, as in the original.
   *
   * @default "stored"
   */
  initialState: "stored" | "zeros";
  /**
   * First steps of a replayed segment that only bring the recurrent state up to date.
   *
   * @default 0
   * @minimum 0
   * @maximum 100000000
   * @asType integer
   */
  burnIn: number;
  /**
   * Initialize kernels orthogonally instead of Glorot uniform.
   *
   * @default true
   * @alias ortho_init
   */
  orthogonalInit: boolean;
}

/** JSON Schema of {@linkcode AcerConfig}, made by `deno task schema`. */
export const acerConfigSchema: ConfigSchema = schema;

/** Settings that learn where there is no preset; those of `baselines/acer` are a preset. */
export const defaultAcerConfig: Readonly<AcerConfig> = defaultsOf<AcerConfig>(
  acerConfigSchema,
);
