import {
  type ArrayWithShape,
  disposeParams,
  paramTypes,
  RandomStream,
} from "@bellman/compute";
import {
  type ActionArray,
  type Actor,
  type ActorCritic,
  actorCritic,
  type ActorOptions,
  envActions,
  exportPolicy,
  type ExportPolicyOptions,
  type ObservationArray,
  PolicyActor,
  type PolicyCompilation,
} from "@bellman/policies";
import type { Space, StateTree } from "@bellman/types";
import { schedule, Scheduler } from "@bellman/schedulers";
import { checkStep } from "@bellman/training";
import { Acting } from "./_acting.ts";
import { Collector } from "./_collector.ts";
import { type Learner, makeLearner } from "./_learner.ts";
import type { A2COptions, A2CSpaces, A2CStep } from "./a2c_options.ts";
import { type A2CConfig, defaultA2CConfig } from "./config.ts";
import { checkConfig } from "./_check_config.ts";
import { optimizersOf } from "./_optimizers.ts";
import { checkArrays } from "./_check_arrays.ts";
import { record } from "./state_tree.ts";
import { a2cUpdate, initOptimizerState } from "./update.ts";

/**
 * Advantage actor-critic: acts, remembers `numSteps` steps of each copy and
 * then takes one gradient step on the shared or the separate objectives.
 * Everything that it holds can be saved and restored, bit for bit.
 *
 * Source: Mnih et al. 2016 (https://arxiv.org/abs/1602.01783), synchronous as
 * in baselines/a2c.
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
 * }, { config: { numSteps: 1, hiddenSizes: [8] }, seed: 1 });
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
 * assertEquals(algorithm.update()?.learning_rate, 7e-4 * (1 - 1 / 200000));
 * algorithm.close();
 * ```
 */
export class A2C {
  /** The settings, complete. */
  readonly config: Readonly<A2CConfig>;
  /** The policy and the value function, without their parameters. */
  readonly model: ActorCritic;
  readonly #actionSpace: Space;
  readonly #numEnvs: number;
  readonly #scheduler: Scheduler;
  readonly #learner: Learner;
  readonly #collector: Collector;
  readonly #compilation: PolicyCompilation;
  readonly #toEnv: (sampled: ArrayLike<number>) => ActionArray;
  #updates = 0;

  /**
   * Makes a new agent; the TensorFlow.js backend must have been chosen.
   *
   * @param spaces Spaces of one environment, and how many copies act.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range.
   * @throws {TypeError} If a space is a dict or tuple, or gSDE is wanted for
   * actions that are not box.
   */
  constructor(spaces: A2CSpaces, options: A2COptions = {}) {
    const { seed = 0, totalTimesteps = 200_000 } = options;
    const { numEnvs, observationSpace, actionSpace } = spaces;
    const config = { ...defaultA2CConfig, ...options.config };
    checkConfig(config, { numEnvs, totalTimesteps });
    const { hiddenSizes, activation, lstmSize } = config;
    const model = actorCritic({
      observationSpace,
      actionSpace,
      network: config.network,
      networkOptions: { hiddenSizes, activation, lstmSize },
      valueNetwork: config.valueNetwork,
      initialLogStd: config.initialLogStd,
      useSde: config.useSde,
      orthogonalInit: config.orthogonalInit,
    });
    const optimizers = optimizersOf(config);
    const random = new RandomStream(seed);
    this.config = config;
    this.model = model;
    this.#actionSpace = actionSpace;
    this.#numEnvs = numEnvs;
    this.#scheduler = new Scheduler({
      value: config.learningRate,
      numValues: totalTimesteps,
      schedule: schedule(config.learningRateSchedule),
    });
    this.#toEnv = envActions(actionSpace);
    const params = model.init(random.split("init"));
    const optimizer = initOptimizerState(params, optimizers);
    const { engine, threads } = options;
    const { numSteps } = config;
    this.#learner = makeLearner(
      model,
      a2cUpdate(model, { ...config, ...optimizers }),
      { state: { params, optimizer }, numEnvs, numSteps, engine, threads },
    );
    disposeParams(params, optimizer);
    this.#compilation = { params: paramTypes(params), engine, threads };
    this.#collector = new Collector(model, {
      numEnvs,
      config,
      random: random.split("policy"),
      acting: new Acting(model, { ...this.#compilation, numEnvs }),
      params: () => this.#learner.state.params,
    });
  }

  /** A copy of the present parameters, by path. */
  get params(): Readonly<Record<string, ArrayWithShape>> {
    return this.#learner.read().params as Record<string, ArrayWithShape>;
  }

  /** What computes: ONNX Runtime, or TensorFlow.js kernel by kernel. */
  get engine(): "onnx" | "eager" {
    return this.#learner.engine;
  }

  /** Updates made so far. */
  get updates(): number {
    return this.#updates;
  }

  /**
   * Samples an action in each copy.
   *
   * @param observations Observations `[numEnvs, ...]`; copied.
   * @returns Actions `[numEnvs, ...]` as the environment takes them: box
   * actions are clipped to the bounds.
   */
  act(observations: unknown): ActionArray {
    return this.#toEnv(this.#collector.act(observations as ObservationArray));
  }

  /**
   * Takes in what followed the last actions.
   *
   * @param step Rewards, ends and observations; copied.
   * @throws {RangeError} If a number is not finite; nothing is taken in then.
   * @throws {TypeError} If something is not in typed arrays.
   */
  observe(step: A2CStep): void {
    const numEnvs = this.#numEnvs, { numSteps } = this.config;
    const before = this.#updates * numSteps + this.#collector.rollout.numSteps;
    checkStep(step, { numEnvs, step: (before + 1) * numEnvs });
    this.#collector.observe(step);
  }

  /**
   * Learns from the rollout, once it is full.
   *
   * @returns `policy_loss`, `value_loss`, `policy_entropy`, `loss`,
   * `grad_norm`, `explained_variance` and `learning_rate`, or `undefined`
   * while the rollout is not full.
   */
  update(): Record<string, number> | undefined {
    const { rollout } = this.#collector;
    if (!rollout.full) return undefined;
    const rate = this.#learningRate();
    const targets = rollout.targets();
    const valueRate = this.config.valueLearningRate ?? this.config.learningRate;
    const { stats } = this.#learner.run({
      ...rollout.inputs(targets),
      learningRate: rate,
      valueLearningRate: rate * valueRate / this.config.learningRate,
      entropyCoefficient: this.config.entropyCoefficient,
    });
    this.#updates++;
    rollout.clear();
    const statistics: Record<string, number> = {};
    for (const name in stats) {
      statistics[name] = stats[name as keyof typeof stats][0];
    }
    statistics.explained_variance = targets.explainedVariance;
    statistics.learning_rate = rate;
    return statistics;
  }

  /**
   * The original asks its scheduler once for each sample and takes the last
   * answer. Here the place follows from the number of updates, which is saved.
   */
  #learningRate(): number {
    const batch = this.#numEnvs * this.config.numSteps;
    return this.#scheduler.valueAt(this.#updates * batch + batch - 1);
  }

  /**
   * An actor that follows the newest parameters, with a random stream and a
   * recurrent state of its own.
   *
   * @param options Deterministic or not, how many copies, which seed.
   * @returns The actor.
   */
  policy(options: ActorOptions = {}): Actor {
    return new PolicyActor(this.model, {
      deterministic: options.deterministic ?? false,
      numEnvs: options.numEnvs ?? this.#numEnvs,
      seed: options.seed ?? 0,
      sdeSampleFrequency: this.config.sdeSampleFrequency,
      params: () => this.#learner.state.params,
      compilation: this.#compilation,
      actionSpace: this.#actionSpace,
    });
  }

  /**
   * The present policy as an ONNX file: scaling and encoding of observations,
   * network, choice of the action. See `exportPolicy` of `@bellman/policies`.
   *
   * @param options Scaling, size of the batch, deterministic or not.
   * @returns The bytes of the file.
   */
  exportPolicy(
    options: Omit<ExportPolicyOptions, "params" | "actionSpace"> = {},
  ): Uint8Array<ArrayBuffer> {
    const { params } = this;
    const actionSpace = this.#actionSpace;
    return exportPolicy(this.model, { ...options, params, actionSpace });
  }

  /**
   * Everything needed to continue: parameters, optimizer, random stream, the
   * rollout in progress, recurrent state and counters.
   *
   * @returns Plain data, owned by the caller.
   */
  save(): StateTree {
    const { params, optimizer } = this.#learner.read();
    return {
      params: params as unknown as StateTree,
      optimizer: optimizer as unknown as StateTree,
      ...this.#collector.save(),
      updates: this.#updates,
    };
  }

  /**
   * Continues from a state that {@link save} gave.
   *
   * @param state The state; copied.
   * @throws {TypeError} If it is not the state of such an agent.
   * @throws {RangeError} If it is one of an agent of other sizes.
   */
  load(state: StateTree): void {
    const saved = record(state, "an A2C agent");
    const held = this.#learner.read();
    this.#learner.write({
      params: checkArrays(saved.params, held.params),
      optimizer: checkArrays(saved.optimizer, held.optimizer),
    });
    this.#collector.load(saved);
    this.#updates = saved.updates as number;
  }

  /** Frees the tensors; the agent cannot be used afterwards. */
  close(): void {
    this.#learner.close();
  }
}
