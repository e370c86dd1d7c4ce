import { type ConfigSchema, defaultsOf } from "@bellman/agent";
import type { DqnConfig } from "@bellman/dqn";
import type { ReplayConfig, SacConfig } from "@bellman/sac";
import schema from "./config.schema.json" with { type: "json" };

/**
 * Settings of SAC as in its first paper. The comments are also the command line's help
 * and the schema of YAML files; `alias` lists the names of haarnoja/sac.
 *
 * @defaults {"batchSize": 256, "learningStarts": 100}
 */
export interface SacV1Config extends
  ReplayConfig,
  Pick<
    SacConfig,
    | "tau"
    | "criticLearningRate"
    | "rewardScale"
    | "repeatExponent"
    | "nStepEntropy"
    | "squashCorrection"
  >,
  Pick<DqnConfig, "batchSize" | "learningStarts" | "initialExploration"> {
  /**
   * Learning rate of the policy, and default of that of Q and V.
   *
   * @default 0.0003
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias lr, learning_rate
   */
  learningRate: number;
  /**
   * Distribution of actions before the tanh; a mixture is learned by likelihood ratio.
   *
   * @default "gaussian"
   */
  policy: "gaussian" | "mixture";
  /**
   * Number of Gaussians in a mixture.
   *
   * @default 4
   * @minimum 1
   * @maximum 10000
   * @asType integer
   * @alias K
   */
  components: number;
  /**
   * Policy gradient through the Q functions (true) or by likelihood ratio (false); null uses true, but false for mixtures.
   *
   * @default null
   */
  reparameterize: boolean | null;
  /**
   * Prior that the policy's entropy is relative to: uniform, or a standard normal.
   *
   * @default "uniform"
   * @alias action_prior
   */
  actionPrior: "uniform" | "normal";
  /**
   * Weight of the penalty on the policy's means and log standard deviations.
   *
   * @default 0.001
   * @minimum 0
   * @maximum 1e30
   * @alias reg
   */
  policyRegularization: number;
  /**
   * Use the policy loss of haarnoja/sac: the first Q-function instead of the minimum, and no prior if the policy is reparameterized.
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
}

/** JSON Schema of {@linkcode SacV1Config}, made by `deno task schema`. */
export const sacV1ConfigSchema: ConfigSchema = schema as ConfigSchema;

/** Default settings, for environments without a preset. */
export const defaultSacV1Config: Readonly<SacV1Config> = defaultsOf(
  sacV1ConfigSchema,
);
