import {
  type ArrayWithShape,
  type CompiledStep,
  compileStep,
  disposeParams,
  type Engine,
  type Params,
  paramTypes,
  RandomStream,
  type ResidentState,
  type TensorData,
  type TensorType,
} from "@bellman/compute";
import {
  type ActionArray,
  type Actor,
  type ActorOptions,
  compilePolicy,
  drawNoise,
  envActions,
  exportPolicy,
  type ExportPolicyOptions,
  type ObservationArray,
  type ObservationInputArray,
  type Policy,
  PolicyActor,
  type PolicyCompilation,
} from "@bellman/policies";
import { checkSettings, checkStep, isStateRecord } from "@bellman/training";
import type {
  Algorithm,
  Batch,
  StateTree,
  Statistics,
  VecStep,
} from "@bellman/types";
import type * as tf from "@tensorflow/tfjs";
import type {
  AgentParts,
  AgentSpaces,
  AgentState,
  AlgorithmDefinition,
  Arrays,
  Decision,
  Experience,
  Exploration,
  Moment,
  SavedState,
  Tensors,
  UpdateNoise,
} from "./definition.ts";
import { type Normalization, Observations } from "./observations.ts";
import { checkRanges, defaultsOf } from "./schema.ts";

/**
 * Options of {@link Agent}.
 *
 * @typeParam Config Settings of the algorithm.
 */
export interface AgentOptions<Config extends object = object> {
  /**
   * Settings that differ from the defaults.
   *
   * @default {}
   */
  readonly config?: Partial<Config>;
  /**
   * Root of the random streams: a whole number of at least 0.
   *
   * @default 0
   */
  readonly seed?: number;
  /**
   * Environment steps of the whole run: the length of schedules.
   *
   * @default 200000
   */
  readonly totalTimesteps?: number;
  /**
   * Scales of observations and rewards that move with what is seen.
   *
   * @default none
   */
  readonly normalization?: Normalization;
  /**
   * Engine of acting and learning: ONNX Runtime on compiled graphs, or
   * TensorFlow.js.
   *
   * @default "auto"
   */
  readonly engine?: Engine;
  /**
   * Threads of ONNX Runtime; `auto` takes one for small networks.
   *
   * @default "auto"
   */
  readonly threads?: number | "auto";
}

type Learner = CompiledStep<
  AgentState,
  Readonly<Record<string, TensorType>>,
  { stats: Tensors; results: Tensors }
>;

const SCALAR: TensorType = { shape: [], dtype: "float32" };

/** Results of acting where the policy did not act. */
const UNKNOWN: Readonly<Record<string, TensorData | undefined>> = {};

/**
 * An agent of any algorithm: acts, records, and learns when a batch is due.
 * Everything that it holds can be saved and restored, bit for bit.
 *
 * @typeParam Config Settings of the algorithm.
 * @typeParam P Policy that acts.
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
export class Agent<Config extends object = object, P extends Policy = Policy>
  implements Algorithm {
  /** All settings. */
  readonly config: Readonly<Config>;
  /** Policy that acts, without its parameters. */
  readonly model: P;
  /** Experience that it learns from. */
  protected readonly experience: Experience;
  /** Observations as they are kept and as the policy sees them. */
  protected readonly observations: Observations;
  readonly #title: string;
  readonly #spaces: AgentSpaces;
  readonly #totalTimesteps: number;
  readonly #normalization: Normalization;
  readonly #parts: AgentParts<P>;
  readonly #learner: Learner;
  readonly #compilation: PolicyCompilation;
  readonly #random: RandomStream;
  readonly #acting: RandomStream;
  readonly #moment: { -readonly [K in keyof Moment]: Moment[K] };
  readonly #exploration: Exploration;
  /** Random inputs of an update. */
  readonly #noises: readonly { noise: UpdateNoise; array: Float32Array }[];
  readonly #noiseInputs: Readonly<Record<string, Float32Array>>;
  readonly #noise: Float32Array;
  readonly #memory: { state: Float32Array; starts: Float32Array };
  /** The observations that are acted on. */
  readonly #seen: ObservationInputArray;
  readonly #view: ReturnType<Observations["view"]>;
  readonly #toEnv: (sampled: ArrayLike<number>) => ActionArray;
  #run: ReturnType<typeof compilePolicy> | undefined;
  #inputs: ObservationInputArray;
  #acted = UNKNOWN;
  #decision: Decision | undefined;

  /**
   * Creates a new agent; the TensorFlow.js backend must have been chosen.
   *
   * @param definition The algorithm.
   * @param spaces Spaces of one environment, and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range.
   * @throws {TypeError} If settings exclude each other, or the algorithm cannot
   * use a space.
   */
  constructor(
    definition: AlgorithmDefinition<Config, P>,
    spaces: AgentSpaces,
    options: AgentOptions<Config> = {},
  ) {
    const { schema, name, title = name } = definition;
    const { seed = 0, totalTimesteps = 200_000, engine, threads } = options;
    const { numEnvs, actionSpace, stackedFrames = 1 } = spaces;
    const { normalization = {} } = options;
    const config = { ...defaultsOf<Config>(schema), ...options.config };
    checkSettings({ numEnvs, totalTimesteps, stackedFrames }, {
      of: title,
      minimum: 1,
      whole: true,
    });
    checkRanges(config, { of: title, schema });
    const observations = new Observations(
      spaces.observationSpace,
      normalization.observations,
    );
    const context = {
      observationSpace: observations.space,
      actionSpace,
      numEnvs,
      stackedFrames,
      totalTimesteps,
    };
    definition.check?.(config, context);
    const parts = definition.build(config, context);
    const { policy, updateNoise = {} } = parts;
    const random = new RandomStream(seed);
    const state = parts.init(random.split("init"));
    this.config = config;
    this.model = policy;
    this.observations = observations;
    this.#title = title;
    this.#spaces = spaces;
    this.#totalTimesteps = totalTimesteps;
    this.#normalization = normalization;
    this.#parts = parts;
    this.#random = random.split("learning");
    this.#acting = random.split("policy");
    this.#moment = { steps: 0, updates: 0, progress: 0 };
    this.#exploration = {
      moment: this.#moment,
      random: this.#acting,
      sample: () => this.#sample(),
    };
    this.#compilation = { params: paramTypes(state.policy), engine, threads };
    // Before what takes long: memory is what is missing most often.
    this.experience = parts.experience({
      ...context,
      policy,
      params: this.#params,
      compilation: this.#compilation,
      observations,
      rewards: normalization.rewards,
    });
    const inputs = {
      ...this.experience.batch,
      ...mapValues(updateNoise, ({ rows, size }): TensorType => ({
        shape: [rows, size],
        dtype: "float32",
      })),
      ...mapValues(parts.numbers(this.#moment), () => SCALAR),
    };
    const update = (held: AgentState, given: unknown) => {
      const { results = {}, ...rest } = parts.update(
        held,
        given as Tensors,
        given as Record<string, tf.Scalar>,
      );
      return { ...rest, results };
    };
    this.#learner = compileStep(update as never, {
      state,
      inputs,
      name: `the update of ${title}`,
      engine,
      threads,
    }) as unknown as Learner;
    disposeParams(...Object.values(state));
    this.#noiseInputs = mapValues(
      updateNoise,
      ({ rows, size }) => new Float32Array(rows * size),
    );
    this.#noises = Object.entries(updateNoise).map(([name, noise]) => ({
      noise,
      array: this.#noiseInputs[name],
    }));
    this.#noise = new Float32Array(numEnvs * policy.noise.size);
    this.#memory = {
      state: new Float32Array(numEnvs * policy.stateSize),
      starts: new Float32Array(numEnvs).fill(1),
    };
    this.#seen = this.#inputs = observations.buffer(numEnvs);
    this.#view = observations.view(numEnvs);
    this.#toEnv = envActions(actionSpace, { squashed: policy.squashesActions });
  }

  /** Engine that computes: ONNX Runtime, or TensorFlow.js kernel by kernel. */
  get engine(): "onnx" | "eager" {
    return this.#learner.engine;
  }

  /** Updates so far. */
  get updates(): number {
    return this.#moment.updates;
  }

  /** Copy of the policy's present parameters, by path. */
  get params(): Readonly<Record<string, ArrayWithShape>> {
    return this.#learner.read().policy as Record<string, ArrayWithShape>;
  }

  /** Present state, for compiled functions to read in place. */
  protected get state(): ResidentState<AgentState> {
    return this.#learner.state;
  }

  readonly #params = (): ResidentState<Params> =>
    this.#learner.state.policy as ResidentState<Params>;

  /**
   * Chooses an action in each environment.
   *
   * @param observations Observations `[numEnvs, ...]`; copied.
   * @returns Actions `[numEnvs, ...]` as the environment takes them.
   * @throws {Error} If an update is due first.
   */
  act(observations: Batch): ActionArray {
    if (this.experience.full) {
      throw new Error(
        "Cannot act after a full rollout: call update() to learn from it first",
      );
    }
    const given = observations as ObservationArray;
    const seen = this.observations.encoder.copy(given, this.#seen);
    this.observations.see(given);
    this.#inputs = this.#view(seen);
    this.#acted = UNKNOWN;
    const { explore } = this.#parts;
    const actions = explore === undefined
      ? this.#sample()
      : explore(this.#exploration);
    this.#decision = {
      observations: seen,
      inputs: this.#inputs,
      actions,
      recorded: this.#acted,
      memory: this.#memory,
      nextState: this.#acted.state as Float32Array | undefined,
    };
    return this.#toEnv(actions);
  }

  #sample(): TensorData {
    this.#renewNoise();
    this.#run ??= this.#compileActing();
    this.#acted = this.#run({
      params: this.#params(),
      observations: this.#inputs,
      noise: this.#noise,
      memory: this.#memory,
    });
    return this.#acted.actions!;
  }

  #compileActing(): ReturnType<typeof compilePolicy> {
    const { policy } = this.#parts;
    return compilePolicy(policy, (output, given) => ({
      ...this.experience.record?.(output, given),
      actions: policy.sample(given.params, output, { noise: given.noise }),
      state: output.state,
    }), {
      ...this.#compilation,
      name: "acting",
      numEnvs: this.#spaces.numEnvs,
      sampled: true,
    });
  }

  /** Draws new noise; state-dependent noise stays for some steps. */
  #renewNoise(): void {
    const { policy, stateDependentNoise } = this.#parts;
    if (policy.usesStateDependentExploration && stateDependentNoise) {
      const step = this.#moment.steps / this.#spaces.numEnvs;
      const isFirst = this.#noise.every((it) => it === 0);
      if (!isFirst && !stateDependentNoise.renews(step)) return;
    }
    drawNoise(policy, this.#acting, this.#noise);
  }

  /**
   * Takes in the step that followed the last actions.
   *
   * @param step Rewards, ends and observations; copied.
   * @throws {RangeError} If a number is not finite; nothing is taken in then.
   * @throws {TypeError} If something is not in typed arrays.
   */
  observe(step: VecStep): void {
    const { numEnvs } = this.#spaces;
    const steps = this.#moment.steps + numEnvs;
    checkStep(step, { numEnvs, step: steps });
    if (this.#decision === undefined) {
      throw new Error("Cannot observe a step before act() chose its actions");
    }
    const { nextState } = this.#decision;
    const { state, starts } = this.#memory;
    this.experience.add(this.#decision, step);
    if (nextState !== undefined) state.set(nextState);
    for (let i = 0; i < numEnvs; i++) {
      starts[i] = step.terminated[i] | step.truncated[i];
    }
    this.#decision = undefined;
    this.#moment.steps = steps;
    this.#moment.progress = Math.min(1, steps / this.#totalTimesteps);
  }

  /**
   * Learns from the batches that are due.
   *
   * @returns Statistics of the last update by their names in the algorithm, and
   * `learning_rate`; `undefined` where no batch is due.
   */
  update(): Statistics | undefined {
    const due = this.experience.due(this.#moment);
    for (let i = 1; i < due; i++) this.#learn();
    if (due === 0) return undefined;
    const { stats, learningRate } = this.#learn();
    const statistics: Statistics = {};
    for (const name in stats) statistics[name] = stats[name][0];
    Object.assign(statistics, this.experience.stats);
    if (learningRate !== undefined) statistics.learning_rate = learningRate;
    return statistics;
  }

  #learn(): { stats: Arrays; learningRate?: number } {
    const { experience } = this;
    for (const { noise, array } of this.#noises) {
      drawNoise({ noise }, this.#random, array);
    }
    const numbers = this.#parts.numbers(this.#moment);
    const batch = experience.draw(this.#moment, this.#random);
    const { stats, results } = this.#learner.run({
      ...batch,
      ...this.#noiseInputs,
      ...numbers,
    });
    this.#moment.updates++;
    experience.learned?.(results as Arrays);
    const refreshed = this.#parts.refresh?.(
      this.#moment,
      () => this.#learner.read(),
    );
    if (refreshed !== undefined) this.#learner.write(refreshed);
    return { stats: stats as Arrays, learningRate: numbers.learningRate };
  }

  /**
   * Makes an actor that follows the newest parameters, with a random stream and a
   * recurrent state of its own.
   *
   * @param options Deterministic or not, number of environments, seed.
   * @returns The actor.
   */
  policy(options: ActorOptions = {}): Actor {
    const { policy, stateDependentNoise } = this.#parts;
    const { deterministic = false, seed = 0 } = options;
    const { numEnvs = this.#spaces.numEnvs } = options;
    const actor = new PolicyActor(policy, {
      deterministic,
      numEnvs,
      seed,
      sdeSampleFrequency: stateDependentNoise?.sampleFrequency,
      params: this.#params,
      compilation: this.#compilation,
      actionSpace: this.#spaces.actionSpace,
    });
    if (this.#normalization.observations === undefined) return actor;
    const read = this.observations.reader(numEnvs);
    return {
      act: (observations) => actor.act(read(observations as ObservationArray)),
      observe: (step) => actor.observe(step),
    };
  }

  /**
   * Writes the present policy as an ONNX file: scaling and encoding of
   * observations, network, choice of the action. See `exportPolicy` of
   * `@bellman/policies`. An agent that scales observations itself writes its own
   * scale.
   *
   * @param options Scaling, size of the batch, deterministic or not.
   * @returns The bytes of the file.
   */
  exportPolicy(
    options: Omit<ExportPolicyOptions, "params" | "actionSpace"> = {},
  ): Uint8Array<ArrayBuffer> {
    const { scaling } = this.#normalization.observations ?? options;
    const { actionSpace } = this.#spaces;
    const { params, model } = this;
    return exportPolicy(model, { ...options, scaling, params, actionSpace });
  }

  /**
   * Saves parameters, optimizer slots, random streams, counters, recurrent state
   * and experience.
   *
   * @returns Plain data, owned by the caller.
   * @throws {Error} Between `act` and `observe`.
   */
  save(): StateTree {
    if (this.#decision !== undefined) {
      throw new Error(
        "Cannot save between act() and observe(): the step's outcome is missing",
      );
    }
    const { steps, updates } = this.#moment;
    const { observations, rewards } = this.#normalization;
    const { state, starts } = this.#memory;
    return {
      learned: this.#learner.read() as unknown as StateTree,
      experience: this.experience.save(),
      normalization: {
        observations: observations?.save() ?? null,
        rewards: rewards?.save() ?? null,
      },
      random: this.#random.save() as unknown as StateTree,
      acting: {
        random: this.#acting.save() as unknown as StateTree,
        noise: this.#noise.slice(),
        state: state.slice(),
        starts: starts.slice(),
      },
      steps,
      updates,
    };
  }

  /**
   * Restores a state that {@link save} gave.
   *
   * @param state The state; copied.
   * @throws {TypeError} If it is not the state of such an agent, or of one that
   * normalizes otherwise.
   * @throws {RangeError} If it is one of an agent of other sizes.
   */
  load(state: StateTree): void {
    const saved = isStateRecord(state) ? state : {};
    const { learned, acting, experience, random, steps, updates } = saved;
    if (!isStateRecord(learned) || !isStateRecord(acting)) {
      throw new TypeError(
        `Cannot restore an agent of ${this.#title} from something else: expected what save() gave`,
      );
    }
    const parts = checkParts(
      learned as unknown as SavedState,
      this.#learner.read(),
    );
    const scales = this.#scalesWith(saved.normalization);
    this.#learner.write(parts);
    this.experience.load(experience);
    this.#random.load(random);
    this.#acting.load(acting.random);
    this.#noise.set(acting.noise as Float32Array);
    this.#memory.state.set(acting.state as Float32Array);
    this.#memory.starts.set(acting.starts as Float32Array);
    this.#moment.steps = steps as number;
    this.#moment.updates = updates as number;
    this.#moment.progress = Math.min(
      1,
      this.#moment.steps / this.#totalTimesteps,
    );
    this.#decision = undefined;
    for (const [scale, statistics] of scales) scale.load(statistics);
  }

  /** Pairs every scale with its saved statistics. */
  #scalesWith(
    saved: StateTree,
  ): [{ load(state: StateTree): void }, StateTree][] {
    const held = isStateRecord(saved) ? saved : {};
    return (["observations", "rewards"] as const).flatMap((name) => {
      const scale = this.#normalization[name], state = held[name] ?? null;
      if ((scale === undefined) !== (state === null)) {
        const [own, other] = scale === undefined
          ? ["does not scale", "does"]
          : ["scales", "does not"];
        throw new TypeError(
          `Cannot restore an agent of ${this.#title} that ${own} ${name} from one that ${other}: expected the same normalization`,
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

/** Refuses saved arrays whose paths or shapes differ from the agent's. */
function checkParts(saved: SavedState, held: SavedState): SavedState {
  for (const [part, arrays] of Object.entries(held)) {
    for (const [path, { shape }] of Object.entries(arrays)) {
      const given = saved[part]?.[path]?.shape;
      if (String(given) === String(shape)) continue;
      throw new RangeError(
        `Cannot restore '${part}/${path}' of shape [${
          given ?? "none"
        }]: the agent has [${shape}]`,
      );
    }
  }
  return saved;
}

function mapValues<T, U>(
  record: Readonly<Record<string, T>>,
  transform: (value: T) => U,
): Record<string, U> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, transform(value)]),
  );
}
