import type { SeededRandom } from "../../random.ts";
import type { PhysicsData, PhysicsModel } from "../physics/_physics.ts";

/** Draws positions within `scale` of the model's. */
export function drawPositions(
  { qpos }: PhysicsData,
  { qpos0 }: PhysicsModel,
  random: SeededRandom,
  scale: number,
): void {
  for (let i = 0; i < qpos.length; i++) {
    qpos[i] = qpos0[i] + random.uniform(-scale, scale);
  }
}

/** Draws velocities between `-scale` and `scale`. */
export function drawVelocities(
  { qvel }: PhysicsData,
  random: SeededRandom,
  scale: number,
): void {
  for (let i = 0; i < qvel.length; i++) qvel[i] = random.uniform(-scale, scale);
}

/** Draws positions and velocities within `scale` of the model's. */
export function drawUniformState(
  data: PhysicsData,
  model: PhysicsModel,
  random: SeededRandom,
  scale: number,
): void {
  drawPositions(data, model, random, scale);
  drawVelocities(data, random, scale);
}

/**
 * Draws positions within `scale` of the model's, and normal velocities of mean 0
 * and standard deviation `scale`.
 */
export function drawNormalState(
  data: PhysicsData,
  model: PhysicsModel,
  random: SeededRandom,
  scale: number,
): void {
  drawPositions(data, model, random, scale);
  const { qvel } = data;
  for (let i = 0; i < qvel.length; i++) qvel[i] = scale * random.normal();
}
