import type { MujocoInfo } from "./_rules.ts";

/** What is told of a body that moves along `x` and `y`. */
export function whereabouts(
  qpos: Float64Array,
  velocity: Float64Array,
): MujocoInfo {
  return {
    x_position: qpos[0],
    y_position: qpos[1],
    distance_from_origin: Math.hypot(qpos[0], qpos[1]),
    x_velocity: velocity[0],
    y_velocity: velocity[1],
  };
}
