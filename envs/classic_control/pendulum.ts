import type { BoxSpace } from "@bellman/types";
import {
  Canvas,
  type Color,
  type Point,
  rectangle,
  rotate,
} from "../render/canvas.ts";
import { box } from "../spaces/constructors.ts";
import type { Dynamics } from "./dynamics.ts";

const GRAVITY = 10.0;
const SECONDS = 0.05;
const MAX_SPEED = 8;
const TURN = 2 * Math.PI;
const EFFORT = Math.fround(0.001);

/** Greatest torque, either way. */
const MAX_TORQUE = 2.0;

/** Turns an angle from upright into one from -pi up to and without pi. */
function normalize(angle: number): number {
  const rest = (angle + Math.PI) % TURN;
  return (rest < 0 ? rest + TURN : rest) - Math.PI;
}

function step(state: Float64Array, at: number, action: number): number {
  const angle = state[at], speed = state[at + 1];
  const torque = Math.min(Math.max(action, -MAX_TORQUE), MAX_TORQUE);
  const off = normalize(angle);
  // The torque's terms are float32 in the original, as the action is.
  const effort = Math.fround(EFFORT * Math.fround(torque * torque));
  const cost = off * off + 0.1 * (speed * speed) + effort;
  const pull = 3 * GRAVITY / 2 * Math.sin(angle);
  const faster = speed + (pull + Math.fround(3.0 * torque)) * SECONDS;
  const clipped = Math.min(Math.max(faster, -MAX_SPEED), MAX_SPEED);
  state[at] = angle + clipped * SECONDS;
  state[at + 1] = clipped;
  return -cost;
}

const observe: Dynamics["observe"] = (state, at, values, to) => {
  values[to] = Math.cos(state[at]);
  values[to + 1] = Math.sin(state[at]);
  values[to + 2] = state[at + 1];
};

const BLACK: Color = [0, 0, 0];
const ROD: Color = [204, 77, 77];

const VIEW: Point = [500, 500];
const SCALE = VIEW[0] / 4.4;
const CENTER: Point = [VIEW[0] / 2, VIEW[1] / 2];
const PIECES = 32;

/** Draws an arrow around the axle, wider for more torque. */
function drawTorque(canvas: Canvas, torque: number): void {
  const size = Math.min(Math.abs(torque), MAX_TORQUE);
  // NaN before the first step.
  if (!(size > 0)) return;
  const radius = SCALE * size / 4, sense = Math.sign(torque);
  const onArc = (part: number, distance: number): Point =>
    rotate([distance * sense, 0], {
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

/**
 * A rod on an axle that is to be swung upright and held there by torques from -2
 * to 2; more is clipped. The reward is minus the cost: the squared angle from
 * upright, 0.1 times the squared speed, 0.001 times the squared torque. No
 * episode ends. State: angle from upright in radians, at first anywhere, and
 * speed up to 8, at first between -1 and 1. Observation: cosine, sine, speed.
 * The dynamics are those of Gymnasium's Pendulum.
 */
export const PENDULUM: Dynamics<BoxSpace<"float32">> = {
  name: "Pendulum",
  framesPerSecond: 30,
  stateSize: 2,
  observationSpace: box({ low: [-1, -1, -MAX_SPEED], high: [1, 1, MAX_SPEED] }),
  actionSpace: box({ low: -MAX_TORQUE, high: MAX_TORQUE, shape: [1] }),
  reset(state, at, random) {
    state[at] = -Math.PI + TURN * random.uniform();
    state[at + 1] = -1 + 2 * random.uniform();
  },
  step,
  hasEnded: () => false,
  observe,
  /** Draws the rod, its axle, and an arrow for the last torque. */
  render(state, { width = 500, height = 500 }, torque) {
    const canvas = new Canvas({ width, height, view: VIEW });
    const angle = state[0] + Math.PI / 2, half = 0.1 * SCALE;
    const rod = rectangle({
      at: CENTER,
      x: [0, SCALE],
      y: [-half, half],
      angle,
    });
    canvas.fillPolygon(rod, ROD);
    const end = rotate([SCALE, 0], { at: CENTER, angle });
    for (const center of [CENTER, end]) {
      canvas.fillCircle({ center, radius: half }, ROD);
    }
    drawTorque(canvas, torque);
    canvas.fillCircle({ center: CENTER, radius: 0.05 * SCALE }, BLACK);
    return canvas.image();
  },
};
