import type { MujocoOptions } from "./mujoco_options.ts";

/** What Humanoid and HumanoidStandup see of themselves. */
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
