import type { RgbImage } from "@bellman/types";
import { checkPictureSize } from "../../_checks.ts";
import type {
  PhysicsData,
  PhysicsModel,
  PhysicsShapes,
} from "../physics/_physics.ts";
import type { MujocoOptions } from "../tasks/mujoco_options.ts";
import {
  type Camera,
  drawGround,
  type Light,
  Rasterizer,
  type Vector,
} from "./_rasterizer.ts";
import { GEOM, type Solid, solidOf } from "./_solids.ts";

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

/** Returns the camera of the model that stands at a place of the arrays. */
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

/**
 * Returns the place that is looked at: a followed body's, at a height if one is
 * given.
 */
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

/** Finds the camera that options select. */
function cameraOf(
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

/** Pixels are drawn this many times finer each way, for smooth edges. */
const FINER = 2;
/** MuJoCo shows these groups of geoms unless told otherwise. */
const SHOWN_GROUPS = 3;
/** The colour of geoms that are given none. */
const DEFAULT_COLOR = [0.5, 0.5, 0.5, 1];
const MOST_PIXELS = 4096;

/** Surfaces of a model's geoms, made once for each model. */
const solids = new WeakMap<PhysicsShapes, (Solid | undefined)[]>();

function solidsOf(shapes: PhysicsShapes): (Solid | undefined)[] {
  let known = solids.get(shapes);
  if (known === undefined) {
    known = [...shapes.geomType].map((_, geom) => solidOf(shapes, geom));
    solids.set(shapes, known);
  }
  return known;
}

/** Returns a geom's colour: its own, or its material's where it has none. */
function colorOf(shapes: PhysicsShapes, geom: number): ArrayLike<number> {
  const own = shapes.geomRgba.subarray(4 * geom, 4 * geom + 4);
  const material = shapes.geomMaterial[geom];
  const hasOwn = own.some((value, i) => value !== DEFAULT_COLOR[i]);
  if (hasOwn || material < 0) return own;
  return shapes.materialRgba.subarray(4 * material, 4 * material + 4);
}

function drawGeoms(
  canvas: Rasterizer,
  camera: Camera,
  model: PhysicsModel,
  { geomXpos, geomXmat }: PhysicsData,
): void {
  const { shapes } = model, surfaces = solidsOf(shapes);
  for (let geom = 0; geom < model.sizes.ngeom; geom++) {
    const color = colorOf(shapes, geom);
    if (shapes.geomGroup[geom] >= SHOWN_GROUPS || color[3] === 0) continue;
    const light: Light = [color[0], color[1], color[2]];
    const pose = {
      position: geomXpos.subarray(3 * geom, 3 * geom + 3),
      matrix: geomXmat.subarray(9 * geom, 9 * geom + 9),
    };
    const surface = surfaces[geom];
    if (surface !== undefined) canvas.draw(surface, pose, light);
    if (shapes.geomType[geom] !== GEOM.plane) continue;
    const size = shapes.geomSize.subarray(3 * geom, 3 * geom + 2);
    drawGround(canvas, camera, { ...pose, size, color: light });
  }
}

/** Draws the sky: lighter below the horizon, bluer above. */
function drawSky(canvas: Rasterizer): void {
  const { ray, colors, depths, width } = canvas;
  for (let pixel = 0; pixel < depths.length; pixel++) {
    if (depths[pixel] < Infinity) continue;
    canvas.aim(pixel % width, Math.floor(pixel / width));
    const x = ray[0], y = ray[1], z = ray[2];
    const rise = 0.5 + 0.5 * z / Math.sqrt(x * x + y * y + z * z);
    colors[3 * pixel] = 0.85 - 0.35 * rise;
    colors[3 * pixel + 1] = 0.9 - 0.25 * rise;
    colors[3 * pixel + 2] = 0.95 - 0.1 * rise;
  }
}

/** Averages pixels of a finer picture. */
function coarser(canvas: Rasterizer, width: number, height: number): RgbImage {
  const data = new Uint8Array(3 * width * height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      for (let channel = 0; channel < 3; channel++) {
        let sum = 0;
        for (let i = 0; i < FINER * FINER; i++) {
          const y = FINER * row + Math.floor(i / FINER);
          const x = FINER * column + i % FINER;
          sum += canvas.colors[3 * (y * canvas.width + x) + channel];
        }
        const mean = Math.min(1, sum / FINER ** 2);
        data[3 * (row * width + column) + channel] = Math.round(255 * mean);
      }
    }
  }
  return { width, height, data };
}

/**
 * Draws a simulation's geoms in plain shading: no display, no graphics card and
 * no permission is needed, and both engines give the same picture. Textures,
 * tendons, sites, height fields and translucency are not drawn.
 *
 * @param model The model.
 * @param data The simulation.
 * @param options Size and camera.
 * @throws {RangeError} If the size cannot be, or there is no such camera.
 */
export function drawScene(
  model: PhysicsModel,
  data: PhysicsData,
  options: MujocoOptions,
): RgbImage {
  const { width = 480, height = 480 } = options;
  checkPictureSize(width, height, MOST_PIXELS);
  const camera = cameraOf(model, data, options);
  const canvas = new Rasterizer(camera, FINER * width, FINER * height);
  drawGeoms(canvas, camera, model, data);
  // What nothing covers.
  drawSky(canvas);
  return coarser(canvas, width, height);
}
