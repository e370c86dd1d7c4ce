import {
  type PrioritySampler,
  ProportionalSampler,
  RankBasedSampler,
  ReplayBuffer,
  type ReplayBufferOptions,
  type ReplayBufferState,
} from "@bellman/buffers";
import type { Storage } from "@bellman/buffers/storage";
import type { RandomStream, TensorData, TensorType } from "@bellman/compute";
import { isStateRecord } from "@bellman/files";
import {
  observationBuffer,
  type ObservationInput,
  type ObservationInputArray,
} from "@bellman/policies";
import type { StateTree, Statistics, VecStep } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { FLAG, NUMBER, rowsOf } from "./_tensor_types.ts";
import type { Arrays, Moment, Tensors } from "./context.ts";
import type {
  AgentRuntime,
  Decision,
  Experience,
  ExperienceSpec,
} from "./experience.ts";
import { nextObservations } from "./observations.ts";

/** Options of drawing by priorities. */
export interface PriorityOptions {
  /**
   * Chances of transitions or segments: equal, in proportion to their error, or by its rank.
   *
   * @default "uniform"
   */
  readonly replay?: "uniform" | "proportional" | "rank";
  /**
   * Exponent of priorities: 0 draws uniformly.
   *
   * @default 0.6
   */
  readonly priorityAlpha?: number;
  /**
   * Exponent of importance weights at first; it rises to 1 over the run.
   *
   * @default 0.4
   */
  readonly priorityBeta?: number;
  /**
   * Added to each error.
   *
   * @default 1e-6
   */
  readonly priorityEpsilon?: number;
}

/** Options of {@link replay}. */
export interface ReplayOptions extends PriorityOptions {
  /** Transitions that are kept. */
  readonly bufferSize: number;
  /** Transitions of one update. */
  readonly batchSize: number;
  /** Transitions that are collected before the first update. */
  readonly learningStarts: number;
  /**
   * Steps of all environments between two times of learning.
   *
   * @default 1
   */
  readonly trainFrequency?: number;
  /**
   * Updates at each of these times; -1 makes as many as transitions were
   * collected.
   *
   * @default 1
   */
  readonly gradientSteps?: number;
  /**
   * Steps over which rewards are summed.
   *
   * @default 1
   */
  readonly nSteps?: number;
  /**
   * Discount of these sums.
   *
   * @default 0.99
   */
  readonly gamma?: number;
  /**
   * True where a batch also has the observations between the summed rewards.
   *
   * @default false
   */
  readonly between?: boolean;
  /**
   * True where the value of the last observation counts where a time limit cut
   * an episode; false takes the cut for an end.
   *
   * @default true
   */
  readonly bootstrapTruncated?: boolean;
  /**
   * Place of the transitions: memory, or the file of `Agent.openReplay`.
   *
   * @default "memory"
   */
  readonly replayStorage?: "memory" | "file";
  /**
   * True where the transitions are saved with the agent.
   *
   * @default true
   */
  readonly saveReplay?: boolean;
}

/**
 * Makes an experience of transitions that are kept and drawn by chance. They are
 * kept as the environment gave them, and drawn as the policy sees them now.
 *
 * A batch has encoded `observations`, `actions`, `rewards`, `terminated` (0 or 1) and
 * `nextObservations`; with several steps `discounts` of what follows and, on
 * request, `betweenObservations` and `betweenDiscounts`; with priorities
 * `weights`, and then an update returns `tdErrors` among its results.
 *
 * @param options Sizes, and the rhythm of learning.
 * @returns The `experience` of an algorithm's parts.
 *
 * @example
 * ```ts
 * import { replay } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const experience = replay({
 *   bufferSize: 1000,
 *   batchSize: 32,
 *   learningStarts: 100,
 * });
 * assertEquals(experience.kind, "replay");
 * ```
 */
export function replay(options: ReplayOptions): ExperienceSpec<ReplayOptions> {
  return {
    kind: "replay",
    options,
    make: (runtime) => new Replay(options, runtime),
  };
}

/**
 * Throws unless a buffer has room for a step, a batch and what is collected first.
 *
 * @param options Sizes.
 * @param run Name of the algorithm, and number of environments.
 * @throws {RangeError} With the first size that does not fit.
 *
 * @example
 * ```ts
 * import { checkReplay } from "@bellman/agent";
 * import { assertThrows } from "@std/assert";
 *
 * const sizes = { bufferSize: 100, batchSize: 256, learningStarts: 10 };
 * assertThrows(
 *   () => checkReplay(sizes, { of: "SAC", numEnvs: 1 }),
 *   RangeError,
 *   "Cannot run SAC with batchSize = 256: expected at most bufferSize, 100",
 * );
 * ```
 */
export function checkReplay(
  options: Pick<ReplayOptions, "bufferSize" | "batchSize" | "learningStarts">,
  { of, numEnvs }: { readonly of: string; readonly numEnvs: number },
): void {
  const { bufferSize } = options;
  if (bufferSize < numEnvs) {
    throw new RangeError(
      `Cannot run ${of} with bufferSize = ${bufferSize}: expected room for a step of ${numEnvs} environments`,
    );
  }
  for (const key of ["learningStarts", "batchSize"] as const) {
    if (options[key] <= bufferSize) continue;
    throw new RangeError(
      `Cannot run ${of} with ${key} = ${
        options[key]
      }: expected at most bufferSize, ${bufferSize}`,
    );
  }
}

type View = (kept: ObservationInputArray) => ObservationInputArray;

class Replay implements Experience {
  readonly batch: Readonly<Record<string, TensorType>>;
  readonly #options: ReplayOptions;
  readonly #runtime: AgentRuntime;
  readonly keepIn: Experience["keepIn"];
  #buffer: ReplayBuffer | undefined;
  /** State of a replay buffer whose file is not open; unknown once it was. */
  #unopened: StateTree | undefined = null;
  readonly #sampler: PrioritySampler | undefined;
  readonly #batch: ReturnType<ReplayBuffer["batch"]>;
  /** Arrays of the batch by the names of an update. */
  readonly #arrays: Arrays;
  /** Functions to observations as the policy sees them, by those names. */
  readonly #views: readonly (readonly [string, View])[];
  readonly #newest: NewestFrames | undefined;
  readonly #next: ObservationInputArray;
  readonly #rewards: Float32Array;
  readonly #scaledRewards: Float32Array;
  readonly #none: Uint8Array;
  readonly #priorities: Float64Array;
  /** Rewards that a drawn sum is worth. */
  readonly #span: number;

  constructor(options: ReplayOptions, runtime: AgentRuntime) {
    const { batchSize, nSteps = 1, gamma = 0.99 } = options;
    const { numEnvs, stackedFrames = 1, observations, policy } = runtime;
    const { observationInput: input } = observations.encoder;
    const action = {
      shape: policy.distribution.actionShape,
      dtype: policy.distribution.actionDtype,
    };
    this.#options = options;
    this.#runtime = runtime;
    this.#newest = stackedFrames > 1
      ? new NewestFrames(input, { numEnvs, frames: stackedFrames })
      : undefined;
    this.#sampler = samplerOf(options);
    const observation = this.#newest?.frame ?? input;
    const capacity = options.bufferSize - options.bufferSize % numEnvs;
    const sizes: ReplayBufferOptions = {
      capacity,
      numEnvs,
      fields: {
        observation,
        action,
        reward: NUMBER,
        terminated: FLAG,
        truncated: FLAG,
      },
      episodes: {
        next: { nextObservation: "observation" },
        ...(this.#newest && { stack: { observation: stackedFrames } }),
        ...(nSteps > 1 && {
          nStep: {
            steps: nSteps,
            gamma,
            ...(options.between && {
              between: { betweenObservations: "observation" },
            }),
          },
        }),
      },
    };
    const sampler = this.#sampler && { sampler: this.#sampler };
    const keep = (storage?: Storage) =>
      allocated(
        capacity,
        () => new ReplayBuffer({ ...sizes, ...sampler, storage }),
      );
    if (options.replayStorage === "file") {
      this.keepIn = (storage) => {
        this.#buffer = storage && keep(storage);
        this.#unopened = undefined;
      };
      const small = { ...sizes, capacity: numEnvs * stackedFrames };
      this.#batch = new ReplayBuffer(small).batch(batchSize);
    } else {
      this.#buffer = keep();
      this.#batch = this.#buffer.batch(batchSize);
    }
    const drawn = this.#batch as Record<string, TensorData>;
    const seen = policy.observationInput;
    const discounts = { ...NUMBER, shape: [nSteps - 1] };
    const inputs = ([
      ["observations", drawn.observation, seen],
      ["nextObservations", drawn.nextObservation, seen],
      ["betweenObservations", drawn.betweenObservations, seen],
      ["betweenDiscounts", drawn.betweenDiscount, discounts],
      ["actions", drawn.action, action],
      ["rewards", drawn.reward, NUMBER],
      ["terminated", drawn.terminated, FLAG],
      ["discounts", drawn.discount, NUMBER],
      ["weights", this.#sampler && drawn.weights, NUMBER],
    ] as [string, TensorData, TensorType][])
      .filter(([, array]) => array !== undefined)
      .map(([name, array, type]) => {
        const size = type.shape.reduce((product, it) => product * it, 1);
        return { name, array, type, rows: array.length / size };
      });
    this.#arrays = Object.fromEntries(
      inputs.map(({ name, array }) => [name, array]),
    );
    this.batch = Object.fromEntries(
      inputs.map(({ name, rows, type }) => [name, rowsOf(rows, type)]),
    );
    this.#views = inputs.filter(({ type }) => type === seen)
      .map(({ name, rows }) => [name, observations.view(rows)]);
    this.#next = observations.buffer(numEnvs);
    this.#rewards = new Float32Array(numEnvs);
    this.#scaledRewards = new Float32Array(batchSize);
    this.#none = new Uint8Array(numEnvs);
    this.#priorities = new Float64Array(batchSize);
    let span = 0;
    for (let i = 0; i < nSteps; i++) span += gamma ** i;
    this.#span = span;
  }

  get length(): number {
    return this.#buffer?.length ?? 0;
  }

  add({ observations, actions }: Decision, step: VecStep): void {
    if (this.#buffer === undefined) throw unopened("transitions");
    const { bootstrapTruncated = true } = this.#options;
    const { rewards, observations: { encoder } } = this.#runtime;
    const { terminated, truncated } = step;
    const next = encoder.observationArray(
      nextObservations(step, encoder.observationSize),
      this.#next,
    );
    this.#rewards.set(step.rewards);
    rewards?.see(step.rewards, step);
    const transition = {
      observation: observations,
      action: actions,
      reward: this.#rewards,
      terminated: bootstrapTruncated
        ? terminated
        : terminated.map((end, i) => end | truncated[i]),
      truncated: bootstrapTruncated ? truncated : this.#none,
      nextObservation: next,
    };
    this.#newest?.take(transition);
    this.#buffer.add(transition);
  }

  due({ steps }: Moment): number {
    const { numEnvs } = this.#runtime;
    const { learningStarts, trainFrequency = 1, gradientSteps = 1 } =
      this.#options;
    if (this.length < learningStarts) return 0;
    if (steps / numEnvs % trainFrequency !== 0) return 0;
    return gradientSteps === -1 ? trainFrequency * numEnvs : gradientSteps;
  }

  draw({ progress }: Moment, random: RandomStream): Arrays {
    if (this.#sampler !== undefined) {
      const { priorityBeta = 0.4 } = this.#options;
      this.#sampler.beta = priorityBeta + (1 - priorityBeta) * progress;
    }
    this.#buffer!.sample(random, { into: this.#batch });
    const batch: Record<string, TensorData> = { ...this.#arrays };
    for (const [name, view] of this.#views) {
      batch[name] = view(batch[name] as ObservationInputArray);
    }
    const { rewards } = this.#runtime;
    if (rewards !== undefined) {
      rewards.scale(batch.rewards, this.#scaledRewards, this.#span);
      batch.rewards = this.#scaledRewards;
    }
    return batch;
  }

  /** Encodes observations, and makes numbers of the flags. */
  prepare(drawn: Tensors): { batch: Tensors } {
    const { policy } = this.#runtime;
    const encoded = this.#views.map(([name]) =>
      [name, policy.encode(drawn[name])] as const
    );
    const terminated = tf.cast(drawn.terminated, "float32");
    return {
      batch: { ...drawn, ...Object.fromEntries(encoded), terminated },
    };
  }

  learned({ tdErrors }: Arrays): Statistics {
    if (this.#sampler === undefined) return {};
    const { priorityEpsilon = 1e-6 } = this.#options;
    for (let i = 0; i < tdErrors.length; i++) {
      this.#priorities[i] = tdErrors[i] + priorityEpsilon;
    }
    this.#sampler.updatePriorities(this.#batch.slots, this.#priorities);
    return {};
  }

  save(): StateTree {
    const { saveReplay = true } = this.#options;
    if (this.#buffer === undefined) {
      if (this.#unopened === undefined) throw unopened("transitions");
      return this.#unopened;
    }
    return saveReplay ? this.#buffer.save() : null;
  }

  savedRows(state: StateTree): StateTree | undefined {
    return rowsIn(state);
  }

  withReplay(): StateTree {
    return this.save();
  }

  /**
   * Restores what `save` gave; without transitions the buffer is empty, and the
   * first stacks of frames that it draws repeat the first frame after it.
   */
  load(state: StateTree): void {
    if (this.#buffer === undefined) this.#unopened = state;
    else if (state === null) this.#buffer.clear();
    else this.#buffer.load(state as ReplayBufferState);
    this.#newest?.forget();
  }
}

/** Creates a buffer, or says in one line why not: most often memory is short. */
export function allocated<T>(capacity: number, create: () => T): T {
  try {
    return create();
  } catch (error) {
    throw new RangeError(
      `Cannot hold ${capacity} transitions: lower bufferSize or make observations smaller (${
        (error as Error).message
      })`,
      { cause: error },
    );
  }
}

/** Returns where the state of a buffer has its rows in a file. */
export function rowsIn(state: StateTree): StateTree | undefined {
  return isStateRecord(state) ? state.storage : undefined;
}

/** Returns the error where a file is missing. */
export function unopened(what: string): TypeError {
  return new TypeError(
    `Cannot keep ${what} in a file: expected openReplay() of one before`,
  );
}

/** Creates the sampler of settings with priorities. */
export function samplerOf(
  { replay, priorityAlpha: alpha, priorityBeta: beta }: PriorityOptions,
): PrioritySampler | undefined {
  if (replay === "rank") return new RankBasedSampler({ alpha, beta });
  if (replay === "proportional") {
    return new ProportionalSampler({ alpha, beta });
  }
}

/** A step in arrays of the types that are kept. */
interface Transition {
  observation: ObservationInputArray;
  nextObservation: ObservationInputArray;
  readonly terminated: Uint8Array;
  readonly truncated: Uint8Array;
}

/** The last frame of observations that are stacks of frames. */
export class NewestFrames {
  /** Shape and type of one frame. */
  readonly frame: ObservationInput;
  readonly #count: number;
  readonly #stacked: number;
  readonly #channels: number;
  readonly #frames: readonly [ObservationInputArray, ObservationInputArray];
  /** Numbers of all frames of a stack. */
  readonly #size: number;
  /** 1 for environments whose stack is an episode's first; unknown at -1. */
  readonly #starts: Int8Array;

  constructor(
    { shape, dtype }: ObservationInput,
    { numEnvs, frames }: { numEnvs: number; frames: number },
  ) {
    const stacked = shape.at(-1) ?? 0;
    if (stacked === 0 || stacked % frames !== 0) {
      throw new RangeError(
        `Cannot share ${frames} frames of observations [${shape}]: expected a last axis of a multiple of ${frames}`,
      );
    }
    this.#count = frames;
    this.#stacked = stacked;
    this.#channels = stacked / frames;
    this.frame = { shape: [...shape.slice(0, -1), this.#channels], dtype };
    this.#size = shape.reduce((product, length) => product * length, 1);
    this.#starts = new Int8Array(numEnvs).fill(1);
    const of = {
      observationInput: this.frame,
      observationSize: this.#size / frames,
    };
    this.#frames = [
      observationBuffer(of, numEnvs),
      observationBuffer(of, numEnvs),
    ];
  }

  /** Checks the stacks of a transition and leaves their newest frames in it. */
  take(transition: Transition): void {
    const { observation, nextObservation } = transition;
    const { terminated, truncated } = transition;
    for (let row = 0; row < this.#starts.length; row++) {
      const ended = (terminated[row] | truncated[row]) !== 0;
      // The first frame of an episode repeats.
      if (this.#starts[row] === 1) this.#check(row, observation, observation);
      // An environment that was lost may have ended anywhere.
      if (!ended) this.#check(row, observation, nextObservation);
      this.#starts[row] = ended ? 1 : 0;
    }
    transition.observation = this.#copy(observation, this.#frames[0]);
    transition.nextObservation = this.#copy(nextObservation, this.#frames[1]);
  }

  /** Forgets which stacks are an episode's first. */
  forget(): void {
    this.#starts.fill(-1);
  }

  /** Throws unless a stack is another one without its oldest frame. */
  #check(row: number, before: TensorData, after: TensorData): void {
    const stacked = this.#stacked, channels = this.#channels;
    const end = (row + 1) * this.#size;
    for (let at = row * this.#size; at < end; at += stacked) {
      for (let i = at + channels; i < at + stacked; i++) {
        if (before[i] === after[i - channels]) continue;
        throw new RangeError(
          `Cannot keep observations as stacks of ${this.#count} frames: those of copy ${row} are not the frames before and a new one; expected stackedFrames as the environment stacks them`,
        );
      }
    }
  }

  #copy(
    stacks: TensorData,
    into: ObservationInputArray,
  ): ObservationInputArray {
    const channels = this.#channels, stacked = this.#stacked;
    const skipped = stacked - channels;
    for (let i = 0, from = skipped; i < into.length; from += skipped) {
      for (let c = 0; c < channels; c++) into[i++] = stacks[from++];
    }
    return into;
  }
}
