import type { ObservationArray } from "@bellman/policies";
import type { Space } from "@bellman/types";

/** What a `QFPolicyPlotter` draws: the members of `SAC` that it needs. */
export interface PlottedAgent {
  /**
   * Values of actions in one state.
   *
   * @param observation One observation, as the environment gives it.
   * @param actions Box actions `[count, ...]` in [-1, 1], row-major; empty for
   * discrete actions.
   * @returns Values `[count]`; of discrete actions, all of them.
   */
  qValues(
    observation: ObservationArray,
    actions: ArrayLike<number>,
  ): ArrayLike<number>;
  /**
   * An actor that samples.
   *
   * @param options How many observations it acts on at once, and its seed.
   * @returns The actor: its actions are those that the environment takes.
   */
  policy(options: { numEnvs: number; seed: number }): {
    act(observations: unknown): ArrayLike<number>;
    close?(): void;
  };
}

/** Options of `QFPolicyPlotter`. */
export interface QFPolicyPlotterOptions {
  /** Space of one action: box with finite bounds, or discrete. */
  readonly actionSpace: Space;
  /** Observations as the environment gives them, one for each panel; copied. */
  readonly observations: readonly ObservationArray[];
  /**
   * Box actions: NaN for the one or two numbers that vary along the axes, and
   * what the others are, in the environment's units.
   *
   * @default the first two vary, the others are in the middle of their bounds
   */
  readonly defaultAction?: readonly number[];
  /**
   * Box actions: lowest and highest number of each axis, in the environment's
   * units and within the bounds of the action space.
   *
   * @default the bounds of the action space
   */
  readonly limits?: readonly (readonly [number, number])[];
  /**
   * Actions that are sampled of the policy for each observation.
   *
   * @default 100
   */
  readonly samples?: number;
  /**
   * Box actions: points along each axis where Q is estimated.
   *
   * @default 50
   */
  readonly gridSize?: number;
  /**
   * About how many contours there are; they lie at round numbers.
   *
   * @default 20
   */
  readonly levels?: number;
  /**
   * Seed of the samples: a whole number of at least 0.
   *
   * @default 0
   */
  readonly seed?: number;
  /**
   * Heading of the image.
   *
   * @default "Q values and sampled actions"
   */
  readonly title?: string;
}
