import type { A2CConfig } from "@bellman/a2c";
import { type ConfigSchema, defaultsOf } from "@bellman/agent";
import schema from "./config.schema.json" with { type: "json" };

/**
 * Settings of ACER. The comments are the command line's `--help`; the tags are
 * the defaults, ranges and other names, for YAML files and `--set` as well.
 *
 * @defaults {"maxGradNorm": 10, "learningRate": 0.004}
 */
export interface AcerConfig extends
  Pick<
    A2CConfig,
    | "learningRate"
    | "learningRateSchedule"
    | "optimizer"
    | "maxGradNorm"
    | "bootstrapTruncated"
    | "network"
    | "partNetworks"
    | "hiddenSizes"
    | "activation"
    | "lstmSize"
    | "initialLogStd"
    | "useSde"
    | "orthogonalInit"
  > {
  /**
   * Steps of each environment in a segment, between two on-policy updates.
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
   * Mean number of replay updates after each on-policy update, drawn from a Poisson distribution; 0 replays nothing.
   *
   * @default 4
   * @minimum 0
   * @maximum 100
   * @alias replay_ratio
   */
  replayRatio: number;
  /**
   * Steps of each environment to collect before replay starts.
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
   * Storage of the replay buffer: memory, or a file in the run's folder, which may be larger than memory.
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
   * Correct the bias of truncated importance weights, by an expectation under the policy.
   *
   * @default true
   */
  biasCorrection: boolean;
  /**
   * Project the policy gradient into a trust region around the average policy.
   *
   * @default true
   * @alias trust_region
   */
  trustRegion: boolean;
  /**
   * Size of the trust region: largest KL divergence of the policy from the average policy along its gradient.
   *
   * @default 1
   * @minimum 0
   * @maximum 1e30
   */
  delta: number;
  /**
   * Decay of the average policy's parameters.
   *
   * @default 0.99
   * @minimum 0
   * @maximum 1
   * @alias alpha
   */
  averageDecay: number;
  /**
   * Parameters that the average takes in: those after the step, or those before it, as for most variables of the original.
   *
   * @default "after_step"
   */
  averageOrder: "after_step" | "before_step";
  /**
   * Largest number of truncated episodes of an environment in a segment: more than 1 if time limits are shorter than numSteps.
   *
   * @default 1
   * @minimum 1
   * @maximum 100000000
   * @asType integer
   */
  truncationsPerSegment: number;
  /**
   * Network of the Q function: separate, or shared with the policy, as the original's.
   *
   * @default "separate"
   * @alias value_network
   */
  qNetwork: "shared" | "separate";
  /**
   * Number of sampled actions whose mean advantage is the baseline of a box or multi-discrete action.
   *
   * @default 5
   * @minimum 1
   * @maximum 1000
   * @asType integer
   */
  advantageSamples: number;
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
   * Initial recurrent state of segments: the one recorded when the policy acted (stored), or zeros, as in the original.
   *
   * @default "stored"
   */
  initialState: "stored" | "zeros";
  /**
   * First steps of a replayed segment that only warm up the recurrent state (burn-in).
   *
   * @default 0
   * @minimum 0
   * @maximum 100000000
   * @asType integer
   */
  burnIn: number;
}

/** JSON Schema of {@linkcode AcerConfig}, made by `deno task schema`. */
export const acerConfigSchema: ConfigSchema = schema;

/**
 * Default settings, for environments without a preset; those of `baselines/acer` are a
 * preset.
 */
export const defaultAcerConfig: Readonly<AcerConfig> = defaultsOf<AcerConfig>(
  acerConfigSchema,
);
