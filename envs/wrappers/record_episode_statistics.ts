import type {
  Batch,
  EpisodeStatistics,
  SpaceValue,
  StateTree,
  StepResult,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { ended, type MutableStep, relay } from "../_steps.ts";
import { snapshotRecord } from "../snapshot.ts";
import { EnvWrapper, VecEnvWrapper } from "./env_wrapper.ts";

/**
 * Sums up each episode: the step that ends it has
 * `info.episode = { return, length }`.
 *
 * @example
 * ```ts
 * import { ChainEnv, RecordEpisodeStatistics } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new RecordEpisodeStatistics(new ChainEnv({ length: 2 }));
 * env.reset({ seed: 0 });
 * env.step(0);
 * assertEquals(env.step(0).info?.episode, { return: 2, length: 2 });
 * ```
 */
export class RecordEpisodeStatistics extends EnvWrapper {
  #return = 0;
  #length = 0;

  /**
   * Starts an episode.
   *
   * @param options Seed that restarts the random stream.
   * @returns The first observation.
   */
  override reset(options?: { seed?: number }): SpaceValue {
    this.#return = this.#length = 0;
    return super.reset(options);
  }

  /**
   * Takes one step.
   *
   * @param action Action to take.
   * @returns The step's result with the episode's sums if it ended.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    this.#return += result.reward;
    this.#length++;
    if (!result.terminated && !result.truncated) return result;
    const episode = { return: this.#return, length: this.#length };
    return { ...result, info: { ...result.info, episode } };
  }

  /**
   * Saves the sums so far.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return { return: this.#return, length: this.#length };
  }

  /**
   * Restores sums.
   *
   * @param state State that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const own = snapshotRecord(state, ["return", "length"]);
    this.#return = own.return as number;
    this.#length = own.length as number;
  }
}

const NONE: readonly EpisodeStatistics[] = [];

/**
 * Adds to each step the episodes that ended, with their return and length. It
 * belongs inside wrappers that change the rewards. Where the environments
 * inside record their episodes, as games with several lives do, these are passed
 * on.
 *
 * @example
 * ```ts
 * import { makeVec, VecRecordEpisodeStatistics } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const chains = makeVec("Chain-v0", {
 *   numEnvs: 2,
 *   maxEpisodeSteps: 1,
 *   recordEpisodes: false,
 * });
 * const env = new VecRecordEpisodeStatistics(chains);
 * env.reset({ seed: 0 });
 * const { episodes } = env.step(Int32Array.of(0, 0));
 * assertEquals(episodes?.map((it) => [it.env, it.length]), [[0, 1], [1, 1]]);
 * ```
 */
export class VecRecordEpisodeStatistics extends VecEnvWrapper {
  #returns: Float64Array;
  #lengths: Int32Array;
  #out = {} as MutableStep;

  /**
   * Wraps a vector environment.
   *
   * @param env Vector environment inside.
   */
  constructor(env: VecEnv) {
    super(env);
    this.#returns = new Float64Array(env.numEnvs);
    this.#lengths = new Int32Array(env.numEnvs);
  }

  /**
   * Starts an episode in every environment.
   *
   * @param options Seed that restarts the random streams, or one for each.
   * @returns The first observations.
   */
  override reset(options?: VecResetOptions): Batch {
    const observations = super.reset(options);
    this.#returns.fill(0);
    this.#lengths.fill(0);
    return observations;
  }

  /**
   * Takes one step in every environment.
   *
   * @param actions One action for each environment.
   * @returns The step's result with the episodes that ended.
   */
  override step(actions: Batch): VecStep {
    const step = relay(super.step(actions), this.#out);
    if (step.episodes !== undefined) return step;
    let episodes: EpisodeStatistics[] | undefined;
    for (let row = 0; row < this.numEnvs; row++) {
      this.#returns[row] += step.rewards[row];
      this.#lengths[row]++;
      if (ended(step, row)) (episodes ??= []).push(this.#end(step, row));
    }
    step.episodes = episodes ?? NONE;
    return step;
  }

  #end(step: VecStep, row: number): EpisodeStatistics {
    const episode = {
      env: row,
      return: this.#returns[row],
      length: this.#lengths[row],
      terminated: step.terminated[row] !== 0,
    };
    this.#returns[row] = this.#lengths[row] = 0;
    return episode;
  }

  /**
   * Saves the sums so far.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return { returns: this.#returns.slice(), lengths: this.#lengths.slice() };
  }

  /**
   * Restores sums.
   *
   * @param state State that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const { returns, lengths } = snapshotRecord(state, ["returns", "lengths"]);
    this.#returns.set(returns as Float64Array);
    this.#lengths.set(lengths as Int32Array);
  }
}
