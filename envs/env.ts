import type { Snapshot } from "./snapshot.ts";
import type { Space, SpaceValue } from "./space.ts";

/** What is known of a registered environment. */
export interface EnvSpec {
  /** Name and version, such as `CartPole-v1`. */
  readonly id: string;
  /** Steps after which an episode is truncated. */
  readonly maxEpisodeSteps?: number;
  /** Mean return from which on the environment counts as solved. */
  readonly rewardThreshold?: number;
  /**
   * Whether observations may lie outside of the bounds of their space, as those
   * of many environments of Gymnasium's do.
   *
   * @default false
   */
  readonly looseBounds?: boolean;
}

/** What one step returns. */
export interface StepResult<O extends SpaceValue = SpaceValue> {
  /** What is seen after the step: at an end, the episode's last observation. */
  readonly observation: O;
  /** The reward of the step. */
  readonly reward: number;
  /** Whether the episode ended by the task's own rules: nothing follows. */
  readonly terminated: boolean;
  /** Whether the episode was cut off from outside, as by a time limit. */
  readonly truncated: boolean;
  /** Anything else worth telling. */
  readonly info?: Readonly<Record<string, unknown>>;
}

/** A picture: three bytes a pixel (red, green, blue), row by row. */
export interface RgbImage {
  /** Pixels in a row. */
  readonly width: number;
  /** Rows. */
  readonly height: number;
  /** `width * height * 3` bytes. */
  readonly data: Uint8Array;
}

/** How a picture is drawn. */
export interface RenderOptions {
  /** Pixels in a row; each environment has its own default. */
  width?: number;
  /** Rows; each environment has its own default. */
  height?: number;
}

/**
 * A single environment.
 *
 * The observation that `reset` and `step` return belongs to the caller.
 */
export interface Env<
  O extends SpaceValue = SpaceValue,
  A extends SpaceValue = SpaceValue,
> {
  /** What observations can be. */
  readonly observationSpace: Space;
  /** What actions can be. */
  readonly actionSpace: Space;
  /** What is known of it, if it was made by name. */
  readonly spec?: EnvSpec;
  /**
   * Frames that an observation stacks along its last axis, oldest first, the
   * first one of an episode repeated: who keeps observations may keep each frame
   * once.
   *
   * @default none
   */
  readonly stackedFrames?: number;
  /**
   * Starts an episode.
   *
   * @param options A seed starts the random stream anew; without one it goes
   * on, from that of seed 0 if there never was one.
   * @returns The first observation.
   */
  reset(options?: { seed?: number }): O;
  /**
   * Takes one step. After a termination it either throws or tells the same
   * again, until `reset`.
   *
   * @param action What to do; its arrays may change after the call.
   * @returns What came of it.
   */
  step(action: A): StepResult<O>;
  /**
   * The whole state, random stream included.
   *
   * @returns Plain data that later steps do not change.
   */
  snapshot(): Snapshot;
  /**
   * Goes on exactly from a snapshot.
   *
   * @param snapshot What `snapshot` returned.
   */
  restore(snapshot: Snapshot): void;
  /**
   * Draws the present state.
   *
   * @param options The picture's size.
   * @returns The picture.
   */
  render(options?: RenderOptions): RgbImage;
  /** Frees what the environment holds. */
  close(): void;
}
