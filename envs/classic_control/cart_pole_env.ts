import type { RenderOptions, RgbImage } from "@bellman/types";
import { CART_POLE } from "./cart_pole_dynamics.ts";
import { renderCartPole } from "./cart_pole_render.ts";
import { DynamicsEnv } from "./dynamics_env.ts";

/**
 * A pole on a cart that is to be kept upright by pushing the cart left (0) or
 * right (1); the reward is 1 for each step. An episode ends when the pole leans
 * by more than 12 degrees or the cart is more than 2.4 off the middle. State and
 * observation: position, velocity, angle (radians), angular velocity; at first
 * each between -0.05 and 0.05. The dynamics are those of Gymnasium's CartPole.
 *
 * @example
 * ```ts
 * import { CartPoleEnv } from "@bellman/envs";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const env = new CartPoleEnv();
 * env.setState([0, 0, 0, 0]);
 * const { observation } = env.step(1);
 * assertAlmostEquals(observation[1], 0.195122, 1e-6);
 * ```
 */
export class CartPoleEnv extends DynamicsEnv<number> {
  /** Makes one. */
  constructor() {
    super(CART_POLE);
  }

  /**
   * Draws cart and pole.
   *
   * @param options The picture's size; 600 by 400 pixels without one.
   * @returns The picture.
   */
  override render(options?: RenderOptions): RgbImage {
    return renderCartPole(this.state, options);
  }
}
