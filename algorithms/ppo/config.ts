import type { A2CConfig, OnPolicyConfig } from "@bellman/a2c";
import { type ConfigSchema, defaultsOf } from "@bellman/agent";
import type { ScheduleName } from "@bellman/schedulers";
import schema from "./config.schema.json" with { type: "json" };

/**
 * Settings of PPO. The comments are the command line's `--help`; the tags are the
 * defaults, ranges and other names, for YAML files and `--set` as well.
 *
 * @defaults {"numSteps": 128, "gamma": 0.99, "gaeLambda": 0.95, "learningRate": 0.0003, "valueLearningRate": null, "normalizeAdvantage": true}
 */
export interface PpoConfig
  extends
    Omit<OnPolicyConfig, "entropyCoefficient">,
    Pick<A2CConfig, "valueCoefficient" | "maxGradNorm" | "objective"> {
  /**
   * Passes over each rollout.
   *
   * @default 10
   * @minimum 1
   * @maximum 1000000
   * @asType integer
   * @alias noptepochs, n_epochs, update_epochs
   */
  epochs: number;
  /**
   * Minibatches of each pass, of which each is one gradient step; they divide the steps of a rollout.
   *
   * @default 4
   * @minimum 1
   * @maximum 100000000
   * @asType integer
   * @alias nminibatches, num_minibatches
   */
  minibatches: number;
  /**
   * Distance from 1 at which the ratio of an action's probabilities is clipped.
   *
   * @default 0.2
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias cliprange, clip_range, clip_coef
   */
  clipRange: number;
  /**
   * Schedule of the clip range over the run's totalTimesteps.
   *
   * @default "constant"
   * @alias clip_range_schedule
   */
  clipRangeSchedule: ScheduleName;
  /**
   * Distance from the values when acting at which the values of the value loss are clipped; null does not clip.
   *
   * @default null
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias clip_range_vf
   */
  clipRangeValue: number | null;
  /**
   * Weight of the policy's entropy, which keeps it exploring; null is 0 for box actions and 0.01 for others.
   *
   * @default null
   * @minimum 0
   * @maximum 1e30
   * @alias ent_coef
   */
  entropyCoefficient: number | null;
  /**
   * KL divergence from the policy that acted: an update ends before the step of a minibatch with 1.5 times as much; null takes all steps.
   *
   * @default null
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias target_kl
   */
  targetKl: number | null;
  /**
   * Box actions: gaussian, clipped to the bounds of their space, or squashed into them by tanh.
   *
   * @default "gaussian"
   */
  actions: "gaussian" | "squashed";
  /**
   * Term added to Adam's denominator against division by zero.
   *
   * @default 0.00001
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias adam_eps
   */
  adamEpsilon: number;
  /**
   * Steps of the sequences that a recurrent network learns from, which divide numSteps; null is numSteps.
   *
   * @default null
   * @minimum 1
   * @maximum 100000000
   * @multipleOf 1
   * @alias sequence_length
   */
  sequenceLength: number | null;
}

/** JSON Schema of {@linkcode PpoConfig}, made by `deno task schema`. */
export const ppoConfigSchema: ConfigSchema = schema as ConfigSchema;

/** Default settings, for environments without a preset. */
export const defaultPpoConfig: Readonly<PpoConfig> = defaultsOf<PpoConfig>(
  ppoConfigSchema,
);
