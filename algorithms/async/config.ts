import type { A2CConfig } from "@bellman/a2c";
import { type ConfigSchema, defaultsOf } from "@bellman/agent";
import schema from "./config.schema.json" with { type: "json" };

/**
 * Settings of the asynchronous methods. The comments are the command line's `--help`;
 * the tags are the defaults, ranges and other names. Each method has those that it uses.
 *
 * @defaults {"gamma": 0.99}
 */
export interface AsyncConfig extends
  Pick<
    A2CConfig,
    | "gamma"
    | "network"
    | "partNetworks"
    | "hiddenSizes"
    | "activation"
  > {
  /**
   * Largest number of steps of a rollout window (t_max); a window also ends with its episode.
   *
   * @default 8
   * @minimum 1
   * @maximum 100000
   * @asType integer
   * @alias t_max, nsteps, n_steps
   */
  maxSteps: number;
  /**
   * Steps of a worker between two updates of the shared parameters (I_AsyncUpdate); the end of an episode also updates them.
   *
   * @default 4
   * @minimum 1
   * @maximum 100000000
   * @asType integer
   * @alias i_async_update, async_update_interval
   */
  updateInterval: number;
  /**
   * Steps of all workers between two updates of the target network (I_target).
   *
   * @default 100
   * @minimum 1
   * @maximum 1000000000
   * @asType integer
   * @alias i_target, target_update_interval
   */
  targetInterval: number;
  /**
   * Final exploration rates; each worker samples one of them.
   *
   * @default [0.1, 0.01, 0.5]
   * @items {"type": "number", "minimum": 0, "maximum": 1}
   * @minItems 1
   * @alias final_epsilons
   */
  finalEpsilons: number[];
  /**
   * Probability of each final exploration rate.
   *
   * @default [0.4, 0.3, 0.3]
   * @items {"type": "number", "minimum": 0, "maximum": 1}
   * @minItems 1
   * @alias final_epsilon_probabilities
   */
  finalEpsilonProbabilities: number[];
  /**
   * Steps of all workers over which the exploration rate goes from 1 to its final value.
   *
   * @default 50000
   * @minimum 1
   * @maximum 1000000000000000
   * @asType integer
   * @alias exploration_steps
   */
  epsilonSteps: number;
  /**
   * Weight of the value loss.
   *
   * @default 0.5
   * @minimum 0
   * @maximum 1e30
   * @alias vf_coef
   */
  valueCoefficient: number;
  /**
   * Weight of the policy's entropy (beta), which keeps it exploring.
   *
   * @default 0.01
   * @minimum 0
   * @maximum 1e30
   * @alias ent_coef, beta
   */
  entropyCoefficient: number;
  /**
   * Maximum norm of a window's gradient; null does not clip.
   *
   * @default null
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias max_grad_norm
   */
  maxGradNorm: number | null;
  /**
   * Initial learning rate (eta).
   *
   * @default 0.002
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias lr, learning_rate
   */
  learningRate: number;
  /**
   * Schedule of the learning rate over the steps of all workers.
   *
   * @default "linear"
   * @alias lrschedule, lr_schedule
   */
  learningRateSchedule: "linear" | "constant";
  /**
   * Optimizer: RMSProp with statistics that the workers share, RMSProp with those of each worker, or SGD with the momentum of each worker.
   *
   * @default "shared_rmsprop"
   */
  optimizer: "shared_rmsprop" | "rmsprop" | "momentum_sgd";
  /**
   * Decay of RMSProp's mean square, or of the momentum (alpha).
   *
   * @default 0.99
   * @minimum 0
   * @maximum 0.999999
   * @alias alpha
   */
  decay: number;
  /**
   * Term added to RMSProp's mean square, inside the root.
   *
   * @default 0.001
   * @exclusiveMinimum 0
   * @maximum 1e30
   * @alias epsilon
   */
  rmspropEpsilon: number;
  /**
   * Order of the workers' steps: whenever each is ready (free), or in turn (fixed), which makes runs reproducible bit for bit.
   *
   * @default "free"
   * @alias worker_order
   */
  workerOrder: "free" | "fixed";
  /**
   * Steps of all workers between two stops, at which a run logs, evaluates and saves.
   *
   * @default 500
   * @minimum 1
   * @maximum 100000000
   * @asType integer
   * @alias steps_per_stop
   */
  stepsPerStop: number;
  /**
   * Workers that learn in threads of this machine beside those on the nodes of a cluster (--cluster), whose number is that of workers.
   *
   * @default 0
   * @minimum 0
   * @maximum 1024
   * @asType integer
   * @alias local_workers
   */
  localWorkers: number;
  /**
   * Units of the recurrent networks.
   *
   * @default 128
   * @minimum 1
   * @maximum 1000000
   * @asType integer
   * @alias lstm_size
   */
  lstmSize: number;
  /**
   * Network of the value function: separate, or shared with the policy, as in the paper.
   *
   * @default "separate"
   * @alias value_network
   */
  valueNetwork: "shared" | "separate";
}

/** JSON Schema of {@linkcode AsyncConfig}, made by `deno task schema`. */
export const asyncConfigSchema: ConfigSchema = schema;

/** Default settings; the Q-learning methods override a few. */
export const defaultAsyncConfig: Readonly<AsyncConfig> = defaultsOf<
  AsyncConfig
>(asyncConfigSchema);
