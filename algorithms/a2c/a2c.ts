import {
  type ArrayWithShape,
  disposeParams,
  type Params,
  RandomStream,
  type TensorType,
} from "@bellman/compute";
import {
  type ActorCritic,
  actorCritic,
  exportPolicy,
  type ExportPolicyOptions,
  type ObservationArray,
  type ObservationInputArray,
  type SpaceLike,
} from "@bellman/policies";
import { schedule, Scheduler } from "@bellman/schedulers";
import {
  Acting,
  type ActingInputs,
  drawNoise,
  observationBuffer,
} from "./_acting.ts";
import { type Learner, makeLearner } from "./_learner.ts";
import {
  type Actor,
  PolicyActor,
  type PolicyActorOptions,
  type PolicyOptions,
} from "./_policy_actor.ts";
import type { A2COptions, A2CSpaces, A2CStep } from "./a2c_options.ts";
import { type A2CConfig, defaultA2CConfig } from "./config.ts";
import { checkConfig } from "./_check_config.ts";
import { type ActionArray, envActions } from "./_env_actions.ts";
import { optimizersOf } from "./_optimizers.ts";
import { checkArrays } from "./_check_arrays.ts";
import { Rollout } from "./_rollout.ts";
import { record, type StateTree } from "./state_tree.ts";
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
  readonly #actionSpace: SpaceLike;
  readonly #numEnvs: number;
  readonly #random: RandomStream;
  readonly #scheduler: Scheduler;
  readonly #learner: Learner;
  readonly #acting: Acting;
  readonly #compilation: PolicyActorOptions["compilation"];
  readonly #toEnv: (sampled: ArrayLike<number>) => ActionArray;
  readonly #rollout: Rollout;
  readonly #noise: Float32Array;
  /** The observations that are acted on. */
  readonly #seen: ObservationInputArray;
  /**
   * Whether values are estimated at the end of a rollout: a network that is
   * not the policy's is then asked once instead of at each step. The
   * parameters are the same, and so are the values.
   */
  readonly #valuesLater: boolean;
  /** Observations whose values are asked for. */
  readonly #valued: ObservationInputArray;
  readonly #state: Float32Array;
  readonly #starts: Float32Array;
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
    this.#random = random.split("policy");
    this.#scheduler = new Scheduler({
      value: config.learningRate,
      numValues: totalTimesteps,
      schedule: schedule(config.learningRateSchedule),
    });
    this.#toEnv = envActions(actionSpace);
    this.#rollout = new Rollout(model, { numEnvs, config });
    this.#noise = new Float32Array(numEnvs * model.noise.size);
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
    this.#compilation = { params: typesOf(params), engine, threads };
    this.#acting = new Acting(model, { ...this.#compilation, numEnvs });
    this.#valuesLater = config.valueNetwork === "separate" &&
      model.stateSize === 0;
    this.#seen = observationBuffer(model, numEnvs);
    this.#valued = observationBuffer(model, numEnvs);
    this.#state = new Float32Array(numEnvs * model.stateSize);
    this.#starts = new Float32Array(numEnvs).fill(1);
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
    this.model.observationArray(observations as ObservationArray, this.#seen);
    this.#renewNoise();
    const inputs = this.#inputs(this.#seen, this.#starts);
    const { actions, values, state } = this.#valuesLater
      ? this.#acting.explore(inputs)
      : this.#acting.sample(inputs);
    this.#rollout.decide(inputs.memory, {
      observations: this.#seen,
      actions,
      values,
    });
    if (state !== undefined) this.#state.set(state);
    return this.#toEnv(actions);
  }

  #inputs(
    observations: ObservationInputArray,
    starts: Float32Array,
  ): ActingInputs {
    return {
      params: this.#learner.state.params,
      observations,
      memory: { state: this.#state, starts },
      noise: this.#noise,
    };
  }

  /** New noise; state-dependent noise stays for some steps. */
  #renewNoise(): void {
    if (this.model.usesStateDependentExploration) {
      const every = this.config.sdeSampleFrequency;
      const step = this.#rollout.numSteps;
      if (every === -1 ? step !== 0 : step % every !== 0) return;
    }
    drawNoise(this.model, this.#random, this.#noise);
  }

  /**
   * Takes in what followed the last actions.
   *
   * @param step Rewards, ends and observations; copied.
   */
  observe(step: A2CStep): void {
    const observations = step.observations as ObservationArray;
    this.#rollout.add(step, this.#finalValues(step, observations));
    for (let i = 0; i < this.#numEnvs; i++) {
      this.#starts[i] = step.terminated[i] | step.truncated[i];
    }
    if (!this.#rollout.full) return;
    if (this.#valuesLater) this.#endWithAllValues(observations);
    else this.#rollout.end(this.#valuesOf(observations, this.#starts));
  }

  #endWithAllValues(observations: ObservationArray): void {
    const { values, lastValues } = this.#acting.rolloutValues({
      params: this.#learner.state.params,
      observations: this.#rollout.observations,
      last: this.model.observationArray(observations, this.#valued),
      numSteps: this.config.numSteps,
    });
    this.#rollout.end(lastValues, values);
  }

  #valuesOf(observations: ObservationArray, starts: Float32Array) {
    this.model.observationArray(observations, this.#valued);
    return this.#acting.values(this.#inputs(this.#valued, starts));
  }

  /** Values of the last observations of episodes that were cut short. */
  #finalValues(
    step: A2CStep,
    observations: ObservationArray,
  ): Float32Array | undefined {
    if (!this.config.bootstrapTruncated) return undefined;
    const cut: number[] = [];
    for (let i = 0; i < this.#numEnvs; i++) {
      if (step.truncated[i] && !step.terminated[i]) cut.push(i);
    }
    if (cut.length === 0) return undefined;
    // The other rows of the final observations may hold anything.
    const size = this.model.observationSize;
    const last = observations.slice() as Exclude<
      ObservationArray,
      readonly number[]
    >;
    const final = step.finalObservations as typeof last;
    for (const i of cut) {
      last.set(final.subarray(i * size, (i + 1) * size), i * size);
    }
    // The episode goes on as far as the value is concerned: state kept.
    return this.#valuesOf(last, new Float32Array(this.#numEnvs));
  }

  /**
   * Learns from the rollout, once it is full.
   *
   * @returns `policy_loss`, `value_loss`, `policy_entropy`, `loss`,
   * `grad_norm`, `explained_variance` and `learning_rate`, or `undefined`
   * while the rollout is not full.
   */
  update(): Record<string, number> | undefined {
    if (!this.#rollout.full) return undefined;
    const rate = this.#learningRate();
    const targets = this.#rollout.targets();
    const valueRate = this.config.valueLearningRate ?? this.config.learningRate;
    const { stats } = this.#learner.run({
      ...this.#rollout.inputs(targets),
      learningRate: rate,
      valueLearningRate: rate * valueRate / this.config.learningRate,
      entropyCoefficient: this.config.entropyCoefficient,
    });
    this.#updates++;
    this.#rollout.clear();
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
  policy(options: PolicyOptions = {}): Actor {
    return new PolicyActor(this.model, {
      deterministic: options.deterministic ?? false,
      numEnvs: options.numEnvs ?? this.#numEnvs,
      seed: options.seed ?? 0,
      sdeSampleFrequency: this.config.sdeSampleFrequency,
      params: () => this.#learner.state.params,
      compilation: this.#compilation,
      toEnv: this.#toEnv,
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
      random: this.#random.save() as unknown as StateTree,
      rollout: this.#rollout.save(),
      state: this.#state.slice(),
      starts: this.#starts.slice(),
      noise: this.#noise.slice(),
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
  restore(state: StateTree): void {
    const saved = record(state, "an A2C agent");
    const held = this.#learner.read();
    this.#learner.write({
      params: checkArrays(saved.params, held.params),
      optimizer: checkArrays(saved.optimizer, held.optimizer),
    });
    this.#random.load(saved.random as never);
    this.#rollout.load(saved.rollout);
    this.#state.set(saved.state as Float32Array);
    this.#starts.set(saved.starts as Float32Array);
    this.#noise.set(saved.noise as Float32Array);
    this.#updates = saved.updates as number;
  }

  /** Frees the tensors; the agent cannot be used afterwards. */
  close(): void {
    this.#learner.close();
  }
}

/** Shapes and types of tensors, by path. */
function typesOf(params: Params): Record<string, TensorType> {
  return Object.fromEntries(
    Object.entries(params).map(([path, { shape, dtype }]) => [
      path,
      { shape, dtype: dtype as TensorType["dtype"] },
    ]),
  );
}
