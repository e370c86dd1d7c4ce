import { ActionClipper } from "../_action_transforms.ts";
import type { Batch, BoxArray, Space, VecEnv, VecStep } from "@bellman/types";
import { VecEnvWrapper } from "./vec_env_wrapper.ts";

/**
 * Takes actions without bounds and clips them to those of the environment.
 *
 * @example
 * ```ts
 * import { makeVec, VecClipAction } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const env = new VecClipAction(makeVec("Pendulum-v1", { numEnvs: 1 }));
 * env.reset({ seed: 0 });
 * assert(env.step(Float32Array.of(100)).rewards[0] > -17);
 * ```
 */
export class VecClipAction extends VecEnvWrapper {
  #clipper: ActionClipper;

  /**
   * Wraps a vector environment.
   *
   * @param env The vector environment inside; its actions are boxes.
   * @throws {TypeError} If they are not.
   */
  constructor(env: VecEnv) {
    super(env);
    this.#clipper = new ActionClipper(env.actionSpace, env.numEnvs);
  }

  /** The box without bounds. */
  override get actionSpace(): Space {
    return this.#clipper.space;
  }

  /**
   * Takes one step in every copy.
   *
   * @param actions One action for each copy, clipped first.
   * @returns What came of it.
   * @throws {RangeError} If there are too few or too many numbers.
   */
  override step(actions: Batch): VecStep {
    return super.step(this.#clipper.apply(actions as BoxArray));
  }
}
