import type { SpaceValue, StateTree, StepResult } from "@bellman/types";
import { snapshotRecord } from "../snapshot.ts";
import { EnvWrapper } from "./env_wrapper.ts";

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
   * @param options A seed starts the random stream anew.
   * @returns The first observation.
   */
  override reset(options?: { seed?: number }): SpaceValue {
    this.#return = this.#length = 0;
    return super.reset(options);
  }

  /**
   * Takes one step.
   *
   * @param action What to do.
   * @returns What came of it, with the episode's sums if it ended.
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
   * The sums so far.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return { return: this.#return, length: this.#length };
  }

  /**
   * Goes on from sums.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const own = snapshotRecord(state, ["return", "length"]);
    this.#return = own.return as number;
    this.#length = own.length as number;
  }
}
