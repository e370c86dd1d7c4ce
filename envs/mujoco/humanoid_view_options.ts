import type { MujocoOptions } from "./mujoco_options.ts";

/**
 * What Humanoid and HumanoidStandup see of themselves.
 *
 * @example
 * ```ts
 * import type { HumanoidViewOptions } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * const options: HumanoidViewOptions = { includeCvelInObservation: false };
 * assertEquals(options.includeCvelInObservation, false);
 * ```
 */
export interface HumanoidViewOptions extends MujocoOptions {
  /**
   * Whether observations leave out the positions along `x` and `y`.
   *
   * @default true
   */
  excludeCurrentPositionsFromObservation?: boolean;
  /**
   * Whether observations hold the bodies' masses and inertias.
   *
   * @default true
   */
  includeCinertInObservation?: boolean;
  /**
   * Whether observations hold the bodies' velocities.
   *
   * @default true
   */
  includeCvelInObservation?: boolean;
  /**
   * Whether observations hold the forces of the actuators.
   *
   * @default true
   */
  includeQfrcActuatorInObservation?: boolean;
  /**
   * Whether observations hold the forces of contacts.
   *
   * @default true
   */
  includeCfrcExtInObservation?: boolean;
}
