import type { Point } from "./canvas.ts";

/** A rectangle around or beside an origin, turned about it, then moved. */
export interface Rectangle {
  /** Where the origin comes to lie. */
  at: Point;
  /** Left and right edge, before turning. */
  x: Point;
  /** Lower and upper edge, before turning. */
  y: Point;
  /**
   * How far it is turned, counterclockwise, in radians.
   *
   * @default 0
   */
  angle?: number;
}

/**
 * A point turned about the origin and moved.
 *
 * @param point The point.
 * @param move How far it is turned, in radians, and where the origin goes.
 * @returns Where it comes to lie.
 * @example
 * ```ts
 * import { turned } from "@bellman/envs";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const [x, y] = turned([1, 0], { at: [5, 5], angle: Math.PI / 2 });
 * assertAlmostEquals(x, 5);
 * assertAlmostEquals(y, 6);
 * ```
 */
export function turned(
  [x, y]: Point,
  { at, angle = 0 }: { at: Point; angle?: number },
): Point {
  const cos = Math.cos(angle), sin = Math.sin(angle);
  return [at[0] + x * cos - y * sin, at[1] + x * sin + y * cos];
}

/**
 * The corners of a rectangle.
 *
 * @param rectangle Its edges and where it lies.
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
  return corners.map((corner) => turned(corner, { at, angle }));
}
