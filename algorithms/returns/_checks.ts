import type { ReturnsOptions, Trajectory } from "./trajectory.ts";

/** Numbers of an `[env, step]` array; throws where there can be none. */
export function sizeOf(
  action: string,
  { numEnvs, numSteps }: ReturnsOptions,
): number {
  checkCount(action, "numEnvs", numEnvs);
  checkCount(action, "numSteps", numSteps);
  return numEnvs * numSteps;
}

function checkCount(action: string, name: string, count: number): void {
  if (Number.isSafeInteger(count) && count > 0) return;
  throw new RangeError(
    `Cannot ${action}: ${name} is ${count}, expected a whole number above 0`,
  );
}

/** Throws if an array has not as many numbers as it should have. */
export function checkLength(
  action: string,
  name: string,
  array: ArrayLike<number>,
  length: number,
): void {
  if (array?.length === length) return;
  if (array === undefined) {
    throw new TypeError(`Cannot ${action}: ${name} is missing`);
  }
  throw new RangeError(
    `Cannot ${action}: ${name} has ${array.length} numbers, expected ${length}`,
  );
}

/** Throws if a trajectory's arrays do not fit the options. */
export function checkTrajectory(
  action: string,
  trajectory: Trajectory,
  options: ReturnsOptions,
): void {
  const size = sizeOf(action, options);
  checkLength(action, "rewards", trajectory.rewards, size);
  checkLength(action, "terminated", trajectory.terminated, size);
  checkLength(action, "truncated", trajectory.truncated, size);
  checkLength(action, "lastValues", trajectory.lastValues, options.numEnvs);
  if (trajectory.finalValues !== undefined) {
    checkLength(action, "finalValues", trajectory.finalValues, size);
  }
}

/** Throws unless a number lies between 0 and 1. */
export function checkFraction(
  action: string,
  name: string,
  value: number,
): void {
  if (value >= 0 && value <= 1) return;
  throw new RangeError(
    `Cannot ${action}: ${name} is ${value}, expected 0 to 1`,
  );
}

/** Throws unless a number is at least 0; Infinity is. */
export function checkLimit(action: string, name: string, value: number): void {
  if (value >= 0) return;
  throw new RangeError(
    `Cannot ${action}: ${name} is ${value}, expected at least 0`,
  );
}
