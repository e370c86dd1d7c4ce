import type { BoxArray, Env, SpaceValue, StepResult } from "@bellman/types";
import { EnvWrapper } from "../../wrappers/env_wrapper.ts";

/** Settings of {@linkcode Frameskip}. */
export interface FrameskipOptions {
  /**
   * Frames of a step.
   *
   * @default 4
   */
  skip?: number;
}

/**
 * Takes each action for several frames. The rewards are summed up, and what is
 * seen is the maximum of the last two frames, since many games draw some things
 * on every other frame only.
 *
 * An episode that ends before the last frame shows the frame in which it ended.
 *
 * `AtariFrameskipWrapper` of jrobine/actor-critic, `MaxAndSkipEnv` of baselines;
 * after an early end the latter shows frames of the step before.
 *
 * @example
 * ```ts
 * import { AtariEnv, Frameskip, isAtariInstalled } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * if (isAtariInstalled()) {
 *   const game = new AtariEnv("pong", { frameskip: 1 });
 *   const env = new Frameskip(game, { skip: 4 });
 *   env.reset({ seed: 0 });
 *   const before = game.ale.episodeFrameNumber;
 *   env.step(2);
 *   assertEquals(game.ale.episodeFrameNumber - before, 4);
 *   env.close();
 * }
 * ```
 */
export class Frameskip extends EnvWrapper {
  #skip: number;

  /**
   * Wraps a game.
   *
   * @param env The game; its observations are boxes.
   * @param options Frames of a step.
   * @throws {RangeError} If that is not a whole number of at least 1.
   * @throws {TypeError} If observations are not boxes.
   */
  constructor(env: Env, options: FrameskipOptions = {}) {
    super(env);
    const { skip = 4 } = options;
    if (!Number.isInteger(skip) || skip < 1) {
      throw new RangeError(
        `Cannot take ${skip} frames in a step: expected a whole number of at least 1`,
      );
    }
    const { type } = env.observationSpace;
    if (type !== "box") {
      throw new TypeError(
        `Cannot take the maximum of observations of a ${type} space: expected a box`,
      );
    }
    this.#skip = skip;
  }

  /**
   * Takes an action for several frames.
   *
   * @param action What to do.
   * @returns The sum of rewards, and the maximum of the last two frames.
   */
  override step(action: SpaceValue): StepResult {
    let reward = 0;
    let before: BoxArray | undefined;
    for (let frame = 1;; frame++) {
      const result = super.step(action);
      reward += result.reward;
      if (frame === this.#skip) {
        const observation = result.observation as BoxArray;
        // What a step returned belongs to the caller: it may be changed.
        if (before !== undefined) raise(observation, before);
        return { ...result, reward };
      }
      if (result.terminated || result.truncated) return { ...result, reward };
      if (frame === this.#skip - 1) before = result.observation as BoxArray;
    }
  }
}

/** Raises each number to that of another frame. */
function raise(frame: BoxArray, other: BoxArray): void {
  for (let i = 0; i < frame.length; i++) {
    if (other[i] > frame[i]) frame[i] = other[i];
  }
}
