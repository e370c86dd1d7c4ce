import type { RandomSource } from "@bellman/types";
import { box, discrete } from "../space_constructors.ts";
import type { Dynamics, DynamicsRows, ObservationRow } from "./dynamics.ts";

const GRAVITY = 9.8;
const POLE_MASS = 0.1;
const TOTAL_MASS = POLE_MASS + 1.0;
/** Half of the pole's length. */
const LENGTH = 0.5;
const POLE_MASS_LENGTH = POLE_MASS * LENGTH;
const FORCE = 10.0;
const SECONDS = 0.02;

/** Cart positions beyond which an episode ends. */
export const POSITION_LIMIT = 2.4;
/** Pole angles beyond which an episode ends: 12 degrees. */
export const ANGLE_LIMIT = 12 * 2 * Math.PI / 360;

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

function reset(state: Float64Array, at: number, random: RandomSource): void {
  for (let i = 0; i < 4; i++) {
    state[at + i] = -0.05 + (0.05 - -0.05) * random.uniform();
  }
}

function observe(
  state: Float64Array,
  at: number,
  { values, at: to }: ObservationRow,
): void {
  for (let i = 0; i < 4; i++) values[to + i] = state[at + i];
}

function stepAll(
  state: Float64Array,
  { actions, rewards, terminated }: DynamicsRows,
): void {
  for (let i = 0; i < rewards.length; i++) {
    rewards[i] = step(state, i * 4, actions[i]);
    terminated[i] = hasEnded(state, i * 4) ? 1 : 0;
  }
}

function observeAll(state: Float64Array, observations: Float32Array): void {
  for (let i = 0; i < observations.length; i++) observations[i] = state[i];
}

/**
 * A pole on a cart that is pushed left (0) or right (1). State: position,
 * velocity, angle, angular velocity. Source: Barto, Sutton and Anderson 1983,
 * with the equations of Florian 2007 and an Euler step of 0.02 s.
 */
export const CART_POLE: Dynamics = {
  name: "CartPole",
  stateSize: 4,
  observationSpace: box({
    low: [-POSITION_LIMIT * 2, -Infinity, -ANGLE_LIMIT * 2, -Infinity]
      .map(Math.fround),
    high: [POSITION_LIMIT * 2, Infinity, ANGLE_LIMIT * 2, Infinity]
      .map(Math.fround),
  }),
  actionSpace: discrete(2),
  reset,
  step,
  hasEnded,
  observe,
  stepAll,
  observeAll,
};
