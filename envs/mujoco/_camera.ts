import type { PhysicsData, PhysicsModel } from "./_physics.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

/** A point or direction. */
export type Vector = readonly [x: number, y: number, z: number];

/** From where, and how widely, a scene is seen. */
export interface Camera {
  readonly position: Vector;
  /** Directions of unit length. */
  readonly right: Vector;
  readonly up: Vector;
  readonly forward: Vector;
  /** Vertical opening in radians. */
  readonly opening: number;
}

/** MuJoCo's vertical opening of a camera that is none of the model's. */
const OPENING = 45 * Math.PI / 180;

function cameraNumber(
  model: PhysicsModel,
  { cameraId, cameraName }: MujocoOptions,
): number | undefined {
  if (cameraId === undefined && cameraName === undefined) return undefined;
  const id = cameraId ?? model.idOf("camera", cameraName!);
  if (id >= 0 && id < model.sizes.ncam) return id;
  throw new RangeError(
    `Cannot look through the camera ${
      JSON.stringify(cameraName ?? cameraId)
    }: the model has ${model.sizes.ncam} and none of that name`,
  );
}

/** The camera of the model that stands at a place of the arrays. */
function modelCamera(
  { shapes }: PhysicsModel,
  { cameraXpos, cameraXmat }: PhysicsData,
  id: number,
): Camera {
  const axis = (column: number): Vector => [
    cameraXmat[9 * id + column],
    cameraXmat[9 * id + 3 + column],
    cameraXmat[9 * id + 6 + column],
  ];
  const [x, y, z] = axis(2);
  return {
    position: [
      cameraXpos[3 * id],
      cameraXpos[3 * id + 1],
      cameraXpos[3 * id + 2],
    ],
    right: axis(0),
    up: axis(1),
    // A camera looks against its third axis.
    forward: [-x, -y, -z],
    opening: shapes.cameraFovy[id] * Math.PI / 180,
  };
}

/** The place that is looked at: a followed body's, at a height if one is given. */
function placeLookedAt(
  { sizes }: PhysicsModel,
  { xpos, subtreeCom }: PhysicsData,
  { trackBodyId = 1, lookAt }: NonNullable<
    MujocoOptions["defaultCameraConfig"]
  >,
): Vector {
  if (trackBodyId < 0 || trackBodyId >= sizes.nbody) {
    return lookAt === undefined ? [0, 0, 0] : [lookAt[0], lookAt[1], lookAt[2]];
  }
  const at = 3 * trackBodyId;
  // The world's frame tells nothing of where things are.
  const places = trackBodyId === 0 ? subtreeCom : xpos;
  return [places[at], places[at + 1], lookAt?.[2] ?? places[at + 2]];
}

/** The camera that options ask for. */
export function cameraOf(
  model: PhysicsModel,
  data: PhysicsData,
  options: MujocoOptions,
): Camera {
  const id = cameraNumber(model, options);
  if (id !== undefined) return modelCamera(model, data, id);
  const { defaultCameraConfig: config = {} } = options;
  const { distance = 4, elevation = -20, azimuth = 90 } = config;
  const rise = elevation * Math.PI / 180, turn = azimuth * Math.PI / 180;
  const [cos, sin] = [Math.cos(rise), Math.sin(rise)];
  const ahead: Vector = [cos * Math.cos(turn), cos * Math.sin(turn), sin];
  const [x, y, z] = placeLookedAt(model, data, config);
  return {
    position: [
      x - distance * ahead[0],
      y - distance * ahead[1],
      z - distance * ahead[2],
    ],
    right: [Math.sin(turn), -Math.cos(turn), 0],
    up: [-sin * Math.cos(turn), -sin * Math.sin(turn), cos],
    forward: ahead,
    opening: OPENING,
  };
}
