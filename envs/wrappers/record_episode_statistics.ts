import type {
  Batch,
  Env,
  EpisodeStatistics,
  StateTree,
  VecEnv,
} from "@bellman/types";
import { ended, type MutableStep } from "../_steps.ts";
import { snapshotRecord } from "../snapshot.ts";
import { isVector, Wrapper } from "./wrapper.ts";

const NONE: readonly EpisodeStatistics[] = [];

/**
 * Sums up each episode: the step that ends it has `info.episode = { return, length }`,
 * or lists it in `episodes` of a vector. It belongs inside wrappers that change the
 * rewards. Where the environments inside a vector record their episodes, as games with
 * several lives do, these are passed on.
 *
 * @typeParam E Environment inside.
 *
 * @example
 * ```ts
 * import { ChainEnv, makeVec, RecordEpisodeStatistics } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new RecordEpisodeStatistics(new ChainEnv({ length: 2 }));
 * env.reset({ seed: 0 });
 * env.step(0);
 * assertEquals(env.step(0).info?.episode, { return: 2, length: 2 });
 *
 * const chains = makeVec("Chain-v0", {
 *   numEnvs: 2,
 *   maxEpisodeSteps: 1,
 *   recordEpisodes: false,
 * });
 * const two = new RecordEpisodeStatistics(chains);
 * two.reset({ seed: 0 });
 * const { episodes } = two.step(Int32Array.of(0, 0));
 * assertEquals(episodes?.map((it) => [it.env, it.length]), [[0, 1], [1, 1]]);
 * ```
 */
export class RecordEpisodeStatistics<E extends Env | VecEnv = Env>
  extends Wrapper<E> {
  #returns: Float64Array;
  #lengths: Int32Array;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside, a single one or a vector.
   */
  constructor(env: E) {
    super(env);
    const numEnvs = isVector(env) ? env.numEnvs : 1;
    this.#returns = new Float64Array(numEnvs);
    this.#lengths = new Int32Array(numEnvs);
  }

  /**
   * Starts the sums of all environments.
   *
   * @param observations First observations.
   * @returns The same.
   */
  protected override changeReset(observations: Batch): Batch {
    this.#returns.fill(0);
    this.#lengths.fill(0);
    return observations;
  }

  /**
   * Adds a step, and tells the episodes that ended.
   *
   * @param step Step.
   */
  protected override changeStep(step: MutableStep): void {
    if (step.episodes !== undefined) return;
    let episodes: EpisodeStatistics[] | undefined;
    for (let row = 0; row < step.rewards.length; row++) {
      this.#returns[row] += step.rewards[row];
      this.#lengths[row]++;
      if (ended(step, row)) (episodes ??= []).push(this.#end(step, row));
    }
    step.episodes = episodes ?? NONE;
  }

  #end(step: MutableStep, row: number): EpisodeStatistics {
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
