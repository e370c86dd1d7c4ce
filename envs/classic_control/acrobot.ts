import type { DiscreteSpace } from "@bellman/types";
import { Canvas, type Color, type Point, rectangle } from "../render/canvas.ts";
import { box, discrete } from "../spaces/constructors.ts";
import type { Dynamics } from "./dynamics.ts";

// Both links: mass, length and moment of inertia 1, centre of mass in the
// middle.
const CENTER = 0.5;
const GRAVITY = 9.8;
const SECONDS = 0.2;
const MAX_SPIN_1 = 4 * Math.PI;
const MAX_SPIN_2 = 9 * Math.PI;

// The two accelerations of the latest evaluation: module variables, since
// returning a pair would allocate it.
let acceleration1 = 0;
let acceleration2 = 0;

/** Evaluates the equations of motion of Sutton and Barto. */
function accelerate(
  angle1: number,
  angle2: number,
  spin1: number,
  spin2: number,
  torque: number,
): void {
  const cos2 = Math.cos(angle2), sin2 = Math.sin(angle2);
  const d1 = CENTER * CENTER + (1 + CENTER * CENTER + 2 * CENTER * cos2) + 2;
  const d2 = CENTER * CENTER + CENTER * cos2 + 1;
  const phi2 = CENTER * GRAVITY * Math.cos(angle1 + angle2 - Math.PI / 2);
  const phi1 = -CENTER * (spin2 * spin2) * sin2 -
    2 * CENTER * spin2 * spin1 * sin2 +
    (CENTER + 1) * GRAVITY * Math.cos(angle1 - Math.PI / 2) + phi2;
  acceleration2 = (torque + d2 / d1 * phi1 -
    CENTER * (spin1 * spin1) * sin2 - phi2) /
    (CENTER * CENTER + 1 - d2 * d2 / d1);
  acceleration1 = -(d2 * acceleration2 + phi1) / d1;
}

function wrapped(angle: number): number {
  while (angle > Math.PI) angle -= 2 * Math.PI;
  while (angle < -Math.PI) angle += 2 * Math.PI;
  return angle;
}

function bounded(spin: number, limit: number): number {
  return Math.min(Math.max(spin, -limit), limit);
}

/** Takes one step of the classical fourth-order Runge-Kutta method. */
function step(state: Float64Array, at: number, action: number): number {
  const torque = action - 1, half = SECONDS / 2;
  const a = state[at], b = state[at + 1];
  const va1 = state[at + 2], vb1 = state[at + 3];
  accelerate(a, b, va1, vb1, torque);
  const wa1 = acceleration1, wb1 = acceleration2;
  const va2 = va1 + half * wa1, vb2 = vb1 + half * wb1;
  accelerate(a + half * va1, b + half * vb1, va2, vb2, torque);
  const wa2 = acceleration1, wb2 = acceleration2;
  const va3 = va1 + half * wa2, vb3 = vb1 + half * wb2;
  accelerate(a + half * va2, b + half * vb2, va3, vb3, torque);
  const wa3 = acceleration1, wb3 = acceleration2;
  const va4 = va1 + SECONDS * wa3, vb4 = vb1 + SECONDS * wb3;
  accelerate(a + SECONDS * va3, b + SECONDS * vb3, va4, vb4, torque);
  const wa4 = acceleration1, wb4 = acceleration2;
  const sixth = SECONDS / 6;
  state[at] = wrapped(a + sixth * (va1 + 2 * va2 + 2 * va3 + va4));
  state[at + 1] = wrapped(b + sixth * (vb1 + 2 * vb2 + 2 * vb3 + vb4));
  state[at + 2] = bounded(
    va1 + sixth * (wa1 + 2 * wa2 + 2 * wa3 + wa4),
    MAX_SPIN_1,
  );
  state[at + 3] = bounded(
    vb1 + sixth * (wb1 + 2 * wb2 + 2 * wb3 + wb4),
    MAX_SPIN_2,
  );
  return hasEnded(state, at) ? 0 : -1;
}

function hasEnded(state: Float64Array, at: number): boolean {
  return -Math.cos(state[at]) - Math.cos(state[at + 1] + state[at]) > 1.0;
}

const observe: Dynamics["observe"] = (state, at, values, to) => {
  values[to] = Math.cos(state[at]);
  values[to + 1] = Math.sin(state[at]);
  values[to + 2] = Math.cos(state[at + 1]);
  values[to + 3] = Math.sin(state[at + 1]);
  values[to + 4] = state[at + 2];
  values[to + 5] = state[at + 3];
};

const BLACK: Color = [0, 0, 0];
const LINK: Color = [0, 204, 204];
const JOINT: Color = [204, 204, 0];

const VIEW: Point = [500, 500];
const SCALE = VIEW[0] / 4.4;
const AXLE: Point = [VIEW[0] / 2, VIEW[1] / 2];

const HIGH = [1, 1, 1, 1, MAX_SPIN_1, MAX_SPIN_2].map(Math.fround);

/**
 * Two links that hang from an axle, with a motor at the joint between them:
 * torque -1 (0), none (1) or 1 (2). Each step's reward is -1 until the free end
 * swings a link's length above the axle, 0 then. State: angle of the first link
 * from hanging, of the second from the first, in radians, and their speeds, at
 * first each between -0.1 and 0.1. Observation: cosine and sine of both angles,
 * the speeds. The dynamics are those of Gymnasium's Acrobot. Source: Sutton and
 * Barto 2018.
 */
export const ACROBOT: Dynamics<DiscreteSpace> = {
  name: "Acrobot",
  framesPerSecond: 15,
  stateSize: 4,
  observationSpace: box({ low: HIGH.map((it) => -it), high: HIGH }),
  actionSpace: discrete(3),
  /** Rounds to float32, as the original draws such numbers. */
  reset(state, at, random) {
    for (let i = 0; i < 4; i++) {
      state[at + i] = Math.fround(-0.1 + (0.1 - -0.1) * random.uniform());
    }
  },
  step,
  hasEnded,
  observe,
  /** Draws both links and the line that the free end is to reach. */
  render(state, { width = 500, height = 500 }) {
    const canvas = new Canvas({ width, height, view: VIEW });
    const line = AXLE[1] + SCALE;
    canvas.strokeLine([[0, line], [VIEW[0], line]], { color: BLACK });
    const elbow: Point = [
      AXLE[0] + SCALE * Math.sin(state[0]),
      AXLE[1] - SCALE * Math.cos(state[0]),
    ];
    const links = [
      { at: AXLE, angle: state[0] - Math.PI / 2 },
      { at: elbow, angle: state[0] + state[1] - Math.PI / 2 },
    ];
    for (const { at, angle } of links) {
      const half = 0.1 * SCALE;
      const link = rectangle({ at, x: [0, SCALE], y: [-half, half], angle });
      canvas.fillPolygon(link, LINK);
      canvas.fillCircle({ center: at, radius: half }, JOINT);
    }
    return canvas.image();
  },
};
