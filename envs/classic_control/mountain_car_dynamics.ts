import type { RandomSource } from "@bellman/types";
import { box, discrete } from "../space_constructors.ts";
import type { Dynamics, DynamicsRows, ObservationRow } from "./dynamics.ts";

const GRAVITY = 0.0025;
const FORCE = 0.001;

/** The farthest left that the car gets; a wall stops it. */
export const MIN_POSITION = -1.2;
/** The farthest right that the car gets. */
export const MAX_POSITION = 0.6;
/** The fastest that the car gets, either way. */
export const MAX_SPEED = 0.07;
/** Where the flag stands. */
export const GOAL_POSITION = 0.5;

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

/** At rest in the valley. */
export function resetCar(
  state: Float64Array,
  at: number,
  random: RandomSource,
): void {
  state[at] = -0.6 + (-0.4 - -0.6) * random.uniform();
  state[at + 1] = 0;
}

/** The state as it is. */
export function observeCar(
  state: Float64Array,
  at: number,
  { values, at: to }: ObservationRow,
): void {
  values[to] = state[at];
  values[to + 1] = state[at + 1];
}

function stepAll(
  state: Float64Array,
  { actions, rewards, terminated }: DynamicsRows,
): void {
  for (let i = 0; i < rewards.length; i++) {
    rewards[i] = step(state, i * 2, actions[i]);
    terminated[i] = hasEnded(state, i * 2) ? 1 : 0;
  }
}

/** The states as they are. */
export function observeAllCars(
  state: Float64Array,
  observations: Float32Array,
): void {
  for (let i = 0; i < observations.length; i++) observations[i] = state[i];
}

/** What the car can see: position and velocity. */
export const CAR_OBSERVATIONS = box({
  low: [MIN_POSITION, -MAX_SPEED].map(Math.fround),
  high: [MAX_POSITION, MAX_SPEED].map(Math.fround),
});

/**
 * A car too weak for the hill that it is to climb, driven left (0), not at all
 * (1) or right (2). State: position, velocity. Source: Moore 1990.
 */
export const MOUNTAIN_CAR: Dynamics = {
  name: "MountainCar",
  stateSize: 2,
  observationSpace: CAR_OBSERVATIONS,
  actionSpace: discrete(3),
  reset: resetCar,
  step,
  hasEnded,
  observe: observeCar,
  stepAll,
  observeAll: observeAllCars,
};
