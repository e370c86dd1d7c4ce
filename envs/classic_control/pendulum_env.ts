import type { RenderOptions, RgbImage } from "@bellman/types";
import { PENDULUM } from "./pendulum_dynamics.ts";
import { renderPendulum } from "./pendulum_render.ts";
import { DynamicsEnv } from "./dynamics_env.ts";

/**
 * A rod on an axle that is to be swung upright and held there by torques from -2
 * to 2; more is clipped. The reward is minus the cost: the squared angle from
 * upright, 0.1 times the squared speed, 0.001 times the squared torque. No
 * episode ends. State: angle from upright in radians, at first anywhere, and
 * speed up to 8, at first between -1 and 1. Observation: cosine, sine, speed.
 * The dynamics are those of Gymnasium's Pendulum.
 *
 * @example
 * ```ts
 * import { PendulumEnv } from "@bellman/envs";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const env = new PendulumEnv();
 * env.setState([Math.PI, 0]);
 * assertAlmostEquals(env.step(Float32Array.of(0)).reward, -(Math.PI ** 2));
 * ```
 */
export class PendulumEnv extends DynamicsEnv<Float32Array> {
  /** Makes one. */
  constructor() {
    super(PENDULUM);
  }

  /**
   * Draws rod and torque.
   *
   * @param options The picture's size; 500 by 500 pixels without one.
   * @returns The picture.
   */
  override render(options?: RenderOptions): RgbImage {
    return renderPendulum(this.state, { ...options, torque: this.lastAction });
  }
}
