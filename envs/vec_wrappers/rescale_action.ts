import {
  ActionRescaler,
  type RescaleActionOptions,
} from "../_action_transforms.ts";
import type { Batch, BoxArray, Space, VecEnv, VecStep } from "@bellman/types";
import { VecEnvWrapper } from "./vec_env_wrapper.ts";

/**
 * Takes actions from -1 to 1 (or another range) and stretches them to the
 * bounds of the environment.
 *
 * @example
 * ```ts
 * import { makeVec, VecRescaleAction } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new VecRescaleAction(makeVec("Pendulum-v1", { numEnvs: 1 }));
 * assertEquals(env.actionSpace.type === "box" && env.actionSpace.low, -1);
 * ```
 */
export class VecRescaleAction extends VecEnvWrapper {
  #rescaler: ActionRescaler;

  /**
   * Wraps a vector environment.
   *
   * @param env The vector environment inside; its actions are bounded boxes.
   * @param options The range that actions are given in.
   * @throws {TypeError} If the actions are not boxes.
   * @throws {RangeError} If they have no bounds.
   */
  constructor(env: VecEnv, options: RescaleActionOptions = {}) {
    super(env);
    this.#rescaler = new ActionRescaler(env.actionSpace, env.numEnvs, options);
  }

  /** The box that actions are given in. */
  override get actionSpace(): Space {
    return this.#rescaler.space;
  }

  /**
   * Takes one step in every copy.
   *
   * @param actions One action for each copy, in the new range.
   * @returns What came of it.
   * @throws {RangeError} If there are too few or too many numbers.
   */
  override step(actions: Batch): VecStep {
    return super.step(this.#rescaler.apply(actions as BoxArray));
  }
}
