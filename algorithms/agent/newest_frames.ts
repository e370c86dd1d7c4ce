import type { TensorData } from "@bellman/compute";
import {
  observationBuffer,
  type ObservationInput,
  type ObservationInputArray,
} from "@bellman/policies";
import type { BuildContext } from "./algorithm.ts";

/** A step in arrays of the types that are kept. */
export interface Transition {
  observations: ObservationInputArray;
  nextObservations: ObservationInputArray;
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
  /** Size of a stack of frames. */
  readonly #size: number;
  /** 1 for environments whose stack is an episode's first; unknown at -1. */
  readonly #starts: Int8Array;

  /** Returns them for the observations of an agent, where those are stacks. */
  static of(
    { observations, numEnvs, stackedFrames: frames = 1 }: BuildContext,
  ): NewestFrames | undefined {
    const { observationInput } = observations.encoder;
    return frames > 1
      ? new NewestFrames(observationInput as ObservationInput, {
        numEnvs,
        frames,
      })
      : undefined;
  }

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
    const of = { observationInput: this.frame };
    const buffer = () =>
      observationBuffer(of, numEnvs) as ObservationInputArray;
    this.#frames = [buffer(), buffer()];
  }

  /** Checks the stacks of a transition and reduces them to their newest frames. */
  take(transition: Transition): void {
    const { observations, nextObservations } = transition;
    const { terminated, truncated } = transition;
    for (let row = 0; row < this.#starts.length; row++) {
      const ended = (terminated[row] | truncated[row]) !== 0;
      // The first frame of an episode repeats.
      if (this.#starts[row] === 1) this.#check(row, observations, observations);
      // A failed environment may have ended anywhere.
      if (!ended) this.#check(row, observations, nextObservations);
      this.#starts[row] = ended ? 1 : 0;
    }
    transition.observations = this.#copy(observations, this.#frames[0]);
    transition.nextObservations = this.#copy(nextObservations, this.#frames[1]);
  }

  /** Takes the next stacks for the first of their episodes. */
  begin(): void {
    this.#starts.fill(1);
  }

  /** Forgets which stacks are an episode's first. */
  forget(): void {
    this.#starts.fill(-1);
  }

  /** Throws unless a stack continues the previous one. */
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
