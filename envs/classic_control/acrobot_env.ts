import type { RenderOptions, RgbImage } from "@bellman/types";
import { ACROBOT } from "./acrobot_dynamics.ts";
import { renderAcrobot } from "./acrobot_render.ts";
import { DynamicsEnv } from "./dynamics_env.ts";

/**
 * Two links that hang from an axle, with a motor at the joint between them:
 * torque -1 (0), none (1) or 1 (2). Each step's reward is -1 until the free end
 * swings a link's length above the axle, 0 then. State: angle of the first link
 * from hanging, of the second from the first, in radians, and their speeds, at
 * first each between -0.1 and 0.1. Observation: cosine and sine of both angles,
 * the speeds. The dynamics are those of Gymnasium's Acrobot.
 *
 * @example
 * ```ts
 * import { AcrobotEnv } from "@bellman/envs";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const env = new AcrobotEnv();
 * env.setState([Math.PI, 0, 0, 0]);
 * assertAlmostEquals(env.step(1).observation[0], -1);
 * ```
 */
export class AcrobotEnv extends DynamicsEnv<number> {
  /** Makes one. */
  constructor() {
    super(ACROBOT);
  }

  /**
   * Draws links and the line to reach.
   *
   * @param options The picture's size; 500 by 500 pixels without one.
   * @returns The picture.
   */
  override render(options?: RenderOptions): RgbImage {
    return renderAcrobot(this.state, options);
  }
}
