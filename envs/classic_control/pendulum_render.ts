import type { RenderOptions, RgbImage } from "@bellman/types";
import { Canvas, type Color, type Point } from "../render/canvas.ts";
import { rectangle, turned } from "../render/rectangle.ts";
import { MAX_TORQUE } from "./pendulum_dynamics.ts";

const BLACK: Color = [0, 0, 0];
const ROD: Color = [204, 77, 77];

const VIEW: Point = [500, 500];
const SCALE = VIEW[0] / 4.4;
const CENTER: Point = [VIEW[0] / 2, VIEW[1] / 2];
const PIECES = 32;

/** An arrow around the axle, wider for more torque. */
function drawTorque(canvas: Canvas, torque: number): void {
  const size = Math.min(Math.abs(torque), MAX_TORQUE);
  // NaN before the first step.
  if (!(size > 0)) return;
  const radius = SCALE * size / 4, sense = Math.sign(torque);
  const onArc = (part: number, distance: number): Point =>
    turned([distance * sense, 0], {
      at: CENTER,
      angle: sense * Math.PI * (1.5 * part - 0.5),
    });
  const arc = Array.from(
    { length: PIECES + 1 },
    (_, i) => onArc(i / PIECES, radius),
  );
  canvas.strokeLine(arc, { color: BLACK, width: 2 });
  const head = [
    onArc(1, radius * 0.75),
    onArc(1, radius * 1.25),
    onArc(1.2, radius),
  ];
  canvas.fillPolygon(head, BLACK);
}

/** Draws the rod, its axle, and an arrow for the last torque. */
export function renderPendulum(
  state: Float64Array,
  { width = 500, height = 500, torque }: RenderOptions & { torque: number },
): RgbImage {
  const canvas = new Canvas({ width, height, view: VIEW });
  const angle = state[0] + Math.PI / 2, half = 0.1 * SCALE;
  const rod = rectangle({ at: CENTER, x: [0, SCALE], y: [-half, half], angle });
  canvas.fillPolygon(rod, ROD);
  const end = turned([SCALE, 0], { at: CENTER, angle });
  for (const center of [CENTER, end]) {
    canvas.fillCircle({ center, radius: half }, ROD);
  }
  drawTorque(canvas, torque);
  canvas.fillCircle({ center: CENTER, radius: 0.05 * SCALE }, BLACK);
  return canvas.image();
}
