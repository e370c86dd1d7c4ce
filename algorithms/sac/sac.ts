import { disposeParams, paramTypes, RandomStream } from "@bellman/compute";
import {
  type ActionArray,
  type Actor,
  type ActorOptions,
  drawNoise,
  envActions,
  exportPolicy,
  type ExportPolicyOptions,
  type ObservationArray,
  PolicyActor,
  type PolicyCompilation,
  type StochasticPolicy,
} from "@bellman/policies";
import { checkStep, isStateRecord } from "@bellman/training";
import type { StateTree } from "@bellman/types";
import { ActionValues } from "./_action_values.ts";
import { checkConfig } from "./_check_config.ts";
import { Collector } from "./_collector.ts";
import { defaultSacConfig, type SacConfig } from "./config.ts";
import { rowsOf, variantOf } from "./variants.ts";
import { Hyperparameters } from "./_hyperparameters.ts";
import { type Learner, makeLearner } from "./_learner.ts";
import { Observations } from "./_observations.ts";
import { Replay } from "./_replay.ts";
import type {
  SacNormalization,
  SacOptions,
  SacSpaces,
  SacStep,
} from "./sac_options.ts";

/**
 * Soft actor-critic: acts, remembers every transition, and learns from batches
 * of them how to be rewarded and yet stay as random as it can. Everything that
 * it holds can be saved and restored, bit for bit, its transitions included.
 *
 * Box actions take the form that is used today (two Q functions, a learned
 * temperature) or, with `critics: "value"`, that of the first paper; discrete
 * ones take Christodoulou's.
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1812.05905) and its
 * forerunner (https://arxiv.org/abs/1801.01290); Christodoulou 2019
 * (https://arxiv.org/abs/1910.07207).
 *
 * @example
 * ```ts
 * import { SAC } from "@bellman/sac";
 * import { assert } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const agent = new SAC({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "box", shape: [1], low: -2, high: 2, dtype: "float32" },
 *   numEnvs: 1,
 * }, {
 *   config: { hiddenSizes: [8], batchSize: 4, learningStarts: 4, bufferSize: 100 },
 *   seed: 1,
 * });
 *
 * const observations = new Int32Array([0]);
 * for (let step = 0; step < 4; step++) {
 *   const [action] = agent.act(observations);
 *   agent.observe({
 *     observations,
 *     rewards: Float64Array.of(-Math.abs(action - 1)),
 *     terminated: new Uint8Array([1]),
 *     truncated: new Uint8Array(1),
 *     finalObservations: observations,
 *   });
 * }
 * assert(agent.update()!.critic_loss > 0);
 * agent.close();
 * ```
 */
export class SAC {
  /** The settings, complete. */
  readonly config: Readonly<SacConfig>;
  /** The policy, without its parameters. */
  readonly model: StochasticPolicy;
  readonly #spaces: SacSpaces;
  readonly #observations: Observations;
  readonly #normalization: SacNormalization;
  readonly #totalTimesteps: number;
  readonly #random: RandomStream;
  readonly #hyperparameters: Hyperparameters;
  readonly #learner: Learner;
  readonly #replay: Replay;
  readonly #collector: Collector;
  readonly #compilation: PolicyCompilation;
  readonly #actionValues: ActionValues;
  readonly #noises: Readonly<Record<string, Float32Array>>;
  readonly #toEnv: (sampled: ArrayLike<number>) => ActionArray;
  #updates = 0;

  /**
   * Makes a new agent; the TensorFlow.js backend must have been chosen.
   *
   * @param spaces Spaces of one environment, and how many copies act.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range.
   * @throws {TypeError} If settings exclude each other, or a space is neither
   * box nor discrete.
   */
  constructor(spaces: SacSpaces, options: SacOptions = {}) {
    const { seed = 0, totalTimesteps = 200_000, engine, threads } = options;
    const { numEnvs, actionSpace, stackedFrames = 1 } = spaces;
    const { observations: scale, rewards } = options.normalization ?? {};
    const config = { ...defaultSacConfig, ...options.config };
    checkConfig(config, {
      numEnvs,
      totalTimesteps,
      stackedFrames,
      actionSpace,
    });
    const observations = new Observations(spaces.observationSpace, scale);
    const form = variantOf(config, {
      observationSpace: observations.space,
      actionSpace,
    });
    const { policy } = form;
    const random = new RandomStream(seed);
    this.config = config;
    this.model = policy;
    this.#spaces = spaces;
    this.#observations = observations;
    this.#normalization = options.normalization ?? {};
    this.#totalTimesteps = totalTimesteps;
    this.#random = random.split("learning");
    this.#hyperparameters = new Hyperparameters(config, {
      totalTimesteps,
      rewardScale: options.rewardScale,
    });
    this.#toEnv = envActions(actionSpace, {
      squashed: policy.squashesActions,
    });
    // Before what takes long: memory is what is missing most often.
    this.#replay = new Replay(policy, {
      config,
      numEnvs,
      stackedFrames,
      observations,
      rewards,
    });
    const state = form.init(random.split("init"));
    this.#learner = makeLearner(form, { state, config, engine, threads });
    this.#compilation = { params: paramTypes(state.policy), engine, threads };
    this.#actionValues = new ActionValues(form, {
      types: paramTypes(state.critics),
      critics: () => this.#learner.state.critics,
      engine,
      threads,
    });
    disposeParams(...Object.values(state));
    this.#collector = new Collector(policy, {
      numEnvs,
      firstAction: form.firstAction,
      config,
      random: random.split("policy"),
      replay: this.#replay,
      observations,
      rewards,
      compilation: this.#compilation,
      params: () => this.#learner.state.policy,
    });
    const { size } = policy.distribution.noise;
    this.#noises = Object.fromEntries(
      form.noises.map((
        name,
      ) => [name, new Float32Array(rowsOf(name, config) * size)]),
    );
  }

  /** What computes: ONNX Runtime, or TensorFlow.js kernel by kernel. */
  get engine(): "onnx" | "eager" {
    return this.#learner.engine;
  }

  /** Updates made so far. */
  get updates(): number {
    return this.#updates;
  }

  /** Transitions that it can learn from. */
  get replaySize(): number {
    return this.#replay.length;
  }

  /**
   * Samples an action in each copy; at first, every action is as likely.
   *
   * @param observations Observations `[numEnvs, ...]`; copied.
   * @returns Actions `[numEnvs, ...]` as the environment takes them.
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
  observe(step: SacStep): void {
    const { numEnvs } = this.#spaces;
    const after = (this.#collector.steps + 1) * numEnvs;
    checkStep(step, { numEnvs, step: after });
    this.#collector.observe(step);
  }

  /**
   * Learns from batches of transitions, where it is time to.
   *
   * @returns The statistics of the last batch, by the names of `SacStatistics`
   * or `SacValueStatistics`, and `learning_rate`; `undefined` where nothing was
   * learned.
   */
  update(): Record<string, number> | undefined {
    const count = this.#updatesDue();
    let statistics: Record<string, number> | undefined;
    for (let i = 0; i < count; i++) {
      const isLast = i === count - 1;
      statistics = this.#learn(isLast);
    }
    return statistics;
  }

  #updatesDue(): number {
    const { learningStarts, trainFrequency, gradientSteps } = this.config;
    if (this.#replay.length < learningStarts) return 0;
    if (this.#collector.steps % trainFrequency !== 0) return 0;
    return gradientSteps === -1
      ? trainFrequency * this.#spaces.numEnvs
      : gradientSteps;
  }

  /** One update; its statistics are read where they are asked for. */
  #learn(wanted: boolean): Record<string, number> | undefined {
    const steps = this.#collector.steps * this.#spaces.numEnvs;
    const progress = Math.min(1, steps / this.#totalTimesteps);
    for (const name in this.#noises) {
      drawNoise(this.model.distribution, this.#random, this.#noises[name]);
    }
    const numbers = this.#hyperparameters.at({ steps, updates: this.#updates });
    const { stats, tdErrors } = this.#learner.run({
      ...this.#replay.draw(this.#random, progress),
      ...this.#noises,
      ...numbers,
    } as never);
    this.#updates++;
    this.#replay.learned(tdErrors);
    if (!wanted) return undefined;
    const statistics: Record<string, number> = {};
    for (const name in stats) statistics[name] = stats[name][0];
    statistics.learning_rate = numbers.learningRate;
    return statistics;
  }

  /**
   * An actor that follows the newest parameters, with a random stream of its
   * own.
   *
   * @param options Deterministic or not, how many copies, which seed.
   * @returns The actor.
   */
  policy(options: ActorOptions = {}): Actor {
    const { numEnvs = this.#spaces.numEnvs } = options;
    const actor = new PolicyActor(this.model, {
      deterministic: options.deterministic ?? false,
      numEnvs,
      seed: options.seed ?? 0,
      sdeSampleFrequency: this.config.sdeSampleFrequency,
      params: () => this.#learner.state.policy,
      compilation: this.#compilation,
      actionSpace: this.#spaces.actionSpace,
    });
    if (this.#normalization.observations === undefined) return actor;
    const read = this.#observations.reader(numEnvs);
    return {
      act: (observations) => actor.act(read(observations as ObservationArray)),
      observe: (step) => actor.observe(step),
    };
  }

  /**
   * Values of actions in one state, as the first Q function estimates them.
   *
   * @param observation One observation, as the environment gives it.
   * @param actions Box actions `[count, ...]` in [-1, 1]; not used for discrete
   * actions, whose values are all returned.
   * @returns Values `[count]`, a new array.
   */
  qValues(
    observation: ObservationArray,
    actions: ArrayLike<number>,
  ): Float32Array {
    const seen = this.#observations.reader(1)(observation);
    return this.#actionValues.of(seen, actions);
  }

  /**
   * The present policy as an ONNX file: scaling and encoding of observations,
   * network, choice of the action. See `exportPolicy` of `@bellman/policies`. An
   * agent that scales observations itself writes its own scale.
   *
   * @param options Scaling, size of the batch, deterministic or not.
   * @returns The bytes of the file.
   */
  exportPolicy(
    options: Omit<ExportPolicyOptions, "params" | "actionSpace"> = {},
  ): Uint8Array<ArrayBuffer> {
    const { policy: params } = this.#learner.read();
    const { actionSpace } = this.#spaces;
    const { scaling } = this.#normalization.observations ?? options;
    return exportPolicy(this.model, {
      ...options,
      scaling,
      params: params as ExportPolicyOptions["params"],
      actionSpace,
    });
  }

  /**
   * Everything needed to continue: parameters, target networks, optimizers,
   * random streams, counters and, with `saveReplay`, the transitions.
   *
   * @returns Plain data, owned by the caller.
   */
  save(): StateTree {
    return {
      ...(this.#learner.read() as Record<string, StateTree>),
      collector: this.#collector.save(),
      normalization: this.#savedNormalization(),
      random: this.#random.save() as unknown as StateTree,
      replay: this.config.saveReplay
        ? this.#replay.save() as unknown as StateTree
        : null,
      updates: this.#updates,
    };
  }

  #savedNormalization(): StateTree {
    const { observations, rewards } = this.#normalization;
    return {
      observations: observations?.save() ?? null,
      rewards: rewards?.save() ?? null,
    };
  }

  /**
   * Continues from a state that {@link save} gave. A state without transitions
   * is gone on with from an empty replay buffer; the first stacks of frames that
   * it draws then repeat the first frame after it.
   *
   * @param state The state; copied.
   * @throws {TypeError} If it is not the state of such an agent, or of one that
   * normalizes otherwise.
   * @throws {RangeError} If it is one of an agent of other sizes.
   */
  load(state: StateTree): void {
    if (!isStateRecord(state) || !isStateRecord(state.collector)) {
      throw new TypeError(
        "Cannot restore a SAC agent from something else: expected what save() gave",
      );
    }
    const { collector, random, replay, updates, normalization, ...learned } =
      state;
    const statistics = this.#statisticsOf(normalization ?? null);
    this.#learner.write(learned as never);
    if (replay === null) this.#replay.clear();
    else this.#replay.load(replay as never);
    this.#collector.load(collector);
    this.#random.load(random);
    this.#updates = updates as number;
    for (const [scale, saved] of statistics) scale.load(saved);
  }

  /** Every scale with its saved statistics. */
  #statisticsOf(
    saved: StateTree,
  ): [{ load(state: StateTree): void }, StateTree][] {
    const held = isStateRecord(saved) ? saved : {};
    return (["observations", "rewards"] as const).flatMap((name) => {
      const scale = this.#normalization[name], state = held[name] ?? null;
      if ((scale === undefined) !== (state === null)) {
        throw new TypeError(
          `Cannot restore a SAC agent that ${
            scale === undefined ? "does not scale" : "scales"
          } ${name} from one that ${
            scale === undefined ? "does" : "does not"
          }: expected the same normalization`,
        );
      }
      return scale === undefined ? [] : [[scale, state]];
    });
  }

  /** Frees the tensors; the agent cannot be used afterwards. */
  close(): void {
    this.#learner.close();
  }
}
