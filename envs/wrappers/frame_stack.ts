import {
  FrameStacker,
  type FrameStackOptions,
  stackLayout,
} from "../_frame_stacker.ts";
import { SlidingStack } from "../_sliding_stack.ts";
import type {
  BoxArray,
  Env,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
} from "@bellman/types";
import { EnvWrapper } from "./env_wrapper.ts";

/** One environment's stacks, copied for the caller. */
class CopiedStack {
  readonly space: Space;
  #stacker: FrameStacker;

  constructor(space: Space, options: FrameStackOptions) {
    this.#stacker = new FrameStacker(space, 1, options);
    this.space = this.#stacker.space;
  }

  get stack(): BoxArray {
    return this.#stacker.stacks.slice() as BoxArray;
  }

  load(saved: StateTree): void {
    this.#stacker.load(saved);
  }

  start(observation: BoxArray): BoxArray {
    this.#stacker.start(0, observation);
    return this.stack;
  }

  push(observation: BoxArray): BoxArray {
    this.#stacker.push(0, observation);
    return this.stack;
  }
}

/**
 * Shows the last observations at once, the oldest first, stacked along the last
 * axis or along a new first one.
 *
 * Stacks along a new first axis share their frames: each frame is kept once, and
 * a stack is a view of its row. It stays as it is however long it is held,
 * but it must not be written into.
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
  #stack: CopiedStack | SlidingStack;
  #sharedFrames: number | undefined;

  /**
   * Wraps an environment.
   *
   * @param env The environment inside; its observations are boxes.
   * @param options Size and axis of the stack and what comes before an episode.
   * @throws {TypeError} If the observations are not boxes.
   */
  constructor(env: Env, options: FrameStackOptions = {}) {
    super(env);
    const Stack = options.axis === "first" ? SlidingStack : CopiedStack;
    this.#stack = new Stack(env.observationSpace, options);
    this.#sharedFrames =
      stackLayout(env.observationSpace, options).sharedFrames;
  }

  /** What stacks can be. */
  override get observationSpace(): Space {
    return this.#stack.space;
  }

  /** Frames of a stack; none of stacks along a first axis or padded by zeros. */
  override get stackedFrames(): number | undefined {
    return this.#sharedFrames;
  }

  /**
   * Starts an episode.
   *
   * @param options A seed starts the random stream anew.
   * @returns The first stack.
   */
  override reset(options?: { seed?: number }): SpaceValue {
    return this.#stack.start(super.reset(options) as BoxArray);
  }

  /**
   * Takes one step.
   *
   * @param action What to do.
   * @returns What came of it, with the stack.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    const observation = this.#stack.push(result.observation as BoxArray);
    return { ...result, observation };
  }

  /**
   * The present stack.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return this.#stack.stack.slice();
  }

  /**
   * Goes on from a stack.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    this.#stack.load(state);
  }
}
