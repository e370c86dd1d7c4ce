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
import { takesBetween } from "./_form.ts";

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

/** The transitions that are learned from. */
export class Replay {
  readonly #buffer: ReplayBuffer;
  readonly #sampler: PrioritySampler | undefined;
  readonly #batch: ReturnType<ReplayBuffer["batch"]>;
  /** The batch by the names of an update. */
  readonly #named: ReplayBatch;
  readonly #config: SacConfig;
  readonly #newest: NewestFrames | undefined;
  readonly #priorities: Float64Array;

  constructor(
    policy: StochasticPolicy,
    { config, numEnvs }: { config: SacConfig; numEnvs: number },
  ) {
    const { bufferSize, batchSize, sharedFrames, nSteps, gamma } = config;
    const { observationInput, distribution } = policy;
    const { shape, dtype } = observationInput;
    const hasBetween = takesBetween(config);
    this.#config = config;
    this.#newest = sharedFrames > 1
      ? new NewestFrames(shape, { dtype, numEnvs, frames: sharedFrames })
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
        ...(sharedFrames > 1 && { stack: { observation: sharedFrames } }),
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
    const batch = this.#batch as unknown as Record<string, TensorData>;
    this.#named = {
      observations: batch.observation,
      actions: batch.action,
      rewards: batch.reward,
      terminated: batch.terminated,
      nextObservations: batch.nextObservation,
      ...(nSteps > 1 && { discounts: batch.discount }),
      ...(hasBetween && {
        betweenObservations: batch.betweenObservations,
        betweenDiscounts: batch.betweenDiscount,
      }),
      ...(this.#sampler && { weights: batch.weights }),
    };
    this.#priorities = new Float64Array(batchSize);
  }

  /** Transitions that can be drawn. */
  get length(): number {
    return this.#buffer.length;
  }

  /** Takes in a step of all copies; copied. */
  add(step: ReplayStep): void {
    const { observation, nextObservation } = step;
    const newest = this.#newest;
    this.#buffer.add(
      newest === undefined ? { ...step } : {
        ...step,
        observation: newest.of(observation),
        nextObservation: newest.after(nextObservation),
      },
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
    return this.#named;
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
  }

  /** Forgets all transitions. */
  clear(): void {
    this.#buffer.clear();
  }
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
  readonly #stacked: number;
  readonly #channels: number;
  readonly #frames: readonly [ObservationInputArray, ObservationInputArray];

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
    this.#stacked = stacked;
    this.#channels = stacked / frames;
    this.shape = [...shape.slice(0, -1), this.#channels];
    const size = this.shape.reduce((product, length) => product * length, 1);
    const frame = {
      observationInput: { shape: this.shape, dtype },
      observationSize: size,
    };
    this.#frames = [
      observationBuffer(frame, numEnvs),
      observationBuffer(frame, numEnvs),
    ];
  }

  of(stacks: TensorData): ObservationInputArray {
    return this.#copy(stacks, this.#frames[0]);
  }

  after(stacks: TensorData): ObservationInputArray {
    return this.#copy(stacks, this.#frames[1]);
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
