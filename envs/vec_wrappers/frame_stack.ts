import { FrameStacker, type FrameStackOptions } from "../_frame_stacker.ts";
import type {
  Batch,
  BoxArray,
  Space,
  StateTree,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { ended, relay, type RelayedStep } from "./_relayed_step.ts";
import { VecEnvWrapper } from "./vec_env_wrapper.ts";

/**
 * Shows each copy's last observations at once, stacked along the last axis, or
 * along a new first one, with the oldest first. A stack never reaches over the end
 * of an episode.
 *
 * @example
 * ```ts
 * import { makeVec, VecFrameStack } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new VecFrameStack(makeVec("CartPole-v1", { numEnvs: 3 }), {
 *   size: 4,
 * });
 * assertEquals((env.reset({ seed: 0 }) as Float32Array).length, 3 * 16);
 * ```
 */
export class VecFrameStack extends VecEnvWrapper {
  #stacker: FrameStacker;
  #out = {} as RelayedStep;

  /**
   * Wraps a vector environment.
   *
   * @param env The vector environment inside; its observations are boxes.
   * @param options Size of the stacks and what comes before an episode.
   * @throws {TypeError} If the observations are not boxes.
   */
  constructor(env: VecEnv, options: FrameStackOptions = {}) {
    super(env);
    const { observationSpace, numEnvs } = env;
    this.#stacker = new FrameStacker(observationSpace, numEnvs, options);
  }

  /** What stacks can be. */
  override get observationSpace(): Space {
    return this.#stacker.space;
  }

  /** Frames of a stack; none of stacks along a first axis or padded by zeros. */
  override get stackedFrames(): number | undefined {
    return this.#stacker.sharedFrames;
  }

  /**
   * Starts an episode in every copy.
   *
   * @param options A seed, or one for each copy, starts the random streams anew.
   * @returns The first stacks.
   */
  override reset(options?: VecResetOptions): Batch {
    const observations = super.reset(options) as BoxArray;
    for (let row = 0; row < this.numEnvs; row++) {
      this.#stacker.start(row, observations);
    }
    return this.#stacker.stacks;
  }

  /**
   * Takes one step in every copy.
   *
   * @param actions One action for each copy.
   * @returns What came of it, with the stacks.
   */
  override step(actions: Batch): VecStep {
    const step = relay(super.step(actions), this.#out);
    const observations = step.observations as BoxArray;
    const last = step.finalObservations as BoxArray;
    for (let row = 0; row < this.numEnvs; row++) {
      if (ended(step, row)) {
        this.#stacker.end(row, last);
        this.#stacker.start(row, observations);
      } else {
        this.#stacker.push(row, observations);
      }
    }
    step.observations = this.#stacker.stacks;
    step.finalObservations = this.#stacker.finalStacks;
    return step;
  }

  /**
   * The stacks that were returned last.
   *
   * @returns The batch.
   */
  override observations(): Batch {
    return this.#stacker.stacks;
  }

  /**
   * The present stacks.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return this.#stacker.stacks.slice();
  }

  /**
   * Goes on from stacks.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    this.#stacker.load(state);
  }
}
