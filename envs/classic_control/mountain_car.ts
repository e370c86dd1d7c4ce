import type {
  BoxSpace,
  DiscreteSpace,
  RenderOptions,
  RgbImage,
} from "@bellman/types";
import {
  Canvas,
  type Color,
  type Point,
  rectangle,
  rotate,
} from "../render/canvas.ts";
import { box, discrete } from "../spaces/constructors.ts";
import type { Dynamics } from "./dynamics.ts";

const GRAVITY = 0.0025;
const FORCE = 0.001;

/** Leftmost position; a wall stops the car there. */
const MIN_POSITION = -1.2;
/** Rightmost position. */
const MAX_POSITION = 0.6;
/** Highest speed, either way. */
const MAX_SPEED = 0.07;
/** Position of the flag. */
const GOAL_POSITION = 0.5;

function step(state: Float64Array, at: number, action: number): number {
  let velocity = state[at + 1] +
    ((action - 1) * FORCE + Math.cos(3 * state[at]) * -GRAVITY);
  velocity = Math.min(Math.max(velocity, -MAX_SPEED), MAX_SPEED);
  const position = Math.min(
    Math.max(state[at] + velocity, MIN_POSITION),
    MAX_POSITION,
  );
  state[at] = position;
  state[at + 1] = position === MIN_POSITION && velocity < 0 ? 0 : velocity;
  return -1;
}

function hasEnded(state: Float64Array, at: number): boolean {
  return state[at] >= GOAL_POSITION && state[at + 1] >= 0;
}

const BLACK: Color = [0, 0, 0];
const WHEEL: Color = [128, 128, 128];
const FLAG: Color = [204, 204, 0];

const VIEW: Point = [600, 400];
const SCALE = VIEW[0] / (MAX_POSITION - MIN_POSITION);
const CLEARANCE = 10;
const PIECES = 100;

/** Places a position on the hill. */
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
    const center = rotate([side, 0], { at, angle });
    canvas.fillCircle({ center, radius: 8 }, WHEEL);
  }
}

/** Draws the hill, the car and the flag at the goal. */
function renderMountainCar(
  state: Float64Array,
  { width = 600, height = 400 }: RenderOptions,
  goal: number,
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

/**
 * A car in a valley, too weak to climb the hill on its right but by swinging:
 * it is driven left (0), not at all (1) or right (2), and each step's reward is
 * -1 until it reaches the flag at 0.5. State and observation: position from -1.2
 * to 0.6 and velocity up to 0.07; at first it rests between -0.6 and -0.4. The
 * dynamics are those of Gymnasium's MountainCar. Source: Moore 1990.
 */
export const MOUNTAIN_CAR: Dynamics<DiscreteSpace> = {
  name: "MountainCar",
  framesPerSecond: 30,
  stateSize: 2,
  observationSpace: box({
    low: [MIN_POSITION, -MAX_SPEED].map(Math.fround),
    high: [MAX_POSITION, MAX_SPEED].map(Math.fround),
  }),
  actionSpace: discrete(3),
  /** Puts the car at rest in the valley. */
  reset(state, at, random) {
    state[at] = -0.6 + (-0.4 - -0.6) * random.uniform();
    state[at + 1] = 0;
  },
  step,
  hasEnded,
  observe(state, at, values, to) {
    values[to] = state[at];
    values[to + 1] = state[at + 1];
  },
  render: (state, options) => renderMountainCar(state, options, GOAL_POSITION),
};

const { fround } = Math;

const POWER = 0.0015;
// The constants as numpy has them where it computes in float32.
const SINGLE_POWER = fround(POWER);
const SINGLE_MAX_SPEED = fround(MAX_SPEED);
const CONTINUOUS_GOAL = fround(0.45);

/**
 * Takes one step with the original's rounding: it keeps position and velocity as
 * float32 and computes in float32, but for a clipped force, which is a float64
 * number there.
 */
function continuousStep(
  state: Float64Array,
  at: number,
  action: number,
): number {
  const force = Math.min(Math.max(action, -1), 1);
  const pull = GRAVITY * Math.cos(fround(3 * state[at]));
  const thrust = force === action
    ? fround(force * SINGLE_POWER) - fround(pull)
    : force * POWER - pull;
  const speed = fround(state[at + 1] + fround(thrust));
  const velocity = Math.min(
    Math.max(speed, -SINGLE_MAX_SPEED),
    SINGLE_MAX_SPEED,
  );
  const position = Math.min(
    Math.max(fround(state[at] + velocity), MIN_POSITION),
    MAX_POSITION,
  );
  const isStopped = position === MIN_POSITION && velocity < 0;
  state[at] = fround(position);
  state[at + 1] = isStopped ? 0 : fround(velocity);
  return (hasReachedFlag(state, at) ? 100 : 0) - action * action * 0.1;
}

function hasReachedFlag(state: Float64Array, at: number): boolean {
  return state[at] >= CONTINUOUS_GOAL && state[at + 1] >= 0;
}

/**
 * The mountain car with an engine of any force from -1 to 1; a force beyond is
 * clipped. The reward is -0.1 times the square of the action as it was given,
 * and 100 at the flag at 0.45. State and observation: position and velocity; at
 * first it rests between -0.6 and -0.4. The dynamics are those of Gymnasium's
 * MountainCarContinuous, which rounds the state to float32 in each step.
 */
export const MOUNTAIN_CAR_CONTINUOUS: Dynamics<BoxSpace<"float32">> = {
  ...MOUNTAIN_CAR,
  name: "MountainCarContinuous",
  actionSpace: box({ low: -1, high: 1, shape: [1] }),
  step: continuousStep,
  hasEnded: hasReachedFlag,
  render: (state, options) => renderMountainCar(state, options, 0.45),
};
