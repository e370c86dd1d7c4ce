import {
  type NormalizeObservationOptions,
  ObservationNormalizer,
} from "../observation_normalizer.ts";
import type { RunningMeanStd } from "../running_mean_std.ts";
import { snapshotRecord } from "../snapshot.ts";
import type {
  Batch,
  BoxArray,
  Space,
  StateTree,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { elementCount } from "../space_arrays.ts";
import { anyEnded, relay, type RelayedStep } from "./_relayed_step.ts";
import { VecEnvWrapper } from "./vec_env_wrapper.ts";

/**
 * Scales observations by their running mean and standard deviation over all
 * copies. Final observations are scaled alike and do not count.
 *
 * @example
 * ```ts
 * import { makeVec, VecNormalizeObservation } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const make = () => makeVec("CartPole-v1", { numEnvs: 4 });
 * const training = new VecNormalizeObservation(make());
 * training.reset({ seed: 0 });
 * // An environment for evaluation uses the same statistics, frozen.
 * const evaluation = new VecNormalizeObservation(make(), {
 *   statistics: training.statistics,
 *   training: false,
 * });
 * const { count } = training.statistics;
 * evaluation.reset({ seed: 1 });
 * assertEquals(training.statistics.count, count);
 * ```
 */
export class VecNormalizeObservation extends VecEnvWrapper {
  #normalizer: ObservationNormalizer;
  #observations: Float32Array;
  #finalObservations: Float32Array;
  #out = {} as RelayedStep;

  /**
   * Wraps a vector environment.
   *
   * @param env The vector environment inside; its observations are boxes.
   * @param options Statistics, and whether they are frozen.
   * @throws {TypeError} If the observations are not boxes.
   */
  constructor(env: VecEnv, options: NormalizeObservationOptions = {}) {
    super(env);
    this.#normalizer = new ObservationNormalizer(env.observationSpace, options);
    const length = env.numEnvs * elementCount(env.observationSpace);
    this.#observations = new Float32Array(length);
    this.#finalObservations = new Float32Array(length);
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

  /** None: stacks inside cannot be shared, as their scale changes from step to step. */
  override get stackedFrames(): undefined {
    return undefined;
  }

  /**
   * Starts an episode in every copy.
   *
   * @param options A seed, or one for each copy, starts the random streams anew.
   * @returns The first observations, scaled.
   */
  override reset(options?: VecResetOptions): Batch {
    const observations = super.reset(options) as BoxArray;
    this.#normalizer.see(observations);
    this.#normalizer.apply(observations, this.#observations);
    return this.#observations;
  }

  /**
   * Takes one step in every copy.
   *
   * @param actions One action for each copy.
   * @returns What came of it, with the scaled observations.
   */
  override step(actions: Batch): VecStep {
    const step = relay(super.step(actions), this.#out);
    const observations = step.observations as BoxArray;
    this.#normalizer.see(observations);
    this.#normalizer.apply(observations, this.#observations);
    if (anyEnded(step)) {
      const last = step.finalObservations as BoxArray;
      this.#normalizer.apply(last, this.#finalObservations);
    }
    step.observations = this.#observations;
    step.finalObservations = this.#finalObservations;
    return step;
  }

  /**
   * The observations that were returned last.
   *
   * @returns The batch.
   */
  override observations(): Batch {
    return this.#observations;
  }

  /**
   * Statistics and the observations that were returned last.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return {
      statistics: this.statistics.save(),
      observations: this.#observations.slice(),
    };
  }

  /**
   * Goes on from statistics and observations.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const own = snapshotRecord(state, ["statistics", "observations"]);
    this.#normalizer.load(own.statistics);
    this.#observations.set(own.observations as Float32Array);
  }
}
