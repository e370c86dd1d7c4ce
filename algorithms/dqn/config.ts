import { type ConfigSchema, defaultsOf } from "@bellman/agent";
import type { ReplayConfig, SacConfig } from "@bellman/sac";
import schema from "./config.schema.json" with { type: "json" };

/**
 * Settings of DQN. The comments are the command line's `--help`; the tags are the
 * defaults, ranges and other names, for YAML files and `--set` as well.
 *
 * @defaults {"bufferSize": 100000, "learningRateSchedule": "linear"}
 */
export interface DqnConfig
  extends ReplayConfig, Pick<SacConfig, "repeatExponent"> {
  /**
   * Weight of the conservative term of recorded actions (CQL), for data alone; 0 leaves it out.
   *
   * @default 0
   * @minimum 0
   * @maximum 1e30
   * @alias cql_alpha
   */
  cqlAlpha: number;
  /**
   * Let the online network choose the action whose value the target network estimates, against overestimation.
   *
   * @default true
   */
  double: boolean;
  /**
   * Use a dueling network: the last hidden layer is split into a stream for the state value and one for the advantages of the actions.
   *
   * @default false
   */
  dueling: boolean;
  /**
   * Form of the Q-values: means (mean), a return distribution on atoms of valueRange (categorical, C51), or quantiles of it (quantile, QR-DQN).
   *
   * @default "mean"
   */
  values: "mean" | "categorical" | "quantile";
  /**
   * Atoms or quantiles of each distribution; null is 51 atoms or 50 quantiles.
   *
   * @default null
   * @minimum 2
   * @maximum 100000
   * @multipleOf 1
   * @alias quantiles, n_quantiles, n_atoms
   */
  atoms: number | null;
  /**
   * Lowest and highest return of a categorical distribution, which needs them.
   *
   * @default null
   * @minItems 2
   * @maxItems 2
   */
  valueRange: number[] | null;
  /**
   * Loss of TD errors, if values are means: squared up to 1 and linear beyond (huber), or squared (mse).
   *
   * @default "huber"
   */
  loss: "huber" | "mse";
  /**
   * Exploration: epsilon-greedy in each environment (epsilon), or learned noise of the last layers, NoisyNet (noisy).
   *
   * @default "epsilon"
   */
  exploration: "epsilon" | "noisy";
  /**
   * Initial probability of a random action.
   *
   * @default 1
   * @minimum 0
   * @maximum 1
   * @alias exploration_initial_eps
   */
  initialEpsilon: number;
  /**
   * Final probability of a random action.
   *
   * @default 0.05
   * @minimum 0
   * @maximum 1
   * @alias exploration_final_eps
   */
  finalEpsilon: number;
  /**
   * Fraction of the run over which epsilon falls linearly.
   *
   * @default 0.1
   * @exclusiveMinimum 0
   * @maximum 1
   * @alias exploration_fraction
   */
  explorationFraction: number;
  /**
   * Choice of actions before the first update: uniformly at random (uniform), random ones that are each repeated for a random number of steps (repeated), or as later (policy).
   *
   * @default "uniform"
   * @alias initial_exploration_policy
   */
  initialExploration: "uniform" | "repeated" | "policy";
  /**
   * Initial standard deviation of noisy layers, times the square root of their number of inputs.
   *
   * @default 0.5
   * @minimum 0
   * @maximum 1e30
   * @alias noisy_std, sigma_init
   */
  sigma0: number;
  /**
   * Learning rate.
   *
   * @default 0.0005
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias lr, learning_rate
   */
  learningRate: number;
  /**
   * Batch size: transitions of one update.
   *
   * @default 64
   * @minimum 1
   * @maximum 100000000
   * @asType integer
   * @alias batch_size
   */
  batchSize: number;
  /**
   * Transitions to collect before the first update.
   *
   * @default 1000
   * @minimum 1
   * @maximum 1000000000000000
   * @asType integer
   * @alias learning_starts
   */
  learningStarts: number;
  /**
   * Updates (not environment steps) between two updates of the target network.
   *
   * @default 1
   * @minimum 1
   * @maximum 1000000000000000
   * @asType integer
   */
  targetInterval: number;
  /**
   * Weight of the new parameters in an update of the target network; 1 copies them.
   *
   * @default 0.005
   * @exclusiveMinimum 0
   * @maximum 1
   */
  tau: number;
  /**
   * Maximum gradient norm; null does not clip.
   *
   * @default 10
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias max_grad_norm
   */
  maxGradNorm: number | null;
  /**
   * Term added to Adam's denominator against division by zero.
   *
   * @default 1e-8
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias adam_eps
   */
  adamEpsilon: number;
}

/** JSON Schema of {@linkcode DqnConfig}, made by `deno task schema`. */
export const dqnConfigSchema: ConfigSchema = schema as ConfigSchema;

/** Default settings, for environments without a preset. */
export const defaultDqnConfig: Readonly<DqnConfig> = defaultsOf<DqnConfig>(
  dqnConfigSchema,
);
