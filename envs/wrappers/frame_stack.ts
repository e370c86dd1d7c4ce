import { FrameStacker, type FrameStackOptions } from "../_frame_stacker.ts";
import type { Env, StepResult } from "../env.ts";
import type { Snapshot } from "../snapshot.ts";
import type { BoxArray, Space, SpaceValue } from "../space.ts";
import { EnvWrapper } from "./env_wrapper.ts";

/**
 * Shows the last observations at once, stacked along the last axis with the
 * oldest first.
 *
 * @example
 * ```ts
 * import { FrameStack, make } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new FrameStack(make("CartPole-v1"), { size: 2 });
 * const first = env.reset({ seed: 0 }) as Float32Array;
 * assertEquals(first.slice(0, 4), first.slice(4));
 * const { observation } = env.step(1);
 * assertEquals((observation as Float32Array).slice(0, 4), first.slice(4));
 * ```
 */
export class FrameStack extends EnvWrapper {
  #stacker: FrameStacker;

  /**
   * Wraps an environment.
   *
   * @param env The environment inside; its observations are boxes.
   * @param options Size of the stack and what comes before an episode.
   * @throws {TypeError} If the observations are not boxes.
   */
  constructor(env: Env, options: FrameStackOptions = {}) {
    super(env);
    this.#stacker = new FrameStacker(env.observationSpace, 1, options);
  }

  /** What stacks can be. */
  override get observationSpace(): Space {
    return this.#stacker.space;
  }

  /**
   * Starts an episode.
   *
   * @param options A seed starts the random stream anew.
   * @returns The first stack.
   */
  override reset(options?: { seed?: number }): SpaceValue {
    this.#stacker.start(0, super.reset(options) as BoxArray);
    return this.#stacker.stacks.slice() as BoxArray;
  }

  /**
   * Takes one step.
   *
   * @param action What to do.
   * @returns What came of it, with the stack.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    const { stacks } = this.#stacker;
    this.#stacker.push(0, result.observation as BoxArray, stacks);
    return { ...result, observation: stacks.slice() as BoxArray };
  }

  /**
   * The present stack.
   *
   * @returns Plain data.
   */
  protected override ownState(): Snapshot {
    return this.#stacker.stacks.slice();
  }

  /**
   * Goes on from a stack.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: Snapshot): void {
    this.#stacker.stacks.set(state as BoxArray);
  }
}
