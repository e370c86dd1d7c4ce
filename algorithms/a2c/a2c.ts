import {
  disposeParams,
  type OptimizerState,
  type Params,
  paramsToArrays,
  RandomStream,
} from "@bellman/compute";
import {
  type ActorCritic,
  actorCritic,
  type ObservationArray,
} from "@bellman/policies";
import { schedule, Scheduler } from "@bellman/schedulers";
import * as tf from "@tensorflow/tfjs";
import { choose, drawNoise, valuesOf } from "./_acting.ts";
import {
  type Actor,
  PolicyActor,
  type PolicyOptions,
} from "./_policy_actor.ts";
import type { A2COptions, A2CSpaces, A2CStep } from "./a2c_options.ts";
import { type A2CConfig, defaultA2CConfig } from "./config.ts";
import { checkConfig } from "./_check_config.ts";
import { type ActionArray, envActions } from "./_env_actions.ts";
import { optimizersOf } from "./_optimizers.ts";
import { restoreTensors } from "./_restore_tensors.ts";
import { Rollout } from "./_rollout.ts";
import { tidy } from "./_tidy.ts";
import { record, type StateTree } from "./state_tree.ts";
import { a2cUpdate, initOptimizerState } from "./update.ts";
import type { A2CUpdate } from "./update_types.ts";

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
  readonly #numEnvs: number;
  readonly #random: RandomStream;
  readonly #scheduler: Scheduler;
  readonly #update: A2CUpdate;
  readonly #toEnv: (sampled: ArrayLike<number>) => ActionArray;
  readonly #rollout: Rollout;
  readonly #noise: Float32Array;
  #params: Params;
  #optimizerState: OptimizerState;
  #state: Float32Array;
  #starts: Float32Array;
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
    this.#numEnvs = numEnvs;
    this.#random = random.split("policy");
    this.#scheduler = new Scheduler({
      value: config.learningRate,
      numValues: totalTimesteps,
      schedule: schedule(config.learningRateSchedule),
    });
    this.#update = a2cUpdate(model, { ...config, ...optimizers });
    this.#toEnv = envActions(actionSpace);
    this.#rollout = new Rollout(model, { observationSpace, numEnvs, config });
    this.#noise = new Float32Array(numEnvs * model.noise.size);
    this.#params = model.init(random.split("init"));
    this.#optimizerState = initOptimizerState(this.#params, optimizers);
    this.#state = new Float32Array(numEnvs * model.stateSize);
    this.#starts = new Float32Array(numEnvs).fill(1);
  }

  /** The present parameters, by path; the next update frees them. */
  get params(): Readonly<Params> {
    return this.#params;
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
    const seen = observations as ObservationArray;
    this.#renewNoise();
    const memory = { state: this.#state, starts: this.#starts };
    const { actions, values, state } = choose(this.model, this.#params, {
      observations: seen,
      memory,
      noise: this.#noise,
    });
    this.#rollout.decide(memory, { observations: seen, actions, values });
    if (state !== undefined) this.#state = state;
    return this.#toEnv(actions);
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
    if (this.#rollout.full) {
      const memory = { state: this.#state, starts: this.#starts };
      const inputs = { observations, memory };
      this.#rollout.end(valuesOf(this.model, this.#params, inputs));
    }
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
    const last = observations.slice();
    const final = step.finalObservations as ObservationArray;
    for (const i of cut) {
      last.set(final.subarray(i * size, (i + 1) * size), i * size);
    }
    // The episode goes on as far as the value is concerned: state kept.
    const starts = new Float32Array(this.#numEnvs);
    return valuesOf(this.model, this.#params, {
      observations: last,
      memory: { state: this.#state, starts },
    });
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
    const before = [this.#params, this.#optimizerState];
    const { stats, ...after } = tidy(() =>
      this.#update(
        this.#params,
        this.#optimizerState,
        this.#rollout.batch(targets),
        {
          learningRate: tf.scalar(rate),
          entropyCoefficient: tf.scalar(this.config.entropyCoefficient),
          valueLearningRate: tf.scalar(
            rate * valueRate / this.config.learningRate,
          ),
        },
      )
    );
    disposeParams(...before);
    this.#params = after.params;
    this.#optimizerState = after.optimizerState;
    this.#updates++;
    this.#rollout.clear();
    const statistics: Record<string, number> = {};
    for (const [name, value] of Object.entries(stats)) {
      statistics[name] = value.dataSync()[0];
    }
    disposeParams(stats);
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
   * @returns The actor; it holds no tensors.
   */
  policy(options: PolicyOptions = {}): Actor {
    return new PolicyActor(this.model, {
      deterministic: options.deterministic ?? false,
      numEnvs: options.numEnvs ?? this.#numEnvs,
      seed: options.seed ?? 0,
      sdeSampleFrequency: this.config.sdeSampleFrequency,
      params: () => this.#params,
      toEnv: this.#toEnv,
    });
  }

  /**
   * Everything needed to continue: parameters, optimizer, random stream, the
   * rollout in progress, recurrent state and counters.
   *
   * @returns Plain data, owned by the caller.
   */
  save(): StateTree {
    return {
      params: paramsToArrays(this.#params) as unknown as StateTree,
      optimizer: paramsToArrays(this.#optimizerState) as unknown as StateTree,
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
    const params = restoreTensors(saved.params, this.#params);
    const optimizer = restoreTensors(saved.optimizer, this.#optimizerState);
    disposeParams(this.#params, this.#optimizerState);
    this.#params = params;
    this.#optimizerState = optimizer;
    this.#random.load(saved.random as never);
    this.#rollout.load(saved.rollout);
    this.#state = Float32Array.from(saved.state as Float32Array);
    this.#starts = Float32Array.from(saved.starts as Float32Array);
    this.#noise.set(saved.noise as Float32Array);
    this.#updates = saved.updates as number;
  }

  /** Frees the tensors; the agent cannot be used afterwards. */
  close(): void {
    disposeParams(this.#params, this.#optimizerState);
    this.#params = {};
    this.#optimizerState = {};
  }
}
