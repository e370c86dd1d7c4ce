import {
  type ArrayWithShape,
  type CompiledStep,
  compileStep,
  disposeParams,
  type EngineName,
  ensureBackend,
  noticeNoBackend,
  type Params,
  paramTypes,
  RandomStream,
  type ResidentState,
  selectEngine,
  type TensorData,
  type TensorType,
} from "@bellman/compute";
import {
  type ActionArray,
  type Actor,
  checkActionMasks,
  choicesOf,
  envActions,
  type ExpectedMasks,
  exportPolicy,
  FrozenActor,
  type ObservationInputArrays,
  Observations,
  type Policy,
  PolicyActor,
} from "@bellman/policies";
import {
  isStateRecord,
  loadAtomically,
  type StateRecord,
} from "@bellman/files";
import { refuseUnknown } from "@bellman/files/options";
import { checkStep } from "@bellman/envs/checks";
import type * as tf from "@tensorflow/tfjs";
import type {
  Batch,
  ObservationScaling,
  PolicyExport,
  PolicyOptions,
  StateTree,
  Statistics,
  StepsTaken,
  Trainable,
  VecStep,
} from "@bellman/types";
import { buildParts } from "./_build_parts.ts";
import { checkArguments } from "./_check_parts.ts";
import type {
  AgentActions,
  AgentOptions,
  AgentSpaces,
  AgentState,
  Algorithm,
  AnyParts,
  Arrays,
  BuildContext,
  Draw,
  Exploration,
  LearnedPolicy,
  Memory,
  Normalization,
  PolicyStep,
  SavedState,
  Scalars,
  Tensors,
  Update,
} from "./algorithm.ts";
import {
  callWithHint,
  checkInputs,
  encodeBatch,
  finiteInputs,
  hostDraw,
  inputTypes,
} from "./inputs.ts";
import type { ReplayStore } from "./replay_store.ts";
import { type QValues, qValuesOf } from "./q_values.ts";
import { checkCounts, differenceOf, scalesWith } from "./saved_parts.ts";

/** Recorded results of a step whose actions exploration chose. */
const NOTHING: PolicyStep["recorded"] = {};

/** Largest number of different functions that `learn` may return, since each is compiled. */
const MOST_UPDATES = 8;

type Learner = CompiledStep<
  AgentState,
  Readonly<Record<string, TensorType>>,
  { stats: Tensors; results: Tensors }
>;
type Run = Pick<Learner, "run">;

/**
 * Agent of any algorithm: acts, records transitions, and learns when a batch is ready.
 * A restored agent continues bit for bit.
 *
 * @typeParam Config Settings of the algorithm.
 * @typeParam E Environments, or their spaces: the type of the actions.
 *
 * @example
 * ```ts
 * import { a2c } from "@bellman/a2c";
 * import { Agent } from "@bellman/agent";
 * import { selectBackend } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const agent = new Agent(a2c, {
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 3,
 * }, { config: { hiddenSizes: [8] }, seed: 1 });
 * assertEquals(agent.act(new Int32Array(3)).length, 3);
 * agent.close();
 * ```
 */
export class Agent<
  Config extends object = object,
  const E extends AgentSpaces = AgentSpaces,
> implements Trainable {
  /** All settings. */
  readonly config: Readonly<Config>;
  /** Policy that acts, without its parameters. */
  readonly model: Policy;
  /**
   * Estimates Q-values in one state, if the algorithm has a Q-function.
   *
   * @param observation Observation, as the environment returns it.
   * @param actions Actions `[count, ...]` as the policy samples them; omit for discrete
   * actions, to get all Q-values.
   * @returns Q-values `[count]`, a new array.
   */
  readonly qValues?: QValues;
  /** The replay buffer, if it is in a file. */
  readonly rows?: ReplayStore;
  /** Memory of transitions: a rollout or replay buffer, or recorded data. */
  readonly memory: Memory;
  /**
   * Counts the steps of the next updates, where recorded data alone is learned from: the
   * training loop then gets no environment.
   */
  declare readonly advance?: () => StepsTaken;
  /** Number of updates in the last call of `update`. */
  updatesInCall = 0;
  readonly #title: string;
  /** Scaling of the environment, written to exported policies. */
  readonly #spaces: AgentSpaces;
  #onNotice: AgentOptions["onNotice"];
  readonly #parts: AnyParts;
  readonly #context: BuildContext;
  readonly #normalization: Normalization;
  readonly #learner: Learner;
  /** Updates, compiled on first use. */
  readonly #programs = new Map<Update, Run>();
  readonly #actor: PolicyActor;
  readonly #exploration: Exploration;
  /** Numbers in the actions of all environments. */
  readonly #numbers: number;
  /** Current observations as stored, and as the policy sees them. */
  readonly #seen: ObservationInputArrays;
  readonly #view: (kept: ObservationInputArrays) => ObservationInputArrays;
  /** Current masks, where actions are masked. */
  readonly #masks: Uint8Array | undefined;
  readonly #expected: ExpectedMasks;
  #present: ObservationInputArrays;
  #acted = NOTHING;
  readonly #random: RandomStream;
  readonly #draw: Draw;
  readonly #progress = { steps: 0, updates: 0, fraction: 0, isLast: true };
  /** Number of updates reported by calls of `update`. */
  #told = 0;
  /** Last values by name, over all updates. */
  #statistics: Statistics = {};
  readonly #toEnv: (sampled: ArrayLike<number>) => ActionArray;
  #decision: Omit<PolicyStep, "step"> | undefined;

  /**
   * Creates an agent.
   *
   * @param algorithm Algorithm to learn with.
   * @param spaces Spaces and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range.
   * @throws {TypeError} If settings exclude each other, the algorithm cannot use a
   * space, or box actions are masked.
   */
  constructor(
    algorithm: Algorithm<Config>,
    spaces: E,
    options: AgentOptions<Config> = {},
  ) {
    checkArguments(algorithm, spaces, options);
    const { name, title = name } = algorithm.meta;
    const { seed = 0, totalTimesteps = 200_000, threads, onNotice } = options;
    const engine = selectEngine(options.engine, { onNotice }).name;
    const { numEnvs, actionSpace, actionMasks, stackedFrames = 1 } = spaces;
    if (numEnvs === undefined) {
      throw new TypeError(
        `Cannot make an agent of ${title} without numEnvs, which a single environment lacks: expected makeVec(id, { numEnvs: 1 }), or new SyncVecEnv([() => env])`,
      );
    }
    const { normalization = {}, data } = options;
    data?.checkSpaces(spaces);
    const observations = new Observations(
      spaces.observationSpace,
      normalization.observations,
    );
    const random = new RandomStream(seed);
    const latest = () => this.#learner.state.policy as ResidentState<Params>;
    const learned: LearnedPolicy = {
      get params() {
        return latest();
      },
      get compilation() {
        return { params: types, engine, threads };
      },
    };
    const context = this.#context = {
      goals: spaces,
      numEnvs,
      totalTimesteps,
      stackedFrames,
      observationSpace: observations.space,
      actionSpace,
      masked: Boolean(actionMasks),
      random: random.split("init"),
      observations,
      rewards: normalization.rewards,
      data,
      learned,
    };
    const { config, parts } = buildParts(algorithm, context, options);
    const { policy, memory } = parts, { noiseSchedule } = policy;
    const state: AgentState = parts.state;
    const types = paramTypes(state.policy);
    const { masking, actionShape } = policy.distribution;
    this.#numbers = actionShape.reduce((product, n) => product * n, numEnvs);
    this.#expected = { numEnvs, masking: context.masked ? masking : undefined };
    if (context.masked) {
      this.#masks = new Uint8Array(numEnvs * choicesOf(policy));
    }
    this.config = config;
    this.model = policy;
    this.memory = memory;
    if (memory.store?.isInFile) this.rows = memory.store;
    if (memory.advance !== undefined) {
      this.advance = () => {
        const steps = memory.advance!();
        this.#count(this.#progress.steps + steps);
        return { steps, episodes: [] };
      };
    }
    this.#title = title;
    this.#spaces = spaces;
    this.#parts = parts;
    // deno-lint-ignore no-console -- by default notices go there
    this.#onNotice = onNotice ?? ((line) => console.warn(line));
    this.#normalization = normalization;
    this.#learner = this.#compileUpdate(state);
    if (parts.qFunction !== undefined) {
      this.qValues = qValuesOf(parts.qFunction, {
        ...{ context, policy, start: state },
        present: () => this.#learner.state,
      });
    }
    disposeParams(...Object.values(state));
    this.#random = random.split("learning");
    this.#draw = hostDraw(this.#random);
    const acting = random.split("policy"), progress = this.#progress;
    this.#actor = new PolicyActor(policy, {
      numEnvs,
      actionSpace,
      ...{ masked: context.masked, random: acting, params: latest },
      compilation: learned.compilation,
      renewsNoise: () =>
        noiseSchedule?.renews(progress.steps / numEnvs) ?? true,
      record: memory.record?.bind(memory),
    });
    this.#exploration = {
      progress,
      random: acting,
      sample: () => this.#sample(),
      actionMasks: this.#masks,
      starts: this.#actor.starts,
      write: (parts) => this.#learner.writePart(parts),
    };
    this.#seen = this.#present = observations.buffer(numEnvs);
    this.#view = observations.view(numEnvs);
    this.#toEnv = envActions(actionSpace, { squashed: policy.squashesActions });
  }

  /** Compiles the first update, which lays the state out. */
  #compileUpdate(state: AgentState): Learner {
    const { engine, threads } = this.#context.learned.compilation;
    const start = { steps: 0, updates: 0, fraction: 0 };
    const inputs = this.#parts.inputs(start, hostDraw(new RandomStream(0)));
    const first: Update = this.#parts.learn({ ...start, updates: -1 });
    this.#checkUpdate(first);
    checkInputs(inputs, this.memory.batch);
    const learner = compileStep(this.#stepOf(first), {
      state,
      // Observations of a dict are nested; the step only encodes them.
      inputs: {
        ...this.memory.batch as Readonly<Record<string, TensorType>>,
        ...inputTypes(inputs),
      },
      name: `the update of ${this.#title}`,
      engine,
      threads,
    });
    this.#programs.set(first, learner);
    return learner;
  }

  /** Makes an update that encodes its batch first. */
  #stepOf(update: Update) {
    const names = Object.keys(this.memory.batch);
    const policy = this.model;
    return (held: AgentState, given: Tensors) => {
      const batch: Record<string, tf.Tensor> = {}, inputs = { ...given };
      for (const name of names) {
        batch[name] = given[name];
        delete inputs[name];
      }
      const encoded = encodeBatch(policy, batch);
      const made = callWithHint(
        () => update(held, encoded, inputs as Scalars),
        `the batch has ${Object.keys(encoded).join(", ")}`,
      );
      if (made?.state === undefined) {
        throw new TypeError(
          `The update of ${this.#title} returned no state: expected { state, stats }`,
        );
      }
      const { state, stats = {}, results = {} } = made;
      const wide = Object.keys(stats).find((name) =>
        (stats[name]?.size ?? 1) !== 1
      );
      if (wide !== undefined) {
        throw new TypeError(
          `The statistic '${wide}' of ${this.#title} has the shape [${
            stats[wide]!.shape
          }]: expected a number`,
        );
      }
      return { state, stats: stats as Tensors, results };
    };
  }

  /** Engine that computes. */
  get engine(): EngineName {
    return this.#learner.engine;
  }

  /** Environment steps observed so far, of all environments. */
  get steps(): number {
    return this.#progress.steps;
  }

  /** Updates so far. */
  get updates(): number {
    return this.#progress.updates;
  }

  /** Copy of the policy's current parameters, by path. */
  get params(): Readonly<Record<string, ArrayWithShape>> {
    return this.#learner.read().policy as Record<string, ArrayWithShape>;
  }

  /**
   * Chooses an action in each environment.
   *
   * @param observations Observations `[numEnvs, ...]`; copied.
   * @param actionMasks Action masks, 1 where a choice is allowed `[numEnvs, choices]`,
   * if the environments have some; copied.
   * @returns Actions `[numEnvs, ...]` as the environment takes them.
   * @throws {TypeError} If masks are missing, or not expected.
   */
  act(observations: Batch, actionMasks?: Uint8Array): AgentActions<E> {
    checkActionMasks(actionMasks, this.#expected);
    this.#masks?.set(actionMasks!);
    const { overdue = 0 } = this.memory;
    for (let i = 1; i <= overdue; i++) this.#learn(i === overdue);
    this.#decision = this.#decide(observations);
    return this.#toEnv(this.#decision.actions) as AgentActions<E>;
  }

  #decide(given: Batch): Omit<PolicyStep, "step"> {
    const { observations } = this.#context;
    observations.encoder.observationArray(given, this.#seen);
    observations.see(given);
    this.#present = this.#view(this.#seen);
    this.#acted = NOTHING;
    const { explore } = this.#parts;
    const actions = explore === undefined
      ? this.#sample()
      : this.#checked(explore.act(this.#exploration));
    return {
      observations: this.#seen,
      inputs: this.#present,
      actions,
      actionMasks: this.#masks,
      recorded: this.#acted,
      state: this.#actor.state,
      starts: this.#actor.starts,
      nextState: this.#acted.state as Float32Array | undefined,
    };
  }

  /** Throws if an exploration returned too many or too few actions. */
  #checked(actions: TensorData): TensorData {
    const wanted = this.#numbers;
    if (actions?.length === wanted) return actions;
    throw new RangeError(
      `Cannot act by ${
        actions?.length ?? "no"
      } numbers that explore of ${this.#title} gave: expected ${wanted}`,
    );
  }

  #sample(): TensorData {
    this.#acted = this.#actor.ask(this.#present, this.#masks);
    return this.#acted.actions!;
  }

  /**
   * Records the transition that followed the last actions.
   *
   * @param step Rewards, episode ends and observations; copied.
   * @throws {RangeError} If a number is not finite; nothing is recorded then.
   * @throws {Error} If an update is needed first.
   * @throws {TypeError} If something is not in typed arrays.
   */
  observe(step: VecStep): void {
    const steps = this.#progress.steps + this.#context.numEnvs;
    checkStep(step, { ...this.#context, step: steps });
    const decision = this.#decision;
    if (decision === undefined) {
      throw new Error("Cannot observe a step before act() chose its actions");
    }
    this.memory.add({ ...decision, step });
    if (decision.nextState) this.#actor.state.set(decision.nextState);
    this.#actor.observe(step);
    this.#decision = undefined;
    this.#count(steps);
  }

  /**
   * Ends all running episodes; call it whenever the environments are reset, before or
   * after: each episode is truncated at its last transition, rollouts, segments and
   * n-step returns end there, and recurrent states are reset. Actions without a
   * following step are dropped. `train` calls it; call it after `load` too unless the
   * environments are restored as well. Without running episodes it does nothing.
   *
   * @example
   * ```ts
   * import { DQN } from "@bellman/dqn";
   * import { selectBackend } from "@bellman/compute";
   * import { makeVec } from "@bellman/envs";
   * import { assertEquals } from "@std/assert";
   *
   * await selectBackend("cpu");
   * const env = makeVec("CartPole-v1", { numEnvs: 1 });
   * const agent = new DQN(env, { config: { hiddenSizes: [8] } });
   * for (let call = 0; call < 2; call++) {
   *   agent.endEpisodes(); // or the last step would lead to this first observation
   *   let observations = env.reset();
   *   for (let i = 0; i < 5; i++) {
   *     const step = env.step(agent.act(observations));
   *     agent.observe(step);
   *     agent.update();
   *     observations = step.observations;
   *   }
   * }
   * assertEquals(agent.updates, 0); // learningStarts is 1000
   * agent.close();
   * ```
   */
  endEpisodes(): void {
    this.#decision = undefined;
    this.memory.endEpisodes(this.#actor.state);
    this.#actor.endEpisodes();
  }

  #count(steps: number): void {
    this.#progress.steps = steps;
    this.#progress.fraction = Math.min(1, steps / this.#context.totalTimesteps);
  }

  /**
   * Learns from the batches that are ready.
   *
   * @returns Statistics of the last update, and `learning_rate`; `undefined` if no
   * batch is ready.
   */
  update(): Statistics | undefined {
    const due = this.memory.ready(this.#progress, this.#random);
    if (!Number.isSafeInteger(due) || due < 0) {
      throw new RangeError(
        `Cannot make ${due} updates, which ready of the memory asks for: expected a whole number of at least 0`,
      );
    }
    for (let i = 1; i <= due; i++) this.#learn(i === due);
    // Those that were overdue before the last decision, too.
    const { updates } = this.#progress;
    this.updatesInCall = updates - this.#told;
    if (this.updatesInCall === 0) return undefined;
    this.#told = updates;
    this.#noteEnd();
    return { ...this.#statistics };
  }

  /** Shows a notice to the user, unless it was shown before. */
  #notify(line: string): void {
    this.#onNotice?.(line);
    this.#onNotice = undefined;
  }

  /** Warns that nothing is learned any more after the schedules' end. */
  #noteEnd(): void {
    const { totalTimesteps } = this.#context;
    const isOver = this.#progress.steps > totalTimesteps;
    if (!isOver || this.#statistics.learning_rate !== 0) return;
    this.#notify(
      `${this.#title} learns nothing more: its learning rate falls to 0 within ${
        totalTimesteps.toLocaleString("en-US")
      } steps; totalTimesteps of the agent gives it more, or learningRateSchedule: constant`,
    );
  }

  /**
   * Selects the backend `auto`, unless one was selected, if updates are not compiled;
   * `train` awaits it.
   */
  async ready(): Promise<void> {
    const onNotice = this.#onNotice;
    if (this.engine === "eager") await ensureBackend({ onNotice });
  }

  /** Learns from one batch; each statistic keeps its last value. */
  #learn(isLast: boolean): void {
    const statistics = this.#statistics, progress = this.#progress;
    progress.isLast = isLast;
    if (this.engine === "eager") noticeNoBackend(this.#onNotice);
    const { inputs, learn, afterUpdate } = this.#parts;
    const program = this.#program(learn(progress));
    // Its random numbers before those of the batch.
    const numbers = finiteInputs(inputs(progress, this.#draw));
    const drawn = this.memory.sample(this.#random, progress);
    const { stats, results } = program
      .run({ ...numbers, ...drawn.batch as Arrays }) as Record<string, Arrays>;
    progress.updates++;
    for (const name in stats) statistics[name] = stats[name][0];
    Object.assign(statistics, drawn.stats);
    if (numbers.learningRate !== undefined) {
      statistics.learning_rate = numbers.learningRate as number;
    }
    if (results.tdErrors) this.memory.setPriorities?.(results.tdErrors);
    else if (this.memory.store?.hasPriorities) throw this.#unranked();
    const changed = afterUpdate?.({
      ...{ progress, statistics, results },
      read: () => this.#learner.read(),
      notify: (line) => this.#notify(line),
    });
    if (changed !== undefined) this.#learner.writePart(changed);
  }

  #unranked(): TypeError {
    return new TypeError(
      `Cannot set the priorities of ${this.#title}: expected absolute tdErrors among the results of its update, as in { state, stats, results: { tdErrors } }; what a loss computes beside its value is in aux`,
    );
  }

  /** Throws unless `learn` returned a function, one of a few. */
  #checkUpdate(update: Update): void {
    const { updates } = this.#progress;
    if (typeof update !== "function") {
      throw new TypeError(
        `Cannot make update ${updates}: learn of ${this.#title} returned ${update}, expected a function`,
      );
    }
    if (this.#programs.size < MOST_UPDATES) return;
    throw new RangeError(
      `Cannot make update ${updates}: learn of ${this.#title} has returned ${MOST_UPDATES} functions and returns another one, each to be compiled; expected some that are made once, in build`,
    );
  }

  #program(update: Update): Run {
    const known = this.#programs.get(update);
    if (known !== undefined) return known;
    this.#checkUpdate(update);
    const program = this.#learner.also(this.#stepOf(update));
    this.#programs.set(update, program);
    return program;
  }

  /**
   * Returns an actor with its own random stream and recurrent states, which uses the
   * latest parameters, or a frozen copy of the current ones.
   *
   * @param options Deterministic or not, frozen or not, number of environments, seed.
   * @returns The actor.
   */
  policy(options: PolicyOptions = {}): Actor<AgentActions<E>> {
    refuseUnknown(options, ACTOR_OPTIONS, "an actor");
    const { observations, actionSpace, masked, learned } = this.#context;
    const { numEnvs = this.#context.numEnvs, frozen = false, ...rest } =
      options;
    const { sampleFrequency = -1 } = this.model.noiseSchedule ?? {};
    const given = {
      ...rest,
      ...{ numEnvs, actionSpace, masked, compilation: learned.compilation },
      renewsNoise: (step: number) =>
        sampleFrequency !== -1 && step % sampleFrequency === 0,
    };
    if (frozen) {
      const { params } = this, scaling = this.#scaling;
      const actor: Actor = new FrozenActor(this.model, {
        ...given,
        params,
        scaling,
      });
      return actor as Actor<AgentActions<E>>;
    }
    const actor: Actor = new PolicyActor(this.model, {
      ...given,
      params: () => learned.params,
    });
    if (this.#normalization.observations === undefined) {
      return actor as Actor<AgentActions<E>>;
    }
    const read = observations.reader(numEnvs);
    return {
      numEnvs,
      act: (observations, masks) =>
        actor.act(read(observations), masks) as AgentActions<E>,
      observe: (step) => actor.observe(step),
      endEpisodes: () => actor.endEpisodes(),
    };
  }

  /** Scaling of raw observations: that of the agent, or of its environment. */
  get #scaling(): ObservationScaling | undefined {
    return this.#normalization.observations?.scaling ??
      this.#spaces.observationScaling;
  }

  /**
   * Exports the current policy as an ONNX file: scaling and encoding of observations,
   * network, choice of the action. See `exportPolicy` of `@bellman/policies`.
   *
   * @param options Batch size, deterministic or not, and observation scaling; by
   * default the agent's own normalization, or else that of its environment.
   * @returns The bytes of the file.
   */
  exportPolicy(
    options: PolicyExport = {},
  ): Uint8Array<ArrayBuffer> {
    const { scaling = this.#scaling } = options;
    const { params, model } = this, given = { ...options, params, scaling };
    const { actionSpace, masked } = this.#context;
    return exportPolicy(model, { actionSpace, masked, ...given });
  }

  /**
   * Saves parameters, optimizer state, random streams, counters, recurrent states and
   * the memory of transitions.
   *
   * @returns Plain data.
   * @throws {Error} Between `act` and `observe`.
   * @throws {TypeError} Where the file of the replay buffer has been closed.
   */
  save(): StateTree {
    if (this.#decision !== undefined) {
      throw new Error(
        "Cannot save between act() and observe(): the step's outcome is missing",
      );
    }
    const { learned, ...others } = this.#saveParts();
    return { learned, experience: this.memory.save(), ...others };
  }

  /** Saves all but the memory. */
  #saveParts(): StateRecord {
    const { observations, rewards } = this.#normalization;
    const { steps, updates } = this.#progress;
    return {
      learned: this.#learner.read(),
      acting: this.#actor.save(),
      exploration: this.#parts.explore?.save?.() ?? null,
      random: this.#random.save(),
      normalization: {
        observations: observations?.save() ?? null,
        rewards: rewards?.save() ?? null,
      },
      steps,
      updates,
      // None before the first update.
      ...(Object.keys(this.#statistics).length > 0 && {
        statistics: { ...this.#statistics },
      }),
    };
  }

  /**
   * Restores a saved state, or throws and changes nothing. Without its `experience`,
   * which an agent that only acts does not need, the memory stays as it is.
   *
   * @param state Result of {@link save}; copied.
   * @throws {TypeError} If it is the state of another algorithm or another
   * normalization.
   * @throws {RangeError} If it is the state of an agent of other sizes.
   * @throws {SyntaxError} If rows of its replay buffer in a file are damaged or lost.
   */
  load(state: StateTree): void {
    const saved = isStateRecord(state) ? state : {};
    const { learned, acting } = saved;
    if (!isStateRecord(learned) || !isStateRecord(acting)) {
      throw new TypeError(
        `Cannot restore an agent of ${this.#title} from something else: expected what save() gave`,
      );
    }
    const told = this.#told;
    try {
      loadAtomically(saved, {
        save: () => this.#saveParts(),
        load: (saved) => this.#restore(saved),
      });
    } catch (error) {
      this.#told = told;
      throw error;
    }
    this.#decision = undefined;
  }

  #restore({ learned, steps, updates, ...saved }: StateRecord): void {
    const scales = scalesWith(this.#normalization, {
      saved: saved.normalization,
      agent: this.#title,
    });
    checkCounts({ steps, updates }, this.#title);
    this.#learner.write(learned as SavedState);
    this.#actor.load(saved.acting);
    this.#parts.explore?.load?.(saved.exploration);
    this.#random.load(saved.random);
    for (const [scale, statistics] of scales) scale.load(statistics);
    this.#count(steps as number);
    this.#progress.updates = this.#told = updates as number;
    this.#statistics = { ...saved.statistics as Statistics };
    // The last that can refuse: a memory of its own restores all or nothing.
    if (saved.experience !== undefined) this.memory.load(saved.experience);
  }

  /**
   * Starts from the weights of another agent with the same form of policy, as
   * `--init-from` does. Critics, target networks and optimizer state are copied if they
   * fit. Counters, random streams and replay buffer stay; the statistics of the agent's
   * own `normalization` are copied, those of an environment are not.
   *
   * @param state Result of `save`, or `algorithm` of a checkpoint; copied.
   * @returns Names of the parts that do not fit and stay as they are.
   * @throws {TypeError} If it is not the state of an agent, of one with another
   * policy, or of one that normalizes otherwise.
   *
   * @example
   * ```ts
   * import { A2C } from "@bellman/a2c";
   * import { selectBackend } from "@bellman/compute";
   * import { makeVec } from "@bellman/envs";
   * import { assertEquals } from "@std/assert";
   *
   * await selectBackend("cpu");
   * const first = new A2C(makeVec("CartPole-v1", { numEnvs: 8 }), { seed: 1 });
   * const second = new A2C(makeVec("CartPole-v1", { numEnvs: 2 }), { seed: 2 });
   * assertEquals(second.loadWeights(first.save()), []);
   * assertEquals(second.params, first.params);
   * ```
   */
  loadWeights(state: StateTree): string[] {
    const refuse = (why: string) =>
      new TypeError(`Cannot start ${this.#title} from ${why}`);
    const { learned, normalization } = isStateRecord(state) ? state : {};
    if (!isStateRecord(learned)) {
      throw refuse("something else: expected what save() of an agent gave");
    }
    const own = this.#learner.read(), given = learned as SavedState;
    const different = differenceOf(own.policy, given.policy);
    if (different !== undefined) {
      throw refuse(
        `another policy, which has ${different}: use the same spaces, network and normalization`,
      );
    }
    const scales = normalization === undefined
      ? []
      : scalesWith(this.#normalization, {
        saved: normalization,
        agent: this.#title,
      });
    const kept = Object.keys(own)
      .filter((name) => differenceOf(own[name], given[name]) !== undefined);
    const taken = Object.keys(own).map((name) =>
      [name, (kept.includes(name) ? own : given)[name]] as const
    );
    this.#learner.write(Object.fromEntries(taken));
    for (const [scale, statistics] of scales) scale.load(statistics);
    return kept;
  }

  /**
   * Opens the file of a replay buffer, which may be larger than memory, if the settings
   * ask for one: before the first step, and before `load`, which checks the rows of an
   * existing file. `save` writes the rows to disk; they are kept until two later saves,
   * and as long as `rows.keep` names them.
   *
   * @param path Path of the file; its folder must exist.
   * @throws {TypeError} If the settings keep the replay buffer in memory.
   * @throws {SyntaxError} If the path is not that of a file.
   */
  openReplay(path: string | URL): void {
    if (this.rows === undefined) {
      throw new TypeError(
        `Cannot keep the steps of ${this.#title} in a file: expected replayStorage: file`,
      );
    }
    this.rows.open(path);
  }

  /** Frees the tensors and closes the file of the replay buffer; the agent cannot be used afterwards. */
  close(): void {
    this.#learner.close();
    this.rows?.close();
  }
}

/** Options of an actor. */
const ACTOR_OPTIONS: readonly (keyof PolicyOptions)[] = [
  ...["deterministic", "frozen", "numEnvs", "seed"] as const,
];
