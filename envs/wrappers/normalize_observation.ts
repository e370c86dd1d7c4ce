import {
  type NormalizeObservationOptions,
  ObservationNormalizer,
} from "../observation_normalizer.ts";
import type {
  BoxArray,
  Env,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
} from "@bellman/types";
import type { RunningMeanStd } from "../running_mean_std.ts";
import { EnvWrapper } from "./env_wrapper.ts";

/**
 * Scales observations by their running mean and standard deviation.
 *
 * @example
 * ```ts
 * import { make, NormalizeObservation } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const training = new NormalizeObservation(make("CartPole-v1"));
 * training.reset({ seed: 0 });
 * // An environment for evaluation uses the same statistics, frozen.
 * const evaluation = new NormalizeObservation(make("CartPole-v1"), {
 *   statistics: training.statistics,
 *   training: false,
 * });
 * const { count } = training.statistics;
 * evaluation.reset({ seed: 1 });
 * assertEquals(training.statistics.count, count);
 * ```
 */
export class NormalizeObservation extends EnvWrapper {
  #normalizer: ObservationNormalizer;

  /**
   * Wraps an environment.
   *
   * @param env The environment inside; its observations are boxes.
   * @param options Statistics, and whether they are frozen.
   * @throws {TypeError} If the observations are not boxes.
   */
  constructor(env: Env, options: NormalizeObservationOptions = {}) {
    super(env);
    this.#normalizer = new ObservationNormalizer(env.observationSpace, options);
  }

  /** What scaled observations can be. */
  override get observationSpace(): Space {
    return this.#normalizer.space;
  }

  /** The running statistics, to share with other environments. */
  get statistics(): RunningMeanStd {
    return this.#normalizer.statistics;
  }

  /** Whether new observations change the statistics. */
  get training(): boolean {
    return this.#normalizer.training;
  }

  set training(value: boolean) {
    this.#normalizer.training = value;
  }

  #scaled(observation: SpaceValue): Float32Array {
    const values = observation as BoxArray;
    this.#normalizer.see(values);
    const scaled = new Float32Array(values.length);
    this.#normalizer.apply(values, scaled);
    return scaled;
  }

  /** None: stacks inside cannot be shared, as their scale changes from step to step. */
  override get stackedFrames(): undefined {
    return undefined;
  }

  /**
   * Starts an episode.
   *
   * @param options A seed starts the random stream anew.
   * @returns The first observation, scaled.
   */
  override reset(options?: { seed?: number }): SpaceValue {
    return this.#scaled(super.reset(options));
  }

  /**
   * Takes one step.
   *
   * @param action What to do.
   * @returns What came of it, with the scaled observation.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    return { ...result, observation: this.#scaled(result.observation) };
  }

  /**
   * The statistics.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return this.statistics.save();
  }

  /**
   * Goes on from statistics.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    this.#normalizer.load(state);
  }
}
