import {
  checkOptions,
  FLAG,
  NUMBER,
  OBJECT,
  type OptionKinds,
} from "@bellman/files/options";
import type {
  Batch,
  BoxArray,
  BoxSpace,
  DictSpace,
  Env,
  ObservationScaling,
  ObservationsOf,
  Space,
  StateTree,
  VecEnv,
  VecStep,
} from "@bellman/types";
import { anyEnded, type MutableStep } from "../_steps.ts";
import { snapshotRecord } from "../snapshot.ts";
import { elementCount } from "../spaces/arrays.ts";
import { copyBatch } from "../spaces/batch.ts";
import { box, dict } from "../spaces/constructors.ts";
import { checkScale, RunningMeanStd } from "./running_mean_std.ts";
import { ObservationWrapper } from "./transforms.ts";
import { isVector, Wrapper } from "./wrapper.ts";

/** Settings of the observation normalizers. */
export interface NormalizeObservationOptions {
  /**
   * Statistics to use and to update, such as those of another environment.
   *
   * @default statistics without data
   */
  statistics?: RunningMeanStd;
  /**
   * Let new observations change the statistics; `false` for evaluation.
   *
   * @default true
   */
  training?: boolean;
  /**
   * Largest absolute value of a scaled element.
   *
   * @default 10
   */
  clip?: number;
  /**
   * Number added to the variance, inside the root.
   *
   * @default 1e-8
   */
  epsilon?: number;
}

const OPTIONS: OptionKinds<NormalizeObservationOptions> = {
  statistics: OBJECT,
  training: FLAG,
  clip: NUMBER,
  epsilon: NUMBER,
};

/** Numbers of a dict's part that are scaled, and their place among all that are. */
interface ScaledPart {
  readonly name: string;
  readonly from: number;
  readonly size: number;
}

/** Returns the boxes of floats in a dict, one after the other. */
function scaledParts({ spaces }: DictSpace): ScaledPart[] {
  let end = 0;
  const parts = Object.entries(spaces).flatMap(([name, space]) => {
    if (space.type !== "box" || !space.dtype.startsWith("float")) return [];
    const from = end, size = elementCount(space);
    end += size;
    return [{ name, from, size }];
  });
  if (parts.length > 0) return parts;
  throw new TypeError(
    "Cannot normalize observations of a dict space without a box of floats: expected one or more",
  );
}

/**
 * Scales batches of observations by their running mean and deviation,
 * `clip((x - mean) / sqrt(variance + epsilon))`; of a dict, its boxes of floats.
 * Learning from observations and
 * scaling them are two things: an agent that keeps original observations, as in a
 * replay buffer, scales them by the statistics of the moment.
 *
 * @example
 * ```ts
 * import { box, ObservationNormalizer } from "@bellman/envs";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const space = box({ low: 0, high: 100, shape: [1] });
 * const normalizer = new ObservationNormalizer(space);
 * const kept = Float32Array.of(10, 30), scaled = new Float32Array(2);
 * normalizer.see(kept);
 * normalizer.apply(kept, scaled);
 * assertAlmostEquals(scaled[1], 1, 1e-4);
 * // Later the same observation is scaled otherwise.
 * normalizer.see(Float32Array.of(90, 90));
 * normalizer.apply(kept, scaled);
 * assertAlmostEquals(scaled[1], -0.7, 0.01);
 * ```
 */
export class ObservationNormalizer {
  /** Space of scaled observations. */
  readonly space: Space;
  /** Running statistics, to share with others. */
  readonly statistics: RunningMeanStd;
  /** True where {@linkcode ObservationNormalizer.see} changes the statistics. */
  training: boolean;
  readonly #borrowed: boolean;
  /** Parts of a dict that are scaled; undefined for a box. */
  readonly #parts: readonly ScaledPart[] | undefined;
  /** Type of the observations; of a dict, that with the most digits. */
  readonly #dtype: BoxSpace["dtype"];
  #clip: number;
  #epsilon: number;

  /**
   * Makes a normalizer.
   *
   * @param space Space of one observation, a box or a dict with a box of floats.
   * @param options Statistics and clipping.
   * @throws {TypeError} If the space is another one.
   * @throws {RangeError} If the statistics are of another length, or a number
   * is out of its range.
   */
  constructor(space: Space, options: NormalizeObservationOptions = {}) {
    checkOptions("a normalizer", options, OPTIONS);
    if (space.type !== "box" && space.type !== "dict") {
      throw new TypeError(
        `Cannot normalize observations of a ${space.type} space: flatten them first`,
      );
    }
    const parts = space.type === "dict" ? scaledParts(space) : undefined;
    const size = parts?.reduce((sum, it) => sum + it.size, 0) ??
      elementCount(space);
    const { clip = 10, epsilon = 1e-8, training = true } = options;
    checkScale("observations", { clip, epsilon });
    this.statistics = options.statistics ?? new RunningMeanStd(size);
    if (this.statistics.mean.length !== size) {
      throw new RangeError(
        `Cannot normalize ${size} elements by statistics of ${this.statistics.mean.length}`,
      );
    }
    const scaled = ({ shape }: BoxSpace) =>
      box({ low: -clip, high: clip, shape });
    this.#parts = parts;
    this.#dtype = space.type === "box"
      ? space.dtype
      : parts!.some(({ name }) =>
          (space.spaces[name] as BoxSpace).dtype === "float64"
        )
      ? "float64"
      : "float32";
    this.space = space.type === "box" ? scaled(space) : dict({
      ...space.spaces,
      ...Object.fromEntries(
        parts!.map((
          { name },
        ) => [name, scaled(space.spaces[name] as BoxSpace)]),
      ),
    });
    this.training = training;
    this.#borrowed = options.statistics !== undefined;
    this.#clip = clip;
    this.#epsilon = epsilon;
  }

  /** Numbers of the current scale; the arrays change with it. */
  get scaling(): ObservationScaling {
    const { mean, variance } = this.statistics;
    const parts = this.#parts?.map(({ name }) => name);
    const scale = {
      mean,
      variance,
      dtype: this.#dtype,
      epsilon: this.#epsilon,
      clip: this.#clip,
    };
    return parts === undefined ? scale : { parts, ...scale };
  }

  /**
   * Saves the statistics.
   *
   * @returns A copy that later observations do not change.
   */
  save(): StateTree {
    return this.statistics.save();
  }

  /**
   * Restores saved statistics, except for frozen ones of another environment.
   *
   * @param saved State that `save` returned.
   * @throws {RangeError} If they are of observations of another size.
   */
  load(saved: StateTree): void {
    if (this.#borrowed && !this.training) return;
    this.statistics.load(saved);
  }

  /**
   * Learns the statistics from observations, unless these are frozen.
   *
   * @param batch Observations `[rows, ...shape]`, of a dict in a record.
   */
  see(batch: ArrayLike<number> | Batch): void {
    if (!this.training) return;
    const parts = this.#parts;
    this.statistics.update(
      parts === undefined
        ? batch as ArrayLike<number>
        : sideBySide(batch as Record<string, ArrayLike<number>>, parts),
    );
  }

  /**
   * Scales observations by the current statistics, which stay as they are, and copies
   * the other parts of a dict.
   *
   * @param batch Observations `[rows, ...shape]`, of a dict in a record.
   * @param target Arrays for the scaled ones; may be the same.
   */
  apply(batch: ArrayLike<number> | Batch, target: Batch): void {
    const parts = this.#parts;
    if (parts === undefined) {
      const size = this.statistics.mean.length;
      this.#scale(batch as ArrayLike<number>, target as Float32Array, {
        from: 0,
        size,
      });
      return;
    }
    const given = batch as Record<string, Batch>;
    for (const name in target as Record<string, Batch>) {
      const into = (target as Record<string, Batch>)[name];
      const part = parts.find((it) => it.name === name);
      if (part === undefined) copyBatch(given[name], into);
      else this.#scale(given[name] as BoxArray, into as Float32Array, part);
    }
  }

  #scale(
    batch: ArrayLike<number>,
    target: Float32Array,
    { from, size }: Omit<ScaledPart, "name">,
  ): void {
    const { mean, variance } = this.statistics;
    const clip = this.#clip;
    for (let at = 0; at < batch.length; at += size) {
      for (let i = 0; i < size; i++) {
        const scaled = (batch[at + i] - mean[from + i]) /
          Math.sqrt(variance[from + i] + this.#epsilon);
        target[at + i] = Math.min(Math.max(scaled, -clip), clip);
      }
    }
  }
}

/** Joins rows of the parts, `[rows, all numbers]`. */
function sideBySide(
  batch: Readonly<Record<string, ArrayLike<number>>>,
  parts: readonly ScaledPart[],
): Float64Array {
  const width = parts.reduce((sum, it) => sum + it.size, 0);
  const rows = batch[parts[0].name].length / parts[0].size;
  const joined = new Float64Array(rows * width);
  for (const { name, from, size } of parts) {
    for (let row = 0; row < rows; row++) {
      for (let i = 0; i < size; i++) {
        joined[row * width + from + i] = batch[name][row * size + i];
      }
    }
  }
  return joined;
}

/**
 * Scaled observations: float32 numbers, of a dict in place of its floats.
 *
 * @typeParam O Observations that are scaled.
 */
export type Scaled<O> = O extends BoxArray ? Float32Array
  : { [K in keyof O]: O[K] extends Float64Array ? Float32Array : O[K] };

/**
 * Scales observations by their running mean and standard deviation, over all
 * environments of a vector. Final observations of a vector are scaled alike and do not
 * count.
 *
 * @typeParam E Environment inside.
 *
 * @example
 * ```ts
 * import { makeVec, NormalizeObservation } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const make = () => makeVec("CartPole-v1", { numEnvs: 4 });
 * const training = new NormalizeObservation(make());
 * training.reset({ seed: 0 });
 * // An environment for evaluation uses the same statistics, frozen.
 * const evaluation = new NormalizeObservation(make(), {
 *   statistics: training.normalizer.statistics,
 *   training: false,
 * });
 * const { statistics } = training.normalizer, { count } = statistics;
 * evaluation.reset({ seed: 1 });
 * assertEquals(statistics.count, count);
 * ```
 */
export class NormalizeObservation<E extends Env | VecEnv = Env>
  extends ObservationWrapper<E, Scaled<ObservationsOf<E>>> {
  /** Running scale, whose statistics other environments can share. */
  readonly normalizer: ObservationNormalizer;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside, a single one or a vector; its observations are
   * boxes, or a dict with some.
   * @param options Statistics and clipping.
   * @throws {TypeError} If the observations are neither boxes nor a dict with some of floats.
   */
  constructor(env: E, options: NormalizeObservationOptions = {}) {
    const normalizer = new ObservationNormalizer(env.observationSpace, options);
    super(env, normalizer);
    this.normalizer = normalizer;
    // Unlike scaled goals and rewards, these would be the environment's own.
    this.computeReward = undefined;
  }

  /** Present scale; the arrays change with it. */
  override get observationScaling(): ObservationScaling {
    return this.normalizer.scaling;
  }

  /**
   * Learns from observations, except final ones, and scales them.
   *
   * @param source Observations of the environments inside.
   * @param target Array for the scaled ones.
   * @param ends The step, where they are the final ones of episodes.
   */
  protected override transformRows(
    source: Batch,
    target: Batch,
    ends?: VecStep,
  ): void {
    if (ends === undefined) this.normalizer.see(source);
    else if (!anyEnded(ends)) return;
    this.normalizer.apply(source, target);
  }

  /**
   * Saves the statistics and the latest observations.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return {
      statistics: this.normalizer.save(),
      observations: super.ownState(),
    };
  }

  /**
   * Restores statistics and observations.
   *
   * @param state State that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const own = snapshotRecord(state, ["statistics", "observations"]);
    this.normalizer.load(own.statistics);
    super.loadOwnState(own.observations);
  }
}

/** Settings of the reward normalizers. */
export interface NormalizeRewardOptions {
  /**
   * Statistics of the discounted return to use and to update.
   *
   * @default statistics without data
   */
  statistics?: RunningMeanStd;
  /**
   * Let new rewards change the statistics; `false` for evaluation.
   *
   * @default true
   */
  training?: boolean;
  /**
   * Discount of the return whose deviation rewards are divided by.
   *
   * @default 0.99
   */
  gamma?: number;
  /**
   * Largest absolute value of a scaled reward.
   *
   * @default 10
   */
  clip?: number;
  /**
   * Number added to the variance, inside the root.
   *
   * @default 1e-8
   */
  epsilon?: number;
}

/** Flags of the environments whose episodes ended in a step. */
export interface EpisodeEnds {
  /** 1 where the episode ended by the task's own rules `[numEnvs]`. */
  readonly terminated: ArrayLike<number>;
  /** 1 where the episode was cut off `[numEnvs]`. */
  readonly truncated: ArrayLike<number>;
}

/**
 * Divides rewards by the running deviation of the discounted return. Learning
 * from rewards and scaling them are two things: an agent that keeps original
 * rewards, as in a replay buffer, scales them by the statistics of the moment.
 *
 * @example
 * ```ts
 * import { RewardNormalizer } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const normalizer = new RewardNormalizer(2, { gamma: 0.9 });
 * const rewards = Float32Array.of(-16, -2), scaled = new Float32Array(2);
 * const going = { terminated: [0, 0], truncated: [0, 0] };
 * for (let i = 0; i < 50; i++) normalizer.see(rewards, going);
 * normalizer.scale(rewards, scaled);
 * assert(Math.abs(scaled[0]) < 1);
 * ```
 */
export class RewardNormalizer {
  /** Running statistics of the discounted return. */
  readonly statistics: RunningMeanStd;
  /** True where {@linkcode RewardNormalizer.see} changes the statistics. */
  training: boolean;
  readonly #borrowed: boolean;
  #returns: Float64Array;
  #gamma: number;
  #clip: number;
  #epsilon: number;

  /**
   * Makes a normalizer.
   *
   * @param numEnvs Number of environments.
   * @param options Discount, statistics and clipping.
   * @throws {RangeError} If a number is out of its range, or the statistics are
   * not of single numbers.
   */
  constructor(numEnvs: number, options: NormalizeRewardOptions = {}) {
    checkOptions("a normalizer", options, { ...OPTIONS, gamma: NUMBER });
    const { gamma = 0.99, clip = 10, epsilon = 1e-8, training = true } =
      options;
    if (!(gamma >= 0 && gamma <= 1)) {
      throw new RangeError(
        `Cannot normalize rewards with gamma ${gamma}: expected 0 to 1`,
      );
    }
    checkScale("rewards", { clip, epsilon });
    this.statistics = options.statistics ?? new RunningMeanStd(1);
    const { length } = this.statistics.mean;
    if (length !== 1) {
      throw new RangeError(
        `Cannot normalize rewards by statistics of ${length} elements: expected 1`,
      );
    }
    this.training = training;
    this.#borrowed = options.statistics !== undefined;
    this.#returns = new Float64Array(numEnvs);
    this.#gamma = gamma;
    this.#clip = clip;
    this.#epsilon = epsilon;
  }

  /** Forgets the returns so far, as every environment starts an episode. */
  reset(): void {
    this.#returns.fill(0);
  }

  /**
   * Learns the statistics from the rewards of one step, unless these are frozen.
   *
   * @param rewards Rewards `[numEnvs]`.
   * @param ends Ends of episodes, after which returns restart.
   */
  see(rewards: ArrayLike<number>, ends: EpisodeEnds): void {
    const returns = this.#returns;
    for (let i = 0; i < returns.length; i++) {
      returns[i] = returns[i] * this.#gamma + rewards[i];
    }
    if (this.training) this.statistics.update(returns);
    for (let i = 0; i < returns.length; i++) {
      // An end of either kind: the next reward is of another episode.
      if (ends.terminated[i] || ends.truncated[i]) returns[i] = 0;
    }
  }

  /**
   * Scales rewards by the current statistics, which stay as they are.
   *
   * @param rewards Rewards, or sums of rewards.
   * @param target Array for the scaled ones; may be the same.
   * @param span Number of rewards in a sum, which is clipped at so many times
   * the limit of one.
   */
  scale(
    rewards: ArrayLike<number>,
    target: Float32Array | Float64Array,
    span = 1,
  ): void {
    const deviation = Math.sqrt(this.statistics.variance[0] + this.#epsilon);
    const limit = this.#clip * span;
    for (let i = 0; i < rewards.length; i++) {
      target[i] = Math.min(Math.max(rewards[i] / deviation, -limit), limit);
    }
  }

  /**
   * Saves the statistics and the returns so far.
   *
   * @returns A copy that later rewards do not change.
   */
  save(): StateTree {
    return {
      statistics: this.statistics.save(),
      returns: this.#returns.slice(),
    };
  }

  /**
   * Restores returns and statistics, except for frozen ones of another
   * environment.
   *
   * @param state State that `save` returned.
   */
  load(state: StateTree): void {
    const keys = ["statistics", "returns"];
    const { statistics, returns } = snapshotRecord(state, keys);
    if (!this.#borrowed || this.training) this.statistics.load(statistics);
    this.#returns.set(returns as Float64Array);
  }
}

/**
 * Divides rewards by the running standard deviation of the discounted return, over all
 * environments of a vector, so that returns have a variance of about 1. The return
 * restarts where an episode terminated or was truncated.
 *
 * @typeParam E Environment inside.
 *
 * @example
 * ```ts
 * import { make, NormalizeReward } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const env = new NormalizeReward(make("Pendulum-v1"), { gamma: 0.9 });
 * env.reset({ seed: 0 });
 * for (let i = 0; i < 100; i++) {
 *   assert(Math.abs(env.step(Float32Array.of(0)).reward) <= 10);
 * }
 * ```
 */
export class NormalizeReward<E extends Env | VecEnv = Env> extends Wrapper<E> {
  /** Running scale, whose statistics other environments can share. */
  readonly normalizer: RewardNormalizer;
  #rewards: Float64Array;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside, a single one or a vector.
   * @param options Discount, statistics and clipping.
   */
  constructor(env: E, options: NormalizeRewardOptions = {}) {
    super(env);
    const numEnvs = isVector(env) ? env.numEnvs : 1;
    this.normalizer = new RewardNormalizer(numEnvs, options);
    this.#rewards = new Float64Array(numEnvs);
    // Unlike scaled goals and rewards, these would be the environment's own.
    this.computeReward = undefined;
  }

  /**
   * Forgets the returns so far.
   *
   * @param observations First observations.
   * @returns The same.
   */
  protected override changeReset(observations: Batch): Batch {
    this.normalizer.reset();
    return observations;
  }

  /**
   * Scales the rewards.
   *
   * @param step Step.
   */
  protected override changeStep(step: MutableStep): void {
    this.normalizer.see(step.rewards, step);
    this.normalizer.scale(step.rewards, this.#rewards);
    step.rewards = this.#rewards;
  }

  /**
   * Saves the statistics and the returns so far.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return this.normalizer.save();
  }

  /**
   * Restores statistics and returns.
   *
   * @param state State that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    this.normalizer.load(state);
  }
}
