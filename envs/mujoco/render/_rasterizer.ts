import type { Solid } from "./_solids.ts";

/** A point or direction. */
export type Vector = readonly [x: number, y: number, z: number];

/** Viewpoint of a scene, and opening of the view. */
export interface Camera {
  readonly position: Vector;
  /** Directions of unit length. */
  readonly right: Vector;
  readonly up: Vector;
  readonly forward: Vector;
  /** Vertical opening in radians. */
  readonly opening: number;
}

/** Colours are from 0 to 1. */
export type Light = readonly [red: number, green: number, blue: number];

/** A place and a turn: rows of a matrix from the solid's frame to the world's. */
interface Pose {
  readonly position: ArrayLike<number>;
  readonly matrix: ArrayLike<number>;
}

/** Metres before the camera from which on things are seen. */
const NEAR = 0.01;
/** Towards the lamp. */
const LAMP: Vector = [0.3, -0.35, 0.89];
/** Parts of the light: from everywhere, from the lamp, from the camera. */
const AMBIENT = 0.4, FROM_LAMP = 0.45, FROM_CAMERA = 0.25;

function dot(a: Vector, x: number, y: number, z: number): number {
  return a[0] * x + a[1] * y + a[2] * z;
}

/** A picture of pixels with depths, into which solids are drawn. */
export class Rasterizer {
  readonly width: number;
  readonly height: number;
  /** Colours from 0 to 1, `[height, width, 3]`. */
  readonly colors: Float32Array;
  /** Metres before the camera of what is seen in each pixel. */
  readonly depths: Float32Array;
  /** The direction of the pixel that was aimed at, a metre deep. */
  readonly ray: Float64Array = new Float64Array(3);

  #camera: Camera;
  /** Pixels for a metre to the side at a depth of one. */
  #focal: number;
  /** Of the solid at hand, by corner: depth, place in the picture, brightness. */
  #corners: Float64Array = new Float64Array(0);

  constructor(camera: Camera, width: number, height: number) {
    this.width = width;
    this.height = height;
    this.colors = new Float32Array(3 * width * height);
    this.depths = new Float32Array(width * height).fill(Infinity);
    this.#camera = camera;
    this.#focal = height / 2 / Math.tan(camera.opening / 2);
  }

  /** Makes `ray` the direction of a pixel. */
  aim(column: number, row: number): void {
    const { right, up, forward } = this.#camera, ray = this.ray;
    const x = (column + 0.5 - this.width / 2) / this.#focal;
    const y = (this.height / 2 - row - 0.5) / this.#focal;
    for (let i = 0; i < 3; i++) {
      ray[i] = forward[i] + x * right[i] + y * up[i];
    }
  }

  /** Draws a solid of one colour. */
  draw({ points, normals, triangles }: Solid, pose: Pose, color: Light): void {
    const count = points.length / 3;
    if (this.#corners.length < 4 * count) {
      this.#corners = new Float64Array(4 * count);
    }
    for (let i = 0; i < count; i++) this.#place(points, normals, pose, i);
    for (let i = 0; i < triangles.length; i += 3) {
      this.#fill(triangles[i], triangles[i + 1], triangles[i + 2], color);
    }
  }

  #place(
    points: Float64Array,
    normals: Float64Array,
    { position, matrix: m }: Pose,
    i: number,
  ): void {
    const { position: eye, right, up, forward } = this.#camera;
    const turn = (of: Float64Array, row: number): number =>
      m[3 * row] * of[3 * i] + m[3 * row + 1] * of[3 * i + 1] +
      m[3 * row + 2] * of[3 * i + 2];
    const x = turn(points, 0) + position[0] - eye[0];
    const y = turn(points, 1) + position[1] - eye[1];
    const z = turn(points, 2) + position[2] - eye[2];
    const depth = dot(forward, x, y, z), scale = this.#focal / depth;
    const corners = this.#corners;
    corners[4 * i] = depth;
    corners[4 * i + 1] = this.width / 2 + scale * dot(right, x, y, z);
    corners[4 * i + 2] = this.height / 2 - scale * dot(up, x, y, z);
    const [nx, ny, nz] = [0, 1, 2].map((row) => turn(normals, row));
    const length = Math.hypot(nx, ny, nz) || 1;
    const lamp = Math.max(0, dot(LAMP, nx, ny, nz) / length);
    const facing = Math.abs(dot(forward, nx, ny, nz)) / length;
    corners[4 * i + 3] = AMBIENT + FROM_LAMP * lamp + FROM_CAMERA * facing;
  }

  #fill(a: number, b: number, c: number, color: Light): void {
    const v = this.#corners, [ia, ib, ic] = [4 * a, 4 * b, 4 * c];
    // What reaches behind the camera is left out: cameras stand off.
    if (Math.min(v[ia], v[ib], v[ic]) < NEAR) return;
    const [ax, ay, bx, by] = [v[ia + 1], v[ia + 2], v[ib + 1], v[ib + 2]];
    const [cx, cy] = [v[ic + 1], v[ic + 2]];
    const area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
    if (area === 0) return;
    const left = Math.max(0, Math.floor(Math.min(ax, bx, cx)));
    const end = Math.min(this.width - 1, Math.ceil(Math.max(ax, bx, cx)));
    const top = Math.max(0, Math.floor(Math.min(ay, by, cy)));
    const bottom = Math.min(this.height - 1, Math.ceil(Math.max(ay, by, cy)));
    for (let row = top; row <= bottom; row++) {
      for (let column = left; column <= end; column++) {
        const x = column + 0.5, y = row + 0.5;
        const wa = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area;
        const wb = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area;
        const wc = 1 - wa - wb;
        if (wa < 0 || wb < 0 || wc < 0) continue;
        const depth = 1 / (wa / v[ia] + wb / v[ib] + wc / v[ic]);
        const pixel = row * this.width + column;
        if (depth >= this.depths[pixel]) continue;
        const light = wa * v[ia + 3] + wb * v[ib + 3] + wc * v[ic + 3];
        this.depths[pixel] = depth;
        this.colors[3 * pixel] = light * color[0];
        this.colors[3 * pixel + 1] = light * color[1];
        this.colors[3 * pixel + 2] = light * color[2];
      }
    }
  }
}

/** A plane: it lies at its frame's origin, across the third axis. */
interface Ground extends Pose {
  /** Half widths; 0 for a plane without end. */
  readonly size: ArrayLike<number>;
  readonly color: Light;
}

/** Metres of a square of a plane without end. */
const SQUARE = 1;
/** Squares along half of a small plane. */
const SQUARES = 5;
/** Metres at which the squares have blurred into one another. */
const BLUR = 40;
/** Brightness of every other square. */
const DARKER = 0.75;

function squareOf(half: number): number {
  return half > 0 && half < SQUARES * SQUARE ? half / SQUARES : SQUARE;
}

/** Computes the brightness of a place of the floor. */
function brightness(u: number, v: number, depth: number): number {
  const isDark = (Math.floor(u) + Math.floor(v)) % 2 !== 0;
  const blur = (1 - DARKER) / 2 * Math.min(1, depth / BLUR);
  return isDark ? DARKER + blur : 1 - blur;
}

/** Draws a plane as a chequered floor, by a ray through each pixel. */
export function drawGround(
  canvas: Rasterizer,
  { position: eye }: Camera,
  { position, matrix: m, size, color }: Ground,
): void {
  const { ray, depths, colors, width } = canvas;
  const x0 = position[0] - eye[0], y0 = position[1] - eye[1];
  const z0 = position[2] - eye[2];
  const height = x0 * m[2] + y0 * m[5] + z0 * m[8];
  const square = squareOf(size[0]);
  // Planes are seen from their front only.
  if (height > 0) return;
  for (let pixel = 0; pixel < depths.length; pixel++) {
    canvas.aim(pixel % width, Math.floor(pixel / width));
    const depth = height / (ray[0] * m[2] + ray[1] * m[5] + ray[2] * m[8]);
    if (!(depth > 0 && depth < depths[pixel])) continue;
    const x = depth * ray[0] - x0, y = depth * ray[1] - y0;
    const z = depth * ray[2] - z0;
    const u = m[0] * x + m[3] * y + m[6] * z;
    const v = m[1] * x + m[4] * y + m[7] * z;
    if (size[0] > 0 && Math.abs(u) > size[0]) continue;
    if (size[1] > 0 && Math.abs(v) > size[1]) continue;
    const light = brightness(u / square, v / square, depth);
    depths[pixel] = depth;
    for (let i = 0; i < 3; i++) colors[3 * pixel + i] = light * color[i];
  }
}
