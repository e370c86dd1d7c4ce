import type { RenderOptions, RgbImage } from "@bellman/types";
import { Canvas, type Color, type Point } from "../render/canvas.ts";
import { rectangle, turned } from "../render/rectangle.ts";
import { MAX_POSITION, MIN_POSITION } from "./mountain_car_dynamics.ts";

const BLACK: Color = [0, 0, 0];
const WHEEL: Color = [128, 128, 128];
const FLAG: Color = [204, 204, 0];

const VIEW: Point = [600, 400];
const SCALE = VIEW[0] / (MAX_POSITION - MIN_POSITION);
const CLEARANCE = 10;
const PIECES = 100;

/** Where a position lies on the hill. */
function onHill(position: number): Point {
  const height = Math.sin(3 * position) * 0.45 + 0.55;
  return [(position - MIN_POSITION) * SCALE, height * SCALE];
}

function drawCar(canvas: Canvas, position: number): void {
  const [x, y] = onHill(position);
  const at: Point = [x, y + CLEARANCE];
  const angle = Math.cos(3 * position);
  const body = rectangle({ at, x: [-20, 20], y: [0, 20], angle });
  canvas.fillPolygon(body, BLACK);
  for (const side of [10, -10]) {
    const center = turned([side, 0], { at, angle });
    canvas.fillCircle({ center, radius: 8 }, WHEEL);
  }
}

/** Draws the hill, the car and the flag at the goal. */
export function renderMountainCar(
  state: Float64Array,
  { width = 600, height = 400, goal }: RenderOptions & { goal: number },
): RgbImage {
  const canvas = new Canvas({ width, height, view: VIEW });
  const along = (i: number) =>
    MIN_POSITION + (MAX_POSITION - MIN_POSITION) * i / PIECES;
  const hill = Array.from({ length: PIECES + 1 }, (_, i) => onHill(along(i)));
  canvas.strokeLine(hill, { color: BLACK });
  drawCar(canvas, state[0]);
  const [x, foot] = onHill(goal);
  const top = foot + 50;
  canvas.strokeLine([[x, foot], [x, top]], { color: BLACK });
  canvas.fillPolygon([[x, top], [x, top - 10], [x + 25, top - 5]], FLAG);
  return canvas.image();
}
