import type { BoxArray, DictSpace, Space, StepResult } from "@bellman/types";
import { checkOptions, type OptionKinds, whole } from "../_options.ts";
import { register } from "../registry/registry.ts";
import { box, dict, discrete, multiBinary } from "../spaces/constructors.ts";
import { ToyEnv } from "./environments.ts";

/** Observation of a goal-conditioned environment, by Gymnasium-Robotics' names. */
export interface GoalObservation<T extends BoxArray = BoxArray> {
  /** Parts by name. */
  readonly [part: string]: T;
  /** State. */
  readonly observation: T;
  /** Goal that the state achieves. */
  readonly achieved_goal: T;
  /** Goal that is pursued. */
  readonly desired_goal: T;
}

/** Makes the space of states that are goals themselves. */
function goalSpace(space: Space): DictSpace {
  return dict({
    observation: space,
    achieved_goal: space,
    desired_goal: space,
  });
}

/**
 * Tells for each row of goals whether it is within a distance of the other's.
 *
 * @returns 1 or 0, `[rows]`.
 */
function reached(
  achieved: BoxArray,
  desired: BoxArray,
  { size, within }: { readonly size: number; readonly within: number },
): Uint8Array {
  return Uint8Array.from({ length: achieved.length / size }, (_, row) => {
    let square = 0;
    for (let i = row * size; i < (row + 1) * size; i++) {
      square += (achieved[i] - desired[i]) ** 2;
    }
    return square <= within ** 2 ? 1 : 0;
  });
}

/** Returns 0 for goals that were reached, -1 for the others. */
function sparseRewards(reached: Uint8Array): Float64Array {
  return Float64Array.from(reached, (it) => it - 1);
}

/**
 * Base of the toy environments with goals, whose states are goals themselves: each
 * step has reward -1 but those after which the pursued goal is reached, 0.
 * `info.is_success` tells which.
 *
 * @example
 * ```ts
 * import { BitFlipEnv, GoalEnv } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * assert(new BitFlipEnv() instanceof GoalEnv);
 * ```
 */
export abstract class GoalEnv<T extends BoxArray, A extends number | BoxArray>
  extends ToyEnv<GoalObservation<T>, A> {
  /** State. */
  protected abstract state: T;
  /** Goal that is pursued. */
  protected abstract goal: T;

  /** Draws a state or a goal. */
  protected abstract draw(): T;
  /** Moves the state. */
  protected abstract move(action: A): void;
  /** Returns rewards of steps after which goals were achieved, `[rows]`. */
  abstract computeReward(achieved: BoxArray, desired: BoxArray): Float64Array;
  /** Tells where an episode ends. */
  protected abstract endsAt(isReached: boolean): boolean;

  /** Starts an episode with a state and another goal. */
  protected override begin(): GoalObservation<T> {
    this.state = this.draw();
    do this.goal = this.draw(); while (this.#isReached());
    return this.#observed();
  }

  /** Takes one step. */
  protected override advance(action: A): StepResult<GoalObservation<T>> {
    this.move(action);
    const isReached = this.#isReached();
    return {
      observation: this.#observed(),
      reward: isReached ? 0 : -1,
      terminated: this.endsAt(isReached),
      truncated: false,
      info: { is_success: isReached },
    };
  }

  #isReached(): boolean {
    return this.computeReward(this.state, this.goal)[0] === 0;
  }

  #observed(): GoalObservation<T> {
    const copy = (it: T) => it.slice() as T;
    return {
      achieved_goal: copy(this.state),
      desired_goal: copy(this.goal),
      observation: copy(this.state),
    };
  }
}

/** Settings of {@linkcode BitFlipEnv}. */
export interface BitFlipOptions {
  /**
   * Number of bits.
   *
   * @default 15
   */
  bits?: number;
}

const BIT_FLIP_OPTIONS: OptionKinds<BitFlipOptions> = { bits: whole(1) };

/**
 * Bits of which each step flips one, until they are those of a random goal: reward -1
 * for each other step, so that random actions hardly ever see another reward. Reaching
 * the goal ends the episode.
 *
 * Source: Andrychowicz et al., "Hindsight Experience Replay", 2017, section 3.1.
 *
 * @example
 * ```ts
 * import { BitFlipEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new BitFlipEnv({ bits: 1 });
 * const { achieved_goal, desired_goal } = env.reset({ seed: 0 });
 * assertEquals([...env.computeReward(achieved_goal, desired_goal)], [-1]);
 * assertEquals(env.step(0).terminated, true);
 * ```
 */
export class BitFlipEnv extends GoalEnv<Uint8Array, number> {
  /** Space of observations. */
  readonly observationSpace: DictSpace;
  /** Space of actions. */
  readonly actionSpace: Space;
  /** Bits now. */
  protected override state: Uint8Array;
  /** Bits that are wanted. */
  protected override goal: Uint8Array;

  /**
   * Makes an environment that has not been reset.
   *
   * @param options Number of bits.
   * @throws {RangeError} If it is not a whole number of at least 1.
   * @throws {TypeError} If an option is not known, or of another type.
   */
  constructor(options: BitFlipOptions = {}) {
    super();
    const given = checkOptions("bits to flip", options, BIT_FLIP_OPTIONS);
    const { bits = 15 } = given;
    this.observationSpace = goalSpace(multiBinary(bits));
    this.actionSpace = discrete(bits);
    this.state = new Uint8Array(bits);
    this.goal = new Uint8Array(bits);
  }

  /** Draws bits. */
  protected override draw(): Uint8Array {
    return this.state.map(() => this.random.integer(2));
  }

  /** Flips a bit. */
  protected override move(bit: number): void {
    this.state[bit] = 1 - this.state[bit];
  }

  /** Ends episodes at the goal. */
  protected override endsAt(isReached: boolean): boolean {
    return isReached;
  }

  /**
   * Returns rewards of steps after which goals were achieved.
   *
   * @param achieved Goals that were achieved `[rows, bits]`.
   * @param desired Goals that were desired `[rows, bits]`.
   * @returns 0 where both are the same, else -1, `[rows]`.
   */
  override computeReward(achieved: BoxArray, desired: BoxArray): Float64Array {
    return sparseRewards(this.computeTerminated(achieved, desired));
  }

  /**
   * Tells which of such steps end their episodes.
   *
   * @param achieved Goals that were achieved `[rows, bits]`.
   * @param desired Goals that were desired `[rows, bits]`.
   * @returns 1 where both are the same, else 0, `[rows]`.
   */
  computeTerminated(achieved: BoxArray, desired: BoxArray): Uint8Array {
    return reached(achieved, desired, { size: this.state.length, within: 0 });
  }
}

/** Distance at which a point is at its goal. */
const NEAR = 0.1;
/** Length of the longest step along an axis. */
const STRIDE = 0.1;

/**
 * A point in the square from -1 to 1 that moves by up to 0.1 along each axis, to within
 * 0.1 of a random goal: reward -1 for each step that ends elsewhere, 0 at the goal, where
 * the episode goes on.
 *
 * @example
 * ```ts
 * import { ReachEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new ReachEnv();
 * const { achieved_goal, desired_goal } = env.reset({ seed: 0 });
 * assertEquals([...env.computeReward(achieved_goal, desired_goal)], [-1]);
 * assertEquals([...env.computeReward(desired_goal, desired_goal)], [0]);
 * ```
 */
export class ReachEnv extends GoalEnv<Float32Array, Float32Array> {
  /** Space of observations. */
  readonly observationSpace: DictSpace = goalSpace(
    box({ low: -1, high: 1, shape: [2] }),
  );
  /** Space of actions. */
  readonly actionSpace: Space = box({ low: -1, high: 1, shape: [2] });
  /** Point now. */
  protected override state: Float32Array = new Float32Array(2);
  /** Point that is wanted. */
  protected override goal: Float32Array = new Float32Array(2);

  /** Draws a point. */
  protected override draw(): Float32Array {
    return this.state.map(() => 2 * this.random.uniform() - 1);
  }

  /** Moves the point. */
  protected override move(action: Float32Array): void {
    this.state = this.state.map((it, i) =>
      Math.min(Math.max(it + STRIDE * action[i], -1), 1)
    );
  }

  /** Ends no episode. */
  protected override endsAt(): boolean {
    return false;
  }

  /**
   * Returns rewards of steps after which goals were achieved.
   *
   * @param achieved Goals that were achieved `[rows, 2]`.
   * @param desired Goals that were desired `[rows, 2]`.
   * @returns 0 where they are within 0.1 of each other, else -1, `[rows]`.
   */
  override computeReward(achieved: BoxArray, desired: BoxArray): Float64Array {
    return sparseRewards(reached(achieved, desired, { size: 2, within: NEAR }));
  }
}

register({
  id: "BitFlip-v0",
  maxEpisodeSteps: 15,
  infoStatistics: ["is_success"],
  make: (kwargs) => new BitFlipEnv(kwargs),
});
register({
  id: "Reach-v0",
  maxEpisodeSteps: 50,
  infoStatistics: ["is_success"],
  make(kwargs) {
    checkOptions("Reach-v0", kwargs, {});
    return new ReachEnv();
  },
});
