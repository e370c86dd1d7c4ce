import {
  Agent,
  type AgentOptions,
  type AgentParts,
  type AgentSpaces,
  type AlgorithmDefinition,
  rollout,
  type RolloutData,
  type RolloutTargets,
  type RolloutTensors,
  tensorAdvantages,
  tensorExplainedVariance,
  type TensorTargets,
} from "@bellman/agent";
import { createOptimizer, type Optimizer } from "@bellman/compute";
import { type ActorCritic, actorCritic } from "@bellman/policies";
import {
  explainedVariance,
  generalizedAdvantageEstimation,
} from "@bellman/returns";
import { schedule, Scheduler } from "@bellman/schedulers";
import * as tf from "@tensorflow/tfjs";
import { type A2CConfig, a2cConfigSchema } from "./config.ts";
import { a2cPresets } from "./presets.ts";
import {
  type A2CBatch,
  type A2CHyperparameters,
  a2cUpdate,
  initOptimizerState,
} from "./update.ts";

/**
 * Advantage actor-critic as `Agent`, the command line and the benches know it.
 *
 * Source: Mnih et al. 2016 (https://arxiv.org/abs/1602.01783), synchronous as
 * in baselines/a2c.
 */
export const a2c: AlgorithmDefinition<A2CConfig, ActorCritic> = {
  name: "a2c",
  title: "A2C",
  summary: "Advantage actor-critic, synchronous (Mnih et al. 2016)",
  schema: a2cConfigSchema,
  presets: a2cPresets,
  // One learning rate is for inputs and values of about one size.
  runDefaults: { normalizeObservation: true, normalizeReward: true },
  idle(config): Record<string, string> {
    if (objectiveOf(config) === "shared") {
      return { valueLearningRate: "one step for both losses has learningRate" };
    }
    const why = "with separate objectives no loss is weighed against another";
    return { valueCoefficient: `${why}, and valueLearningRate is the value's` };
  },
  build(config, spaces): AgentParts<ActorCritic> {
    const { numSteps, valueNetwork, learningRate, entropyCoefficient } = config;
    const { hiddenSizes, activation, lstmSize } = config;
    const policy = actorCritic({
      ...spaces,
      network: config.network,
      networkOptions: { hiddenSizes, activation, lstmSize },
      valueNetwork,
      initialLogStd: config.initialLogStd,
      useSde: config.useSde,
      orthogonalInit: config.orthogonalInit,
    });
    const optimizers = optimizersOf(config);
    const update = a2cUpdate(policy, { ...config, ...optimizers });
    const rate = new Scheduler({
      value: learningRate,
      numValues: spaces.totalTimesteps,
      schedule: schedule(config.learningRateSchedule),
    });
    const valueRate = config.valueLearningRate ?? learningRate;
    const hasOwnValues = valueNetwork === "separate" && policy.stateSize === 0;
    return {
      policy,
      experience: rollout({
        numSteps,
        // A network of the values' own is asked once instead of at each step:
        // the parameters are the same, and so are the values.
        values: hasOwnValues ? "end" : "acting",
        bootstrapTruncated: config.bootstrapTruncated,
        inputs: ["advantages", "returns"],
        targets: (data) => targetsOf(data, config),
        tensorTargets: (data) => tensorTargetsOf(data, config),
      }),
      init(random) {
        const params = policy.init(random);
        return {
          policy: params,
          optimizer: initOptimizerState(params, optimizers),
        };
      },
      update(state, batch, numbers) {
        const observations = policy.encode(batch.observations);
        const { params, optimizerState, stats } = update(
          state.policy,
          state.optimizer,
          { ...batch, observations } as unknown as A2CBatch,
          numbers as unknown as A2CHyperparameters,
        );
        return { state: { policy: params, optimizer: optimizerState }, stats };
      },
      numbers({ steps }) {
        // The original asks its scheduler once for each sample and takes the
        // last answer.
        const now = rate.valueAt(steps - 1);
        return {
          learningRate: now,
          valueLearningRate: now * valueRate / learningRate,
          entropyCoefficient,
        };
      },
      stateDependentNoise: {
        renews(step) {
          const every = config.sdeSampleFrequency;
          return step % numSteps % (every === -1 ? numSteps : every) === 0;
        },
        sampleFrequency: config.sdeSampleFrequency,
      },
    };
  },
};

/** Makes the optimizer of a configuration, or the two of separate objectives. */
function optimizersOf(
  config: A2CConfig,
): { optimizer: Optimizer; valueOptimizer?: Optimizer } {
  const { useRmsprop, rmspropDecay: decay, rmspropEpsilon: epsilon } = config;
  const name = useRmsprop === null
    ? config.optimizer
    : useRmsprop
    ? "rmsprop_tf1"
    : "adam";
  const make = () => createOptimizer(name, { decay, epsilon });
  if (objectiveOf(config) === "shared") return { optimizer: make() };
  return { optimizer: make(), valueOptimizer: make() };
}

function objectiveOf(
  { objective, valueNetwork }: Pick<A2CConfig, "objective" | "valueNetwork">,
): "shared" | "separate" {
  return objective ?? valueNetwork;
}

/** Advantages and returns of a rollout. */
function targetsOf(
  data: RolloutData,
  { gamma, gaeLambda, normalizeAdvantage }: A2CConfig,
): RolloutTargets {
  const { numEnvs, numSteps } = data;
  const { advantages, returns } = generalizedAdvantageEstimation(data, {
    numEnvs,
    numSteps,
    gamma,
    lambda: gaeLambda,
  });
  return {
    inputs: {
      advantages: normalizeAdvantage ? normalized(advantages) : advantages,
      returns,
    },
    stats: { explained_variance: explainedVariance(data.values, returns) },
  };
}

/** {@linkcode targetsOf} as a function of tensors. */
function tensorTargetsOf(
  data: RolloutTensors,
  { gamma, gaeLambda: lambda, normalizeAdvantage }: A2CConfig,
): TensorTargets {
  const { advantages, returns } = tensorAdvantages(data, { gamma, lambda });
  return {
    inputs: {
      advantages: normalizeAdvantage
        ? normalizedTensor(advantages)
        : advantages,
      returns,
    },
    stats: {
      explained_variance: tensorExplainedVariance(data.values, returns),
    },
  };
}

function normalizedTensor(values: tf.Tensor): tf.Tensor {
  const { mean, variance } = tf.moments(values);
  return tf.div(tf.sub(values, mean), tf.add(tf.sqrt(variance), 1e-8));
}

/** Shifts and scales numbers to mean 0 and standard deviation 1. */
function normalized(values: ArrayLike<number>): Float32Array {
  const numbers = Array.from(values);
  const mean = numbers.reduce((sum, it) => sum + it, 0) / numbers.length;
  const variance = numbers.reduce((sum, it) => sum + (it - mean) ** 2, 0) /
    numbers.length;
  const scale = 1 / (Math.sqrt(variance) + 1e-8);
  return Float32Array.from(numbers, (it) => (it - mean) * scale);
}

/**
 * Advantage actor-critic: acts, records `numSteps` steps of each environment and
 * then takes one gradient step on the shared or the separate objectives.
 *
 * `update` returns `policy_loss`, `value_loss`, `entropy`, `loss`,
 * `grad_norm`, `explained_variance` and `learning_rate`.
 *
 * @example
 * ```ts
 * import { A2C } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const algorithm = new A2C({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 2,
 * }, { config: { numSteps: 1, hiddenSizes: [8], learningRate: 0.01 }, seed: 1 });
 *
 * const observations = new Int32Array([0, 1]);
 * const actions = algorithm.act(observations);
 * algorithm.observe({
 *   observations,
 *   rewards: Float64Array.from(actions),
 *   terminated: new Uint8Array([1, 1]),
 *   truncated: new Uint8Array(2),
 *   finalObservations: observations,
 * });
 * assertEquals(algorithm.update()?.learning_rate, 0.01 * (1 - 1 / 200000));
 * algorithm.close();
 * ```
 */
export class A2C extends Agent<A2CConfig, ActorCritic> {
  /**
   * Creates a new agent; the TensorFlow.js backend must have been chosen.
   *
   * @param spaces Spaces of one environment, and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range.
   * @throws {TypeError} If a space is a dict or tuple, or gSDE is wanted for
   * actions that are not box.
   */
  constructor(spaces: AgentSpaces, options: AgentOptions<A2CConfig> = {}) {
    super(a2c, spaces, options);
  }
}
