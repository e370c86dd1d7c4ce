import type { RenderOptions, RgbImage } from "@bellman/types";
import { MOUNTAIN_CAR } from "./mountain_car_dynamics.ts";
import { renderMountainCar } from "./mountain_car_render.ts";
import { DynamicsEnv } from "./dynamics_env.ts";

/**
 * A car in a valley, too weak to climb the hill on its right but by swinging:
 * it is driven left (0), not at all (1) or right (2), and each step's reward is
 * -1 until it reaches the flag at 0.5. State and observation: position from -1.2
 * to 0.6 and velocity up to 0.07; at first it rests between -0.6 and -0.4. The
 * dynamics are those of Gymnasium's MountainCar.
 *
 * @example
 * ```ts
 * import { MountainCarEnv } from "@bellman/envs";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const env = new MountainCarEnv();
 * env.setState([-0.5, 0]);
 * assertAlmostEquals(env.step(2).observation[1], 0.000823157, 1e-8);
 * ```
 */
export class MountainCarEnv extends DynamicsEnv<number> {
  /** Makes one. */
  constructor() {
    super(MOUNTAIN_CAR);
  }

  /**
   * Draws car, hill and flag.
   *
   * @param options The picture's size; 600 by 400 pixels without one.
   * @returns The picture.
   */
  override render(options?: RenderOptions): RgbImage {
    return renderMountainCar(this.state, { ...options, goal: 0.5 });
  }
}
