import {
  ActionRescaler,
  type RescaleActionOptions,
} from "../_action_transforms.ts";
import type {
  BoxArray,
  Env,
  Space,
  SpaceValue,
  StepResult,
} from "@bellman/types";
import { EnvWrapper } from "./env_wrapper.ts";

/**
 * Takes actions from -1 to 1 (or another range) and stretches them to the
 * bounds of the environment.
 *
 * @example
 * ```ts
 * import { make, RescaleAction } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new RescaleAction(make("Pendulum-v1"));
 * assertEquals(env.actionSpace.type === "box" && env.actionSpace.high, 1);
 * ```
 */
export class RescaleAction extends EnvWrapper {
  #rescaler: ActionRescaler;

  /**
   * Wraps an environment.
   *
   * @param env The environment inside; its actions are bounded boxes.
   * @param options The range that actions are given in.
   * @throws {TypeError} If the actions are not boxes.
   * @throws {RangeError} If they have no bounds.
   */
  constructor(env: Env, options: RescaleActionOptions = {}) {
    super(env);
    this.#rescaler = new ActionRescaler(env.actionSpace, 1, options);
  }

  /** The box that actions are given in. */
  override get actionSpace(): Space {
    return this.#rescaler.space;
  }

  /**
   * Takes one step.
   *
   * @param action What to do, in the new range.
   * @returns What came of it.
   * @throws {RangeError} If there are too few or too many numbers.
   */
  override step(action: SpaceValue): StepResult {
    return super.step(this.#rescaler.apply(action as BoxArray));
  }
}
