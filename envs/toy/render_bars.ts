import type { RenderOptions, RgbImage } from "@bellman/types";
import { Canvas, type Color, type Point } from "../render/canvas.ts";
import { rectangle } from "../render/rectangle.ts";

const BLACK: Color = [0, 0, 0];
const PLAIN: Color = [160, 170, 190];
const MARKED: Color = [204, 77, 77];

const VIEW: Point = [400, 200];
const MIDDLE = VIEW[1] / 2;

/** Draws numbers from -1 to 1 as bars, one of them marked. */
export function renderBars(
  heights: readonly number[],
  { width = 400, height = 200, marked = -1 }: RenderOptions & {
    marked?: number;
  } = {},
): RgbImage {
  const canvas = new Canvas({ width, height, view: VIEW });
  const room = VIEW[0] / heights.length;
  heights.forEach((it, i) => {
    const top = Math.min(Math.max(it, -1), 1) * MIDDLE * 0.9;
    const at: Point = [room * (i + 0.5), MIDDLE];
    const bar = rectangle({ at, x: [-room / 3, room / 3], y: [0, top] });
    canvas.fillPolygon(bar, i === marked ? MARKED : PLAIN);
  });
  canvas.strokeLine([[0, MIDDLE], [VIEW[0], MIDDLE]], { color: BLACK });
  return canvas.image();
}
