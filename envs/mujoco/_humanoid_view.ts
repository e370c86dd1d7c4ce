import { append } from "./_observe.ts";
import type { PhysicsData, PhysicsSizes } from "./_physics.ts";
import type { ObservationRow } from "./_rules.ts";

/** What humanoids see unless said otherwise. */
export const FULL_VIEW = {
  excludeCurrentPositionsFromObservation: true,
  includeCinertInObservation: true,
  includeCvelInObservation: true,
  includeQfrcActuatorInObservation: true,
  includeCfrcExtInObservation: true,
};

/** What humanoids see of themselves: each part is asked for or not. */
type HumanoidView = Readonly<typeof FULL_VIEW>;

/** Numbers of the world in each array; nothing is seen of it. */
const WORLD = { cinert: 10, cvel: 6, cfrcExt: 6 };
/** The root moves freely: no actuator turns it. */
const ROOT_DOFS = 6;

/** How many numbers humanoids see. */
export function humanoidObservationSize(
  { nq, nv, nbody }: PhysicsSizes,
  view: HumanoidView,
): number {
  return nq + nv - (view.excludeCurrentPositionsFromObservation ? 2 : 0) +
    (view.includeCinertInObservation ? 10 * (nbody - 1) : 0) +
    (view.includeCvelInObservation ? 6 * (nbody - 1) : 0) +
    (view.includeQfrcActuatorInObservation ? nv - ROOT_DOFS : 0) +
    (view.includeCfrcExtInObservation ? 6 * (nbody - 1) : 0);
}

/**
 * Positions, velocities, and as asked for inertias and velocities of the bodies,
 * forces of the actuators, forces of contacts.
 */
export function observeHumanoid(
  data: PhysicsData,
  view: HumanoidView,
  row: ObservationRow,
): void {
  append(row, data.qpos, view.excludeCurrentPositionsFromObservation ? 2 : 0);
  append(row, data.qvel);
  if (view.includeCinertInObservation) append(row, data.cinert, WORLD.cinert);
  if (view.includeCvelInObservation) append(row, data.cvel, WORLD.cvel);
  if (view.includeQfrcActuatorInObservation) {
    append(row, data.qfrcActuator, ROOT_DOFS);
  }
  if (view.includeCfrcExtInObservation) {
    append(row, data.cfrcExt, WORLD.cfrcExt);
  }
}
