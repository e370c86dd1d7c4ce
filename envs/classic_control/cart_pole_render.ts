import type { RenderOptions, RgbImage } from "@bellman/types";
import { Canvas, type Color, type Point } from "../render/canvas.ts";
import { rectangle } from "../render/rectangle.ts";
import { POSITION_LIMIT } from "./cart_pole_dynamics.ts";

const BLACK: Color = [0, 0, 0];
const POLE: Color = [202, 152, 101];
const AXLE: Color = [129, 132, 203];

const VIEW: Point = [600, 400];
const SCALE = VIEW[0] / (POSITION_LIMIT * 2);
const TRACK = 100;

/** Draws a cart on its track with the pole. */
export function renderCartPole(
  state: Float64Array,
  { width = 600, height = 400 }: RenderOptions = {},
): RgbImage {
  const canvas = new Canvas({ width, height, view: VIEW });
  const cart: Point = [VIEW[0] / 2 + state[0] * SCALE, TRACK];
  const axle: Point = [cart[0], TRACK + 7.5];
  canvas.strokeLine([[0, TRACK], [VIEW[0], TRACK]], { color: BLACK });
  canvas.fillPolygon(
    rectangle({ at: cart, x: [-25, 25], y: [-15, 15] }),
    BLACK,
  );
  canvas.fillPolygon(
    rectangle({ at: axle, x: [-5, 5], y: [-5, SCALE - 5], angle: -state[2] }),
    POLE,
  );
  canvas.fillCircle({ center: axle, radius: 5 }, AXLE);
  return canvas.image();
}
