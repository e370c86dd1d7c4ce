import type { DiscreteSpace } from "@bellman/types";
import { Canvas, type Color, type Point, rectangle } from "../render/canvas.ts";
import { box, discrete } from "../spaces/constructors.ts";
import type { Dynamics } from "./dynamics.ts";

const GRAVITY = 9.8;
const POLE_MASS = 0.1;
const TOTAL_MASS = POLE_MASS + 1.0;
/** Half of the pole's length. */
const LENGTH = 0.5;
const POLE_MASS_LENGTH = POLE_MASS * LENGTH;
const FORCE = 10.0;
const SECONDS = 0.02;

/** Cart positions beyond which an episode ends. */
const POSITION_LIMIT = 2.4;
/** Pole angles beyond which an episode ends: 12 degrees. */
const ANGLE_LIMIT = 12 * 2 * Math.PI / 360;

function step(state: Float64Array, at: number, action: number): number {
  const velocity = state[at + 1];
  const angle = state[at + 2], spin = state[at + 3];
  const cos = Math.cos(angle), sin = Math.sin(angle);
  const force = action === 1 ? FORCE : -FORCE;
  const push = (force + POLE_MASS_LENGTH * (spin * spin) * sin) / TOTAL_MASS;
  const angularAcceleration = (GRAVITY * sin - cos * push) /
    (LENGTH * (4.0 / 3.0 - POLE_MASS * (cos * cos) / TOTAL_MASS));
  const acceleration = push -
    POLE_MASS_LENGTH * angularAcceleration * cos / TOTAL_MASS;
  state[at] += SECONDS * velocity;
  state[at + 1] = velocity + SECONDS * acceleration;
  state[at + 2] = angle + SECONDS * spin;
  state[at + 3] = spin + SECONDS * angularAcceleration;
  return 1;
}

function hasEnded(state: Float64Array, at: number): boolean {
  const position = state[at], angle = state[at + 2];
  return position < -POSITION_LIMIT || position > POSITION_LIMIT ||
    angle < -ANGLE_LIMIT || angle > ANGLE_LIMIT;
}

const BLACK: Color = [0, 0, 0];
const POLE: Color = [202, 152, 101];
const AXLE: Color = [129, 132, 203];

const VIEW: Point = [600, 400];
const SCALE = VIEW[0] / (POSITION_LIMIT * 2);
const TRACK = 100;

/**
 * A pole on a cart that is to be kept upright by pushing the cart left (0) or
 * right (1); the reward is 1 for each step. An episode ends when the pole leans
 * by more than 12 degrees or the cart is more than 2.4 off the middle. State and
 * observation: position, velocity, angle (radians), angular velocity; at first
 * each between -0.05 and 0.05. The dynamics are those of Gymnasium's CartPole.
 * Source: Barto, Sutton and Anderson 1983, with the equations of Florian 2007 and
 * an Euler step of 0.02 s.
 */
export const CART_POLE: Dynamics<DiscreteSpace> = {
  name: "CartPole",
  framesPerSecond: 50,
  stateSize: 4,
  observationSpace: box({
    low: [-POSITION_LIMIT * 2, -Infinity, -ANGLE_LIMIT * 2, -Infinity]
      .map(Math.fround),
    high: [POSITION_LIMIT * 2, Infinity, ANGLE_LIMIT * 2, Infinity]
      .map(Math.fround),
  }),
  actionSpace: discrete(2),
  reset(state, at, random) {
    for (let i = 0; i < 4; i++) {
      state[at + i] = -0.05 + (0.05 - -0.05) * random.uniform();
    }
  },
  step,
  hasEnded,
  observe(state, at, values, to) {
    for (let i = 0; i < 4; i++) values[to + i] = state[at + i];
  },
  /** Draws a cart on its track with the pole. */
  render(state, { width = 600, height = 400 }) {
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
  },
};

/**
 * The pole on a cart with nothing seen but the cart's position and the pole's
 * angle: the velocities must be remembered.
 */
export const POSITION_ONLY_CART_POLE: Dynamics<DiscreteSpace> = {
  ...CART_POLE,
  name: "PositionOnlyCartPole",
  observationSpace: box({
    low: [-POSITION_LIMIT * 2, -ANGLE_LIMIT * 2].map(Math.fround),
    high: [POSITION_LIMIT * 2, ANGLE_LIMIT * 2].map(Math.fround),
  }),
  observe(state, at, values, to) {
    values[to] = state[at];
    values[to + 1] = state[at + 2];
  },
};
