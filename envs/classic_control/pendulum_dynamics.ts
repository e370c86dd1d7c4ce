import type { RandomSource } from "@bellman/types";
import { box } from "../space_constructors.ts";
import type { Dynamics, DynamicsRows, ObservationRow } from "./dynamics.ts";

const GRAVITY = 10.0;
const SECONDS = 0.05;
const MAX_SPEED = 8;
const TURN = 2 * Math.PI;
const EFFORT = Math.fround(0.001);

/** The greatest torque, either way. */
export const MAX_TORQUE = 2.0;

/** The angle from upright, from -pi up to and without pi. */
function normalized(angle: number): number {
  const rest = (angle + Math.PI) % TURN;
  return (rest < 0 ? rest + TURN : rest) - Math.PI;
}

function step(state: Float64Array, at: number, action: number): number {
  const angle = state[at], speed = state[at + 1];
  const torque = Math.min(Math.max(action, -MAX_TORQUE), MAX_TORQUE);
  const off = normalized(angle);
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

function reset(state: Float64Array, at: number, random: RandomSource): void {
  state[at] = -Math.PI + TURN * random.uniform();
  state[at + 1] = -1 + 2 * random.uniform();
}

function observe(
  state: Float64Array,
  at: number,
  { values, at: to }: ObservationRow,
): void {
  values[to] = Math.cos(state[at]);
  values[to + 1] = Math.sin(state[at]);
  values[to + 2] = state[at + 1];
}

function stepAll(
  state: Float64Array,
  { actions, rewards, terminated }: DynamicsRows,
): void {
  for (let i = 0; i < rewards.length; i++) {
    rewards[i] = step(state, i * 2, actions[i]);
    terminated[i] = 0;
  }
}

function observeAll(state: Float64Array, observations: Float32Array): void {
  for (let i = 0, to = 0; i < state.length; i += 2, to += 3) {
    observations[to] = Math.cos(state[i]);
    observations[to + 1] = Math.sin(state[i]);
    observations[to + 2] = state[i + 1];
  }
}

/**
 * A rod on an axle that is to be swung upright by torques of up to 2; more is
 * clipped. State: angle from upright, angular speed.
 */
export const PENDULUM: Dynamics = {
  name: "Pendulum",
  stateSize: 2,
  observationSpace: box({ low: [-1, -1, -MAX_SPEED], high: [1, 1, MAX_SPEED] }),
  actionSpace: box({ low: -MAX_TORQUE, high: MAX_TORQUE, shape: [1] }),
  reset,
  step,
  hasEnded: () => false,
  observe,
  stepAll,
  observeAll,
};
