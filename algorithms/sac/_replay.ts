import {
  type PrioritySampler,
  ProportionalSampler,
  RankBasedSampler,
  ReplayBuffer,
  type ReplayBufferOptions,
} from "@bellman/buffers";
import type { RandomStream, TensorData } from "@bellman/compute";
import {
  observationBuffer,
  type ObservationInput,
  type ObservationInputArray,
  type StochasticPolicy,
} from "@bellman/policies";
import type { SacConfig } from "./config.ts";
import { rowsOf, takesBetween } from "./variants.ts";
import type { Observations } from "./_observations.ts";
import type { RewardScale } from "./sac_options.ts";

/** A step of all copies, in arrays of the policy's types. */
export interface ReplayStep {
  readonly observation: TensorData;
  readonly action: ArrayLike<number>;
  readonly reward: ArrayLike<number>;
  readonly terminated: Uint8Array;
  readonly truncated: Uint8Array;
  readonly nextObservation: TensorData;
}

/** What an update learns from; the next draw writes the arrays anew. */
export interface ReplayBatch {
  readonly observations: TensorData;
  readonly actions: TensorData;
  readonly rewards: TensorData;
  readonly terminated: TensorData;
  readonly nextObservations: TensorData;
  /** Discounts of what follows, with rewards of several steps. */
  readonly discounts?: TensorData;
  /** Observations between those rewards, and their discounts. */
  readonly betweenObservations?: TensorData;
  readonly betweenDiscounts?: TensorData;
  /** Importance weights, of prioritized replay. */
  readonly weights?: TensorData;
}

/** A buffer, or in one line why there is none: most often for want of memory. */
function allocate(options: ReplayBufferOptions): ReplayBuffer {
  try {
    return new ReplayBuffer(options);
  } catch (error) {
    throw new RangeError(
      `Cannot hold ${options.capacity} transitions: lower bufferSize or make observations smaller (${
        (error as Error).message
      })`,
      { cause: error },
    );
  }
}

/** What a {@link Replay} works with. */
export interface ReplayOptions {
  readonly config: SacConfig;
  readonly numEnvs: number;
  /** Frames that an observation stacks. */
  readonly stackedFrames: number;
  readonly observations: Observations;
  /** Scale of rewards. */
  readonly rewards?: RewardScale;
}

type View = (array: ObservationInputArray) => ObservationInputArray;

/**
 * The transitions that are learned from: kept as the environment gave them,
 * drawn as the policy sees them now.
 */
export class Replay {
  readonly #buffer: ReplayBuffer;
  readonly #sampler: PrioritySampler | undefined;
  readonly #batch: ReturnType<ReplayBuffer["batch"]>;
  /** The arrays of the batch that need no scale, by the names of an update. */
  readonly #asKept: Omit<ReplayBatch, "rewards" | `${string}bservations`>;
  /** Observations of the batch as the policy sees them, by those names. */
  readonly #views: readonly (readonly [string, ObservationInputArray, View])[];
  readonly #config: SacConfig;
  readonly #newest: NewestFrames | undefined;
  readonly #priorities: Float64Array;
  readonly #rewardScale: RewardScale | undefined;
  readonly #rewards: Float32Array;
  /** Rewards that a drawn sum is worth. */
  readonly #span: number;

  constructor(
    { distribution }: Pick<StochasticPolicy, "distribution">,
    options: ReplayOptions,
  ) {
    const { config, numEnvs, stackedFrames, observations } = options;
    const { bufferSize, batchSize, nSteps, gamma } = config;
    const { shape, dtype } = observations.encoder.input;
    const hasBetween = takesBetween(config);
    this.#config = config;
    this.#newest = stackedFrames > 1
      ? new NewestFrames(shape, { dtype, numEnvs, frames: stackedFrames })
      : undefined;
    this.#sampler = samplerOf(config);
    const flag = { shape: [], dtype: "uint8" } as const;
    this.#buffer = allocate({
      capacity: bufferSize - bufferSize % numEnvs,
      numEnvs,
      fields: {
        observation: { shape: this.#newest?.shape ?? shape, dtype },
        action: {
          shape: distribution.actionShape,
          dtype: distribution.actionDtype,
        },
        reward: { shape: [], dtype: "float32" },
        terminated: flag,
        truncated: flag,
      },
      episodes: {
        next: { nextObservation: "observation" },
        ...(this.#newest && { stack: { observation: stackedFrames } }),
        ...(nSteps > 1 && {
          nStep: {
            steps: nSteps,
            gamma,
            ...(hasBetween && {
              between: { betweenObservations: "observation" },
            }),
          },
        }),
      },
      ...(this.#sampler && { sampler: this.#sampler }),
    });
    this.#batch = this.#buffer.batch(batchSize);
    const batch = this.#batch as unknown as Record<
      string,
      ObservationInputArray
    >;
    const names = {
      observations: "observation",
      nextObservations: "nextObservation",
      ...(hasBetween && { betweenObservations: "betweenObservations" }),
    };
    this.#views = Object.entries(names).map(([name, field]) => {
      const rows = rowsOf(name, config);
      return [name, batch[field], observations.view(rows)];
    });
    this.#asKept = {
      actions: batch.action,
      terminated: batch.terminated,
      ...(nSteps > 1 && { discounts: batch.discount }),
      ...(hasBetween && { betweenDiscounts: batch.betweenDiscount }),
      ...(this.#sampler && { weights: batch.weights }),
    };
    this.#priorities = new Float64Array(batchSize);
    this.#rewardScale = options.rewards;
    this.#rewards = new Float32Array(batchSize);
    this.#span = sumOfPowers(gamma, nSteps);
  }

  /** Transitions that can be drawn. */
  get length(): number {
    return this.#buffer.length;
  }

  /**
   * Takes in a step of all copies; copied.
   *
   * @throws {RangeError} If observations are not the stacks that they should be.
   */
  add(step: ReplayStep): void {
    const newest = this.#newest;
    this.#buffer.add(
      newest === undefined ? { ...step } : { ...step, ...newest.take(step) },
    );
  }

  /**
   * Draws a batch.
   *
   * @param random The stream.
   * @param progress How much of the run is over, from 0 to 1.
   */
  draw(random: RandomStream, progress: number): ReplayBatch {
    if (this.#sampler !== undefined) {
      const { priorityBeta } = this.#config;
      this.#sampler.beta = priorityBeta + (1 - priorityBeta) * progress;
    }
    this.#buffer.sample(random, { into: this.#batch });
    const batch: Record<string, TensorData> = { ...this.#asKept };
    for (const [name, kept, view] of this.#views) batch[name] = view(kept);
    batch.rewards = this.#scaled(this.#batch.reward as Float32Array);
    return batch as unknown as ReplayBatch;
  }

  #scaled(rewards: Float32Array): Float32Array {
    if (this.#rewardScale === undefined) return rewards;
    this.#rewardScale.scale(rewards, this.#rewards, this.#span);
    return this.#rewards;
  }

  /** Tells how wrong the estimates were of the batch that was drawn last. */
  learned(tdErrors: ArrayLike<number>): void {
    if (this.#sampler === undefined) return;
    const { priorityEpsilon } = this.#config;
    for (let i = 0; i < tdErrors.length; i++) {
      this.#priorities[i] = tdErrors[i] + priorityEpsilon;
    }
    this.#sampler.updatePriorities(this.#batch.slots, this.#priorities);
  }

  /** Everything that it holds. */
  save(): ReturnType<ReplayBuffer["save"]> {
    return this.#buffer.save();
  }

  /** Continues from what {@link save} gave. */
  load(state: ReturnType<ReplayBuffer["save"]>): void {
    this.#buffer.load(state);
    this.#newest?.forget();
  }

  /** Forgets all transitions. */
  clear(): void {
    this.#buffer.clear();
    this.#newest?.forget();
  }
}

/** `1 + x + ... + x^(count - 1)`. */
function sumOfPowers(x: number, count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += x ** i;
  return sum;
}

function samplerOf(config: SacConfig): PrioritySampler | undefined {
  const { priorityAlpha, priorityBeta } = config;
  const options = { alpha: priorityAlpha, beta: priorityBeta };
  switch (config.replay) {
    case "proportional":
      return new ProportionalSampler(options);
    case "rank":
      return new RankBasedSampler(options);
    default:
      return undefined;
  }
}

/** The last frame of observations that are stacks of frames. */
class NewestFrames {
  /** Shape of one frame. */
  readonly shape: readonly number[];
  readonly #count: number;
  readonly #stacked: number;
  readonly #channels: number;
  readonly #frames: readonly [ObservationInputArray, ObservationInputArray];
  /** Numbers of all frames of a stack. */
  readonly #size: number;
  /** Of each copy, whether its stack is an episode's first; unknown at -1. */
  readonly #starts: Int8Array;

  constructor(
    shape: readonly number[],
    { dtype, numEnvs, frames }: {
      dtype: ObservationInput["dtype"];
      numEnvs: number;
      frames: number;
    },
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
    this.shape = [...shape.slice(0, -1), this.#channels];
    const size = this.shape.reduce((product, length) => product * length, 1);
    this.#size = size * frames;
    this.#starts = new Int8Array(numEnvs).fill(1);
    const frame = {
      observationInput: { shape: this.shape, dtype },
      observationSize: size,
    };
    this.#frames = [
      observationBuffer(frame, numEnvs),
      observationBuffer(frame, numEnvs),
    ];
  }

  /** The newest frames of a step, whose stacks are checked. */
  take(
    { observation, nextObservation, terminated, truncated }: ReplayStep,
  ): Pick<ReplayStep, "observation" | "nextObservation"> {
    for (let row = 0; row < this.#starts.length; row++) {
      const ended = (terminated[row] | truncated[row]) !== 0;
      // The first frame of an episode repeats.
      if (this.#starts[row] === 1) this.#check(row, observation, observation);
      // A copy that was lost may have ended anywhere.
      if (!ended) this.#check(row, observation, nextObservation);
      this.#starts[row] = ended ? 1 : 0;
    }
    return {
      observation: this.#copy(observation, this.#frames[0]),
      nextObservation: this.#copy(nextObservation, this.#frames[1]),
    };
  }

  /** Knows no more which stacks are an episode's first. */
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
