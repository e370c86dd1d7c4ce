import { ActionClipper } from "../_action_transforms.ts";
import type {
  BoxArray,
  Env,
  Space,
  SpaceValue,
  StepResult,
} from "@bellman/types";
import { EnvWrapper } from "./env_wrapper.ts";

/**
 * Takes actions without bounds and clips them to those of the environment.
 *
 * @example
 * ```ts
 * import { ClipAction, make } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const env = new ClipAction(make("Pendulum-v1"));
 * env.reset({ seed: 0 });
 * assert(env.step(Float32Array.of(100)).reward > -17);
 * ```
 */
export class ClipAction extends EnvWrapper {
  #clipper: ActionClipper;

  /**
   * Wraps an environment.
   *
   * @param env The environment inside; its actions are boxes.
   * @throws {TypeError} If they are not.
   */
  constructor(env: Env) {
    super(env);
    this.#clipper = new ActionClipper(env.actionSpace, 1);
  }

  /** The box without bounds. */
  override get actionSpace(): Space {
    return this.#clipper.space;
  }

  /**
   * Takes one step.
   *
   * @param action What to do, clipped first.
   * @returns What came of it.
   * @throws {RangeError} If there are too few or too many numbers.
   */
  override step(action: SpaceValue): StepResult {
    return super.step(this.#clipper.apply(action as BoxArray));
  }
}
