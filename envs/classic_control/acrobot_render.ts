import type { RenderOptions, RgbImage } from "@bellman/types";
import { Canvas, type Color, type Point } from "../render/canvas.ts";
import { rectangle } from "../render/rectangle.ts";

const BLACK: Color = [0, 0, 0];
const LINK: Color = [0, 204, 204];
const JOINT: Color = [204, 204, 0];

const VIEW: Point = [500, 500];
const SCALE = VIEW[0] / 4.4;
const CENTER: Point = [VIEW[0] / 2, VIEW[1] / 2];

/** Draws both links and the line that the free end is to reach. */
export function renderAcrobot(
  state: Float64Array,
  { width = 500, height = 500 }: RenderOptions = {},
): RgbImage {
  const canvas = new Canvas({ width, height, view: VIEW });
  const line = CENTER[1] + SCALE;
  canvas.strokeLine([[0, line], [VIEW[0], line]], { color: BLACK });
  const elbow: Point = [
    CENTER[0] + SCALE * Math.sin(state[0]),
    CENTER[1] - SCALE * Math.cos(state[0]),
  ];
  const links = [
    { at: CENTER, angle: state[0] - Math.PI / 2 },
    { at: elbow, angle: state[0] + state[1] - Math.PI / 2 },
  ];
  for (const { at, angle } of links) {
    const half = 0.1 * SCALE;
    const link = rectangle({ at, x: [0, SCALE], y: [-half, half], angle });
    canvas.fillPolygon(link, LINK);
    canvas.fillCircle({ center: at, radius: half }, JOINT);
  }
  return canvas.image();
}
