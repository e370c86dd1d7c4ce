import type { RenderOptions, RgbImage } from "@bellman/types";
import { MOUNTAIN_CAR_CONTINUOUS } from "./mountain_car_continuous_dynamics.ts";
import { renderMountainCar } from "./mountain_car_render.ts";
import { DynamicsEnv } from "./dynamics_env.ts";

/**
 * The mountain car with an engine of any force from -1 to 1; a force beyond is
 * clipped. The reward is -0.1 times the square of the action as it was given,
 * and 100 at the flag at 0.45. State and observation: position and velocity; at
 * first it rests between -0.6 and -0.4. The dynamics are those of Gymnasium's
 * MountainCarContinuous, which rounds the state to float32 in each step.
 *
 * @example
 * ```ts
 * import { MountainCarContinuousEnv } from "@bellman/envs";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const env = new MountainCarContinuousEnv();
 * env.setState([-0.5, 0]);
 * assertAlmostEquals(env.step(Float32Array.of(2)).reward, -0.4);
 * ```
 */
export class MountainCarContinuousEnv extends DynamicsEnv<Float32Array> {
  /** Makes one. */
  constructor() {
    super(MOUNTAIN_CAR_CONTINUOUS);
  }

  /**
   * Draws car, hill and flag.
   *
   * @param options The picture's size; 600 by 400 pixels without one.
   * @returns The picture.
   */
  override render(options?: RenderOptions): RgbImage {
    return renderMountainCar(this.state, { ...options, goal: 0.45 });
  }
}
