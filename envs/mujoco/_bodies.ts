import type { PhysicsData, PhysicsModel } from "./_physics.ts";

/**
 * The number of a body that an environment's rules speak of.
 *
 * @throws {RangeError} If the model has none of that name.
 */
export function bodyNamed(
  model: PhysicsModel,
  name: string,
  task: string,
): number {
  const id = model.idOf("body", name);
  if (id >= 0) return id;
  throw new RangeError(
    `Cannot make ${task} of a model without a body named '${name}'`,
  );
}

/** Metres between the frames of two bodies. */
export function distanceBetween(
  { xpos }: PhysicsData,
  a: number,
  b: number,
): number {
  const x = xpos[3 * a] - xpos[3 * b];
  const y = xpos[3 * a + 1] - xpos[3 * b + 1];
  const z = xpos[3 * a + 2] - xpos[3 * b + 2];
  return Math.sqrt(x * x + y * y + z * z);
}
