import type { SeededRandom } from "../random.ts";
import type { PhysicsData } from "./_physics.ts";

/**
 * Positions of the model's start, each moved by up to `scale`.
 *
 * @param data The simulation.
 * @param qpos0 The model's positions.
 * @param random Where the noise comes from.
 * @param scale The most that a number is moved.
 */
export function scatterPositions(
  { qpos }: PhysicsData,
  qpos0: Float64Array,
  random: SeededRandom,
  scale: number,
): void {
  for (let i = 0; i < qpos.length; i++) {
    qpos[i] = qpos0[i] + random.uniform(-scale, scale);
  }
}

/** Velocities between `-scale` and `scale`. */
export function scatterVelocities(
  { qvel }: PhysicsData,
  random: SeededRandom,
  scale: number,
): void {
  for (let i = 0; i < qvel.length; i++) qvel[i] = random.uniform(-scale, scale);
}

/** Normal velocities of mean 0 and standard deviation `scale`. */
export function normalVelocities(
  { qvel }: PhysicsData,
  random: SeededRandom,
  scale: number,
): void {
  for (let i = 0; i < qvel.length; i++) qvel[i] = scale * random.normal();
}
