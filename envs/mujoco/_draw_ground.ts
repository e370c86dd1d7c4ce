import type { Camera } from "./_camera.ts";
import type { Light, Pose, Rasterizer } from "./_rasterizer.ts";

/** A plane: it lies at its frame's origin, across the third axis. */
export interface Ground extends Pose {
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
/** How much darker every other square is. */
const DARKER = 0.75;

function squareOf(half: number): number {
  return half > 0 && half < SQUARES * SQUARE ? half / SQUARES : SQUARE;
}

/** How bright a place of the floor is. */
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
