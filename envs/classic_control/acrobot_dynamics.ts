import type { RandomSource } from "@bellman/types";
import { box, discrete } from "../space_constructors.ts";
import type { Dynamics, DynamicsRows, ObservationRow } from "./dynamics.ts";

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

/** The equations of motion as in the book of Sutton and Barto. */
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

/** One step of the classical fourth-order Runge-Kutta method. */
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

/** The original draws float32 numbers, hence the rounding. */
function reset(state: Float64Array, at: number, random: RandomSource): void {
  for (let i = 0; i < 4; i++) {
    state[at + i] = Math.fround(-0.1 + (0.1 - -0.1) * random.uniform());
  }
}

function observeAt(
  state: Float64Array,
  at: number,
  values: Float32Array,
  to: number,
): void {
  values[to] = Math.cos(state[at]);
  values[to + 1] = Math.sin(state[at]);
  values[to + 2] = Math.cos(state[at + 1]);
  values[to + 3] = Math.sin(state[at + 1]);
  values[to + 4] = state[at + 2];
  values[to + 5] = state[at + 3];
}

function observe(
  state: Float64Array,
  at: number,
  { values, at: to }: ObservationRow,
): void {
  observeAt(state, at, values, to);
}

function stepAll(
  state: Float64Array,
  { actions, rewards, terminated }: DynamicsRows,
): void {
  for (let i = 0; i < rewards.length; i++) {
    rewards[i] = step(state, i * 4, actions[i]);
    terminated[i] = rewards[i] === 0 ? 1 : 0;
  }
}

function observeAll(state: Float64Array, observations: Float32Array): void {
  for (let i = 0, to = 0; i < state.length; i += 4, to += 6) {
    observeAt(state, i, observations, to);
  }
}

const HIGH = [1, 1, 1, 1, MAX_SPIN_1, MAX_SPIN_2].map(Math.fround);

/**
 * Two links that hang from an axle, with a motor between them of torque -1 (0),
 * none (1) or 1 (2). State: angle of the first link from hanging, of the second
 * from the first, and their speeds. Source: Sutton and Barto 2018.
 */
export const ACROBOT: Dynamics = {
  name: "Acrobot",
  stateSize: 4,
  observationSpace: box({ low: HIGH.map((it) => -it), high: HIGH }),
  actionSpace: discrete(3),
  reset,
  step,
  hasEnded,
  observe,
  stepAll,
  observeAll,
};
