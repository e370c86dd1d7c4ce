import type { RgbImage } from "@bellman/types";
import { checkPictureSize } from "../_checks.ts";

/** Red, green and blue, 0 to 255. */
export type Color = readonly [number, number, number];

/** Place in the canvas's own units; `y` points upwards. */
export type Point = readonly [number, number];

/** Sizes of a {@linkcode Canvas}. */
export interface CanvasOptions {
  /** Pixels in a row. */
  width: number;
  /** Number of rows. */
  height: number;
  /**
   * Size of the drawing in its own units; it is scaled evenly to fit and centred.
   *
   * @default the picture's own size
   */
  view?: Point;
}

/** Style of a line. */
export interface LineStyle {
  /** Colour of the line. */
  color: Color;
  /**
   * Width in the units of the drawing.
   *
   * @default 1
   */
  width?: number;
}

/** Horizontal strips that each row of pixels is sampled in. */
const STRIPS = 8;
/** Corners of the polygons that circles are drawn as. */
const CIRCLE_CORNERS = 64;

/**
 * Draws polygons, lines and circles with smooth edges: each pixel is mixed by
 * how much of it is covered.
 *
 * @example
 * ```ts
 * import { Canvas } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const canvas = new Canvas({ width: 4, height: 4 });
 * canvas.fillPolygon([[0, 0], [2, 0], [2, 2], [0, 2]], [255, 0, 0]);
 * const { data } = canvas.image();
 * assertEquals([...data.subarray(0, 3)], [255, 255, 255]);
 * assertEquals([...data.subarray(12 * 3, 12 * 3 + 3)], [255, 0, 0]);
 * ```
 */
export class Canvas {
  /** Pixels in a row. */
  readonly width: number;
  /** Number of rows. */
  readonly height: number;

  #data: Uint8Array;
  #coverage: Float64Array;
  #scale: number;
  #offset: Point;

  /**
   * Makes a white canvas.
   *
   * @param options Sizes of the canvas.
   * @throws {RangeError} If a size is not a whole number from 1 to 16384.
   */
  constructor({ width, height, view = [width, height] }: CanvasOptions) {
    checkPictureSize(width, height, 16384);
    this.width = width;
    this.height = height;
    this.#data = new Uint8Array(width * height * 3).fill(255);
    this.#coverage = new Float64Array(width);
    this.#scale = Math.min(width / view[0], height / view[1]);
    this.#offset = [
      (width - this.#scale * view[0]) / 2,
      (height + this.#scale * view[1]) / 2,
    ];
  }

  /**
   * Fills a polygon (even-odd rule).
   *
   * @param points Its corners.
   * @param color Colour of the polygon.
   */
  fillPolygon(points: readonly Point[], color: Color): void {
    const xs = points.map(([x]) => this.#offset[0] + x * this.#scale);
    const ys = points.map(([, y]) => this.#offset[1] - y * this.#scale);
    const first = Math.max(0, Math.floor(Math.min(...ys)));
    const last = Math.min(this.height - 1, Math.floor(Math.max(...ys)));
    for (let row = first; row <= last; row++) {
      this.#coverage.fill(0);
      for (let strip = 0; strip < STRIPS; strip++) {
        const crossings = crossingsAt(row + (strip + 0.5) / STRIPS, xs, ys);
        for (let i = 0; i + 1 < crossings.length; i += 2) {
          this.#cover(crossings[i], crossings[i + 1]);
        }
      }
      this.#blendRow(row, color);
    }
  }

  /** Adds one strip of a row, from `left` to `right`, to the coverage. */
  #cover(left: number, right: number): void {
    const from = Math.max(0, left), to = Math.min(this.width, right);
    for (let x = Math.floor(from); x < to; x++) {
      const part = Math.min(to, x + 1) - Math.max(from, x);
      this.#coverage[x] += part / STRIPS;
    }
  }

  #blendRow(row: number, color: Color): void {
    for (let x = 0; x < this.width; x++) {
      const share = Math.min(1, this.#coverage[x]);
      if (share === 0) continue;
      const at = (row * this.width + x) * 3;
      for (let c = 0; c < 3; c++) {
        const old = this.#data[at + c];
        this.#data[at + c] = Math.round(old + share * (color[c] - old));
      }
    }
  }

  /**
   * Draws a line through points, each piece with square ends.
   *
   * @param points Two points or more.
   * @param style Colour and width.
   */
  strokeLine(points: readonly Point[], { color, width = 1 }: LineStyle): void {
    for (let i = 0; i + 1 < points.length; i++) {
      const [[x0, y0], [x1, y1]] = [points[i], points[i + 1]];
      const length = Math.hypot(x1 - x0, y1 - y0) || 1;
      const dx = (y0 - y1) / length * width / 2;
      const dy = (x1 - x0) / length * width / 2;
      this.fillPolygon([
        [x0 + dx, y0 + dy],
        [x1 + dx, y1 + dy],
        [x1 - dx, y1 - dy],
        [x0 - dx, y0 - dy],
      ], color);
    }
  }

  /**
   * Fills a circle.
   *
   * @param circle Its centre and radius.
   * @param color Colour of the circle.
   */
  fillCircle(
    { center: [x, y], radius }: { center: Point; radius: number },
    color: Color,
  ): void {
    const corner = (_: unknown, i: number): Point => {
      const angle = 2 * Math.PI * (i + 0.5) / CIRCLE_CORNERS;
      return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
    };
    this.fillPolygon(Array.from({ length: CIRCLE_CORNERS }, corner), color);
  }

  /**
   * Copies the drawing.
   *
   * @returns The picture.
   */
  image(): RgbImage {
    const { width, height } = this;
    return { width, height, data: this.#data.slice() };
  }
}

/** Finds the crossings of a polygon's edges with a height, left to right. */
function crossingsAt(y: number, xs: number[], ys: number[]): number[] {
  const found: number[] = [];
  for (let i = 0, j = xs.length - 1; i < xs.length; j = i++) {
    if ((ys[i] <= y) === (ys[j] <= y)) continue;
    found.push(xs[i] + (y - ys[i]) / (ys[j] - ys[i]) * (xs[j] - xs[i]));
  }
  return found.sort((a, b) => a - b);
}

/** Rectangle around or beside an origin, rotated about it, then moved. */
export interface Rectangle {
  /** Place of the origin. */
  at: Point;
  /** Left and right edge, before turning. */
  x: Point;
  /** Lower and upper edge, before turning. */
  y: Point;
  /**
   * Angle of the turn, counterclockwise, in radians.
   *
   * @default 0
   */
  angle?: number;
}

/**
 * Turns a point about the origin and moves it.
 *
 * @param point Point to turn.
 * @param move Angle in radians, and place of the origin.
 * @returns The point's place.
 * @example
 * ```ts
 * import { rotate } from "@bellman/envs";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const [x, y] = rotate([1, 0], { at: [5, 5], angle: Math.PI / 2 });
 * assertAlmostEquals(x, 5);
 * assertAlmostEquals(y, 6);
 * ```
 */
export function rotate(
  [x, y]: Point,
  { at, angle = 0 }: { at: Point; angle?: number },
): Point {
  const cos = Math.cos(angle), sin = Math.sin(angle);
  return [at[0] + x * cos - y * sin, at[1] + x * sin + y * cos];
}

/**
 * Places the corners of a rectangle.
 *
 * @param rectangle Its edges and place.
 * @returns Four points.
 * @example
 * ```ts
 * import { rectangle } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const corners = rectangle({ at: [10, 0], x: [-1, 1], y: [0, 2] });
 * assertEquals(corners, [[9, 0], [9, 2], [11, 2], [11, 0]]);
 * ```
 */
export function rectangle({ at, x, y, angle }: Rectangle): Point[] {
  const [left, right] = x, [low, high] = y;
  const corners: Point[] = [
    [left, low],
    [left, high],
    [right, high],
    [right, low],
  ];
  return corners.map((corner) => rotate(corner, { at, angle }));
}
