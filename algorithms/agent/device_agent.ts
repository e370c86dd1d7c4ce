import {
  type ArrayWithShape,
  type CompiledStep,
  compileStep,
  disposeParams,
  type EngineName,
  ensureBackend,
  type Params,
  paramTypes,
  randomKey,
  RandomStream,
  type ResidentState,
  scan,
  type StateArrays,
  type TensorData,
  type TensorType,
} from "@bellman/compute";
import { isStateRecord } from "@bellman/files";
import { refuseUnknown } from "@bellman/files/options";
import {
  type Actor as PolicyActing,
  exportPolicy,
  type ExportPolicyOptions,
  FrozenActor,
  Observations,
  type Policy,
  PolicyActor,
  type PolicyCompilation,
} from "@bellman/policies";
import type {
  Actor,
  PolicyOptions,
  StateTree,
  Statistics,
  SteppingAlgorithm,
  StepsTaken,
} from "@bellman/types";
import type * as tf from "@tensorflow/tfjs";
import { buildParts } from "./_build_parts.ts";
import type {
  AgentContext,
  AgentOptions,
  AgentState,
  Algorithm,
  Tensors,
} from "./algorithm.ts";
import {
  type DeviceEnv,
  DeviceLoop,
  episodesIn,
  type LoopRow,
  type LoopState,
  packingOf,
  rolloutThatFits,
} from "./device_loop.ts";
import { NUMBER } from "./_tensor_types.ts";
import type { RolloutOptions } from "./rollout.ts";
import { checkCounts } from "./saved_parts.ts";

/**
 * Options of {@link DeviceAgent}.
 *
 * @typeParam Config Settings of the algorithm.
 */
export interface DeviceAgentOptions<Config extends object = object>
  extends Omit<AgentOptions<Config>, "normalization"> {
  /** Number of parallel environments. */
  readonly numEnvs: number;
  /**
   * Updates in one call of the program; the training loop logs, evaluates, saves and
   * stops between calls.
   *
   * @default 100
   */
  readonly updatesPerCall?: number;
  /**
   * Largest number of environment steps of a call, unless one update takes more.
   *
   * @default 1048576
   */
  readonly stepsPerCall?: number;
}

/** Names of all options. */
const OPTIONS: readonly (keyof DeviceAgentOptions)[] = [
  ...["config", "seed", "totalTimesteps", "engine", "threads"] as const,
  ...["onNotice", "numEnvs", "updatesPerCall", "stepsPerCall"] as const,
];

type Loop = CompiledStep<
  LoopState,
  Readonly<Record<string, TensorType>>,
  { stats: tf.Tensor; ended: tf.Tensor }
>;

/**
 * Agent with tensor environments: acting, steps, targets and updates are one compiled
 * program that returns only statistics. Supports any algorithm whose memory is a
 * `Rollout` with `tensorTargets`. `train(agent, undefined, ...)` trains it. A restored
 * agent continues bit for bit, with running episodes.
 *
 * @typeParam Config Settings of the algorithm.
 * @typeParam P Policy that acts.
 *
 * @example
 * ```ts
 * import { a2c } from "@bellman/a2c";
 * import { DeviceAgent } from "@bellman/agent";
 * import { selectBackend } from "@bellman/compute";
 * import { tensorVecEnv } from "@bellman/envs/tensor";
 * import { train } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const agent = new DeviceAgent(a2c, tensorVecEnv("CartPole-v1"), {
 *   numEnvs: 4,
 *   updatesPerCall: 10,
 *   config: { numSteps: 5, hiddenSizes: [8] },
 *   engine: "eager",
 * });
 * const { updates, step } = await train(agent, undefined, {
 *   totalTimesteps: 400,
 * });
 * assertEquals([updates, step], [20, 400]); // of 5 steps in 4 environments each
 * agent.close();
 * ```
 */
export class DeviceAgent<
  Config extends object = object,
  P extends Policy = Policy,
> implements SteppingAlgorithm {
  /** All settings. */
  readonly config: Readonly<Config>;
  /** Policy that acts, without its parameters. */
  readonly model: P;
  /** Largest number of updates of a call; the last call of a run may have fewer. */
  readonly updatesPerCall: number;
  /** Number of updates of the last call. */
  updatesInCall = 0;
  readonly #title: string;
  readonly #rollout: RolloutOptions;
  readonly #program: DeviceLoop;
  readonly #context: AgentContext;
  readonly #compilation: PolicyCompilation;
  readonly #loop: Loop;
  /** Inputs of the updates of a call, by name. */
  readonly #numbers: Readonly<Record<string, Float32Array>>;
  readonly #progress = { steps: 0, updates: 0, fraction: 0 };
  #statistics: Statistics | undefined;

  /**
   * Creates an agent.
   *
   * @param algorithm The algorithm.
   * @param env Tensor environments.
   * @param options Number of environments, settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range.
   * @throws {TypeError} If settings exclude each other, an option is unknown, or the
   * algorithm cannot run as one program.
   */
  constructor(
    algorithm: Algorithm<Config, P>,
    env: DeviceEnv,
    options: DeviceAgentOptions<Config>,
  ) {
    refuseUnknown(options, OPTIONS, "an agent of tensor environments");
    const { name, title = name } = algorithm.meta;
    const { seed = 0, totalTimesteps = 200_000, engine, threads } = options;
    const { numEnvs, updatesPerCall = 100, stepsPerCall = 2 ** 20 } = options;
    const { observationSpace, actionSpace } = env;
    const context = {
      numEnvs,
      totalTimesteps,
      stackedFrames: 1,
      observationSpace,
      actionSpace,
    };
    const random = new RandomStream(seed);
    const { config, parts } = buildParts(
      algorithm,
      {
        ...context,
        random: random.split("init"),
        observations: new Observations(observationSpace),
        // The program itself computes all that a memory would ask for.
        learned: undefined as never,
      },
      {
        config: options.config,
        onNotice: options.onNotice,
        counts: { updatesPerCall, stepsPerCall },
      },
    );
    this.#rollout = rolloutThatFits(title, parts);
    this.config = config;
    this.model = parts.policy;
    const steps = numEnvs * this.#rollout.numSteps;
    const fitting = Math.max(1, Math.floor(stepsPerCall / steps));
    this.updatesPerCall = Math.min(updatesPerCall, fitting);
    this.#title = title;
    this.#context = context;
    const rollout = this.#rollout;
    this.#program = new DeviceLoop({ title, parts, rollout, env, context });
    const learned: AgentState = parts.state;
    this.#compilation = { params: paramTypes(learned.policy), engine, threads };
    this.#numbers = Object.fromEntries(
      this.#program.numbers
        .map((name) => [name, new Float32Array(this.updatesPerCall)]),
    );
    const start = this.#program.start(
      learned,
      randomKey(random.split("device")),
    );
    this.#loop = this.#compile(start);
    disposeParams(
      ...Object.values(learned),
      start.episodes.state,
      { ...start.random },
      { lengths: start.episodes.lengths, returns: start.episodes.returns },
    );
  }

  #compile(state: LoopState): Loop {
    const { updatesPerCall: length } = this;
    const { engine, threads } = this.#compilation;
    const numbers = Object.keys(this.#numbers);
    const call = (before: LoopState, given: Tensors) => {
      const { rounds, ...numbers } = given;
      // One vector is passed on instead of many small tensors.
      const { pack, unpack } = packingOf(before.learned);
      const { random, draws } = this.#program
        .draw(before.random, { length, rounds });
      const { learned, episodes } = before;
      const { state, results } = scan({ packed: pack(learned), episodes }, {
        length,
        rounds,
        rows: { numbers, draws },
        body: ({ packed, episodes }, row) => {
          const held = { learned: unpack(packed), episodes };
          const { state, results } = this.#program
            .iterate(held, row as LoopRow, before.random.key);
          const { learned, ...next } = state;
          return { state: { packed: pack(learned), ...next }, results };
        },
      });
      const { packed, ...next } = state;
      return {
        state: { learned: unpack(packed), ...next, random },
        ...results,
      };
    };
    return compileStep(call, {
      state,
      inputs: {
        rounds: { shape: [], dtype: "int32" },
        ...Object.fromEntries(
          numbers.map((name) => [name, { ...NUMBER, shape: [length] }]),
        ),
      },
      name: `the loop of ${this.#title}`,
      engine,
      threads,
    });
  }

  /**
   * Runs the program once: steps its environments and learns.
   *
   * @returns Number of steps, and episodes that ended.
   */
  advance(): StepsTaken {
    const { numEnvs, totalTimesteps } = this.#context;
    const steps = this.#rollout.numSteps * numEnvs;
    const left = Math.ceil((totalTimesteps - this.#progress.steps) / steps);
    const most = this.updatesPerCall;
    const rounds = left > 0 ? Math.min(left, most) : most;
    for (let i = 0; i < rounds; i++) {
      this.#count(this.#progress.steps + steps);
      const inputs = this.#program.inputsAt(this.#progress);
      for (const name in this.#numbers) {
        this.#numbers[name][i] = inputs[name] as number;
      }
      this.#progress.updates++;
    }
    const { stats, ended } = this.#loop.run(
      { rounds, ...this.#numbers },
    ) as Record<string, TensorData>;
    const at = (rounds - 1) * this.#program.names.length;
    this.#statistics = Object.fromEntries(
      this.#program.names.map((name, i) => [name, stats[at + i]]),
    );
    const { learningRate } = this.#numbers;
    if (learningRate !== undefined) {
      this.#statistics.learning_rate = learningRate[rounds - 1];
    }
    this.updatesInCall = rounds;
    return { steps: rounds * steps, episodes: episodesIn(ended, numEnvs) };
  }

  #count(steps: number): void {
    this.#progress.steps = steps;
    this.#progress.fraction = Math.min(1, steps / this.#context.totalTimesteps);
  }

  /** Engine that computes. */
  get engine(): EngineName {
    return this.#loop.engine;
  }

  /** Selects a backend as {@link Agent.ready} does. */
  async ready(): Promise<void> {
    if (this.engine === "eager") await ensureBackend();
  }

  /** Updates so far. */
  get updates(): number {
    return this.#progress.updates;
  }

  /** Copy of the policy's current parameters, by path. */
  get params(): Readonly<Record<string, ArrayWithShape>> {
    const { learned } = this.#loop.read();
    return learned.policy as Record<string, ArrayWithShape>;
  }

  /**
   * Returns the statistics of the last call.
   *
   * @returns Statistics of its last update, and `learning_rate`; `undefined` if there
   * was no call since.
   */
  update(): Statistics | undefined {
    const statistics = this.#statistics;
    this.#statistics = undefined;
    return statistics;
  }

  /**
   * Returns an actor with its own random stream, which uses the latest parameters, or a
   * frozen copy of the current ones.
   *
   * @param options Deterministic or not, frozen or not, number of environments, seed.
   * @returns The actor.
   */
  policy(options: PolicyOptions = {}): Actor {
    const { frozen, numEnvs = this.#context.numEnvs, ...rest } = options;
    const { actionSpace } = this.#context;
    const given = {
      ...rest,
      numEnvs,
      actionSpace,
      compilation: this.#compilation,
    };
    const actor: PolicyActing = frozen
      ? new FrozenActor(this.model, { ...given, params: this.params })
      : new PolicyActor(this.model, {
        ...given,
        params: () => this.#loop.state.learned.policy as ResidentState<Params>,
      });
    return actor;
  }

  /**
   * Exports the current policy as an ONNX file; see `Agent.exportPolicy`.
   *
   * @param options Size of the batch, deterministic or not.
   * @returns The bytes of the file.
   */
  exportPolicy(
    options: Omit<ExportPolicyOptions, "params" | "actionSpace"> = {},
  ): Uint8Array<ArrayBuffer> {
    const { params, model } = this, { actionSpace } = this.#context;
    return exportPolicy(model, { ...options, params, actionSpace });
  }

  /**
   * Saves parameters, optimizer state, environments, episodes, random key and counters.
   *
   * @returns Plain data.
   */
  save(): StateTree {
    const { steps, updates } = this.#progress;
    const loop = this.#loop.read();
    return { loop, steps, updates };
  }

  /**
   * Restores a saved state: all of it, or nothing of one that does not fit.
   *
   * @param state Result of {@link save}; copied.
   * @throws {TypeError} If it is not the state of such an agent.
   * @throws {RangeError} If it is one of an agent of other sizes.
   */
  load(state: StateTree): void {
    const saved = isStateRecord(state) ? state : {};
    if (!isStateRecord(saved.loop)) {
      throw new TypeError(
        `Cannot restore a loop of ${this.#title} from something else: expected what save() gave with loop: device`,
      );
    }
    checkCounts(saved, this.#title);
    this.#loop.write(saved.loop as StateArrays<LoopState>);
    this.#statistics = undefined;
    this.#count(saved.steps as number);
    this.#progress.updates = saved.updates as number;
  }

  /** Frees the tensors; the agent cannot be used afterwards. */
  close(): void {
    this.#loop.close();
  }
}
