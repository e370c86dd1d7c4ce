import { box } from "../spaces/constructors.ts";
import {
  type BatchedOptions,
  type Dynamics,
  DynamicsEnv,
  DynamicsVecEnv,
} from "./dynamics.ts";
import {
  MAX_POSITION,
  MAX_SPEED,
  MIN_POSITION,
  MOUNTAIN_CAR,
  renderMountainCar,
} from "./mountain_car.ts";

const { fround } = Math;

const POWER = 0.0015;
// The constants as numpy has them where it computes in float32.
const SINGLE_POWER = fround(POWER);
const SINGLE_MAX_SPEED = fround(MAX_SPEED);
const GRAVITY = 0.0025;
const GOAL_POSITION = fround(0.45);

/**
 * Takes one step with the original's rounding: it keeps position and velocity as
 * float32 and computes in float32, but for a clipped force, which is a float64
 * number there.
 */
function step(state: Float64Array, at: number, action: number): number {
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
  return (hasEnded(state, at) ? 100 : 0) - action * action * 0.1;
}

function hasEnded(state: Float64Array, at: number): boolean {
  return state[at] >= GOAL_POSITION && state[at + 1] >= 0;
}

/**
 * The mountain car with an engine of any force from -1 to 1; forces beyond are
 * clipped, though paid for in full. State: position, velocity.
 */
export const MOUNTAIN_CAR_CONTINUOUS: Dynamics = {
  ...MOUNTAIN_CAR,
  name: "MountainCarContinuous",
  actionSpace: box({ low: -1, high: 1, shape: [1] }),
  step,
  hasEnded,
  stepAll(state, actions, { rewards, terminated }) {
    for (let i = 0; i < rewards.length; i++) {
      rewards[i] = step(state, i * 2, actions[i]);
      terminated[i] = hasEnded(state, i * 2) ? 1 : 0;
    }
  },
  render: (state, options) => renderMountainCar(state, options, 0.45),
};

/**
 * The mountain car with an engine of any force from -1 to 1; a force beyond is
 * clipped. The reward is -0.1 times the square of the action as it was given,
 * and 100 at the flag at 0.45. State and observation: position and velocity; at
 * first it rests between -0.6 and -0.4. The dynamics are those of Gymnasium's
 * MountainCarContinuous, which rounds the state to float32 in each step.
 *
 * @example
 * ```ts
 * import { MountainCarContinuousEnv } from "@bellman/envs";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const env = new MountainCarContinuousEnv();
 * env.setState([-0.5, 0]);
 * assertAlmostEquals(env.step(Float32Array.of(2)).reward, -0.4);
 * ```
 */
export class MountainCarContinuousEnv extends DynamicsEnv<Float32Array> {
  /** Makes an environment that has not been reset. */
  constructor() {
    super(MOUNTAIN_CAR_CONTINUOUS);
  }
}

/**
 * Several {@linkcode MountainCarContinuousEnv} that step together; same numbers, bit for bit.
 *
 * @example
 * ```ts
 * import { MountainCarContinuousVecEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new MountainCarContinuousVecEnv({ numEnvs: 2, maxEpisodeSteps: 200 });
 * env.reset({ seed: 0 });
 * assertEquals([...env.step(Float32Array.of(0, 0)).rewards], [0, 0]);
 * ```
 */
export class MountainCarContinuousVecEnv extends DynamicsVecEnv {
  /**
   * Makes environments that have not been reset.
   *
   * @param options Number of environments and longest episode.
   * @throws {RangeError} If a number is not a whole one of at least 1.
   */
  constructor(options: BatchedOptions) {
    super(MOUNTAIN_CAR_CONTINUOUS, options);
  }
}
