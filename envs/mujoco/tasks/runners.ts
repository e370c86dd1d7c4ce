/** HalfCheetah, Swimmer, Hopper, Walker2d and Ant: bodies that are rewarded for speed. */
import { areFinite } from "../../spaces/arrays.ts";
import type { MujocoState } from "../physics/_physics.ts";
import { actionCost, sumOfSquares } from "./_numpy_sums.ts";
import type { MujocoOptions } from "./mujoco_options.ts";
import type {
  MujocoContext,
  MujocoModel,
  MujocoStep,
  MujocoTask,
  MujocoTaskValues,
  OwnValues,
} from "./mujoco_task.ts";

/** Options of HalfCheetah. */
export interface HalfCheetahOptions extends MujocoOptions {
  /**
   * Weight of the speed along `x`, in metres a second.
   *
   * @default 1
   */
  forwardRewardWeight?: number;
  /**
   * Weight of the control cost, the sum of squared actions.
   *
   * @default 0.1
   */
  ctrlCostWeight?: number;
  /**
   * Largest distance of initial positions and velocities from the model's; of
   * HalfCheetah and Ant, whose velocities are normal, their standard deviation.
   *
   * @default 0.1
   */
  resetNoiseScale?: number;
  /**
   * True where observations leave out the positions along `x` and, of bodies that
   * move in a plane, `y`.
   *
   * @default true
   */
  excludeCurrentPositionsFromObservation?: boolean;
}

/** Options of Swimmer, where `ctrlCostWeight` is 0.0001 by default. */
export type SwimmerOptions = HalfCheetahOptions;

/** Lower and upper end. */
export type Range = readonly [low: number, high: number];

/** Options that all runners have, and those of health and contacts that some have. */
type RunnerValues =
  & MujocoTaskValues
  & OwnValues<HalfCheetahOptions>
  & Pick<AntOptions, "healthyReward" | "terminateWhenUnhealthy">;

/** Parts of a runner's task that differ. */
interface Runner<O extends MujocoTaskValues>
  extends Omit<MujocoTask<O>, "reward" | "isTerminated"> {
  readonly options: O;
  /** Number of axes along which the body moves freely. */
  readonly axes: 1 | 2;
  /** Judges the health of a body that has some. */
  isHealthy?(state: MujocoState, context: MujocoContext<O>): boolean;
  /** Returns the control cost, by default that of the actions. */
  controlCost?(state: MujocoState, step: MujocoStep<O>): number;
  /** Returns the cost of contacts, where they cost something. */
  contactCost?(state: MujocoState, context: MujocoContext<O>): number;
}

/**
 * Makes the task of a body that is rewarded for its speed along `x` and for its health,
 * less the costs of actions and of contacts.
 */
export function runner<O extends RunnerValues>(
  { axes, isHealthy, controlCost, contactCost, ...task }: Runner<O>,
): MujocoTask<O> {
  const partsOf = (state: MujocoState, step: MujocoStep<O>) => {
    const { options, velocity, action } = step;
    const survival = options.healthyReward ?? 0;
    return {
      forward: options.forwardRewardWeight * velocity[0],
      survival: isHealthy?.(state, step) ?? true ? survival : 0,
      control: controlCost?.(state, step) ??
        actionCost(options.ctrlCostWeight, action),
      contact: contactCost?.(state, step) ?? 0,
    };
  };
  return {
    place: ({ qpos }) => [qpos[0], axes === 2 ? qpos[1] : 0],
    observe: (state, { options }) => [
      seenPositions(state, options, axes),
      state.qvel,
    ],
    isTerminated: (state, step) =>
      !!step.options.terminateWhenUnhealthy && !isHealthy?.(state, step),
    ...task,
    reward(state, step) {
      const { forward, survival, control, contact } = partsOf(state, step);
      return forward + survival - (control + contact);
    },
    info(state, step) {
      const { qpos: [x, y] } = state, { velocity: [vx, vy] } = step;
      const { forward, survival, control, contact } = partsOf(state, step);
      return {
        x_position: x,
        x_velocity: vx,
        ...(axes === 2 && {
          y_position: y,
          y_velocity: vy,
          distance_from_origin: Math.hypot(x, y),
        }),
        reward_forward: forward,
        reward_ctrl: -control,
        ...(isHealthy && { reward_survive: survival }),
        ...(contactCost && { reward_contact: -contact }),
        ...task.info?.(state, step),
      };
    },
  };
}

/** Returns the positions that are observed. */
export function seenPositions(
  { qpos }: MujocoState,
  options: Pick<RunnerValues, "excludeCurrentPositionsFromObservation">,
  axes: number,
): Float64Array {
  const { excludeCurrentPositionsFromObservation: areHidden } = options;
  return areHidden ? qpos.subarray(axes) : qpos;
}

/** A planar runner of two legs that is to run forward. */
export const HALF_CHEETAH: MujocoTask = runner<OwnValues<HalfCheetahOptions>>({
  name: "HalfCheetah",
  xml: "half_cheetah.xml",
  frameSkip: 5,
  camera: { distance: 4 },
  resetNoiseScale: 0.1,
  velocityNoise: "normal",
  options: {
    forwardRewardWeight: 1,
    ctrlCostWeight: 0.1,
    excludeCurrentPositionsFromObservation: true,
  },
  axes: 1,
});

/** A chain of three links in a fluid that is to swim forward. */
export const SWIMMER: MujocoTask = runner<OwnValues<SwimmerOptions>>({
  name: "Swimmer",
  xml: "swimmer.xml",
  frameSkip: 4,
  camera: { distance: 6, elevation: -45 },
  resetNoiseScale: 0.1,
  options: {
    forwardRewardWeight: 1,
    ctrlCostWeight: 0.0001,
    excludeCurrentPositionsFromObservation: true,
  },
  axes: 2,
});

/** Copies numbers, each clipped to a range. */
function clipped(values: Float64Array, [low, high]: Range): Float64Array {
  return values.map((it) => Math.min(Math.max(it, low), high));
}

function areWithin(values: Float64Array, [low, high]: Range): boolean {
  return values.every((it) => low < it && it < high);
}

/**
 * Options that Hopper and Walker2d share; `ctrlCostWeight` is 0.001 and
 * `resetNoiseScale` 0.005 by default.
 */
export interface WalkerOptions extends HalfCheetahOptions {
  /**
   * Reward of each step that ends healthy.
   *
   * @default 1
   */
  healthyReward?: number;
  /**
   * True where an episode ends when the body is unhealthy.
   *
   * @default true
   */
  terminateWhenUnhealthy?: boolean;
}

/** Rules and defaults that Hopper and Walker2d have. */
const WALKER = {
  frameSkip: 4,
  resetNoiseScale: 0.005,
  options: {
    forwardRewardWeight: 1,
    ctrlCostWeight: 0.001,
    healthyReward: 1,
    terminateWhenUnhealthy: true,
    excludeCurrentPositionsFromObservation: true,
  },
  axes: 1,
  observe: (
    state: MujocoState,
    { options }: MujocoContext<OwnValues<Walker2dOptions>>,
  ) => [seenPositions(state, options, 1), clipped(state.qvel, [-10, 10])],
  isHealthy: (
    { qpos, qvel }: MujocoState,
    { options }: MujocoContext<
      OwnValues<Walker2dOptions> & Pick<HopperOptions, "healthyStateRange">
    >,
  ) => {
    const { healthyZRange, healthyAngleRange, healthyStateRange } = options;
    return areWithin(qpos.subarray(1, 2), healthyZRange) &&
      areWithin(qpos.subarray(2, 3), healthyAngleRange) &&
      (healthyStateRange === undefined ||
        areWithin(qpos.subarray(2), healthyStateRange) &&
          areWithin(qvel, healthyStateRange));
  },
  info: (
    { qpos }: MujocoState,
    { model }: { readonly model: MujocoModel },
  ) => ({ z_distance_from_origin: qpos[1] - model.qpos0[1] }),
} as const;

/**
 * Options of Hopper; `healthyZRange` is [0.7, Infinity] and `healthyAngleRange`
 * [-0.2, 0.2] by default.
 */
export interface HopperOptions extends Walker2dOptions {
  /**
   * Range of all positions and velocities but `x` and `z` at which the body is
   * healthy.
   *
   * @default [-100, 100]
   */
  healthyStateRange?: readonly [low: number, high: number];
}

/** A planar leg on one foot that is to hop forward. */
export const HOPPER: MujocoTask = runner<OwnValues<HopperOptions>>({
  ...WALKER,
  name: "Hopper",
  xml: "hopper.xml",
  camera: { trackBodyId: 2, distance: 3, lookAt: [0, 0, 1.15] },
  options: {
    ...WALKER.options,
    healthyStateRange: [-100, 100],
    healthyZRange: [0.7, Infinity],
    healthyAngleRange: [-0.2, 0.2],
  },
});

/** Options of Walker2d. */
export interface Walker2dOptions extends WalkerOptions {
  /**
   * Heights of the body in metres at which it is healthy.
   *
   * @default [0.8, 2]
   */
  healthyZRange?: readonly [low: number, high: number];
  /**
   * Angles of the body in radians at which it is healthy.
   *
   * @default [-1, 1]
   */
  healthyAngleRange?: readonly [low: number, high: number];
}

/** A planar body on two legs that is to walk forward. */
export const WALKER_2D: MujocoTask = runner<OwnValues<Walker2dOptions>>({
  ...WALKER,
  name: "Walker2d",
  xml: "walker2d_v5.xml",
  camera: { trackBodyId: 2, distance: 4, lookAt: [0, 0, 1.15] },
  options: {
    ...WALKER.options,
    healthyZRange: [0.8, 2],
    healthyAngleRange: [-1, 1],
  },
});

/** Options of Ant, where `ctrlCostWeight` is 0.5 by default. */
export interface AntOptions extends WalkerOptions {
  /**
   * Weight of the contact cost, the sum of squared contact forces.
   *
   * @default 0.0005
   */
  contactCostWeight?: number;
  /**
   * Body whose speed is rewarded, by its number or name.
   *
   * @default 1
   */
  mainBody?: number | string;
  /**
   * Heights of the body in metres at which it is healthy.
   *
   * @default [0.2, 1]
   */
  healthyZRange?: readonly [low: number, high: number];
  /**
   * Range that contact forces are clipped to.
   *
   * @default [-1, 1]
   */
  contactForceRange?: readonly [low: number, high: number];
  /**
   * True where observations hold the forces of contacts.
   *
   * @default true
   */
  includeCfrcExtInObservation?: boolean;
}

/** Contact forces of the world, which is not observed. */
const WORLD_FORCES = 6;

/** Finds the body whose speed is measured. */
function bodyOf(model: MujocoModel, body: number | string): number {
  const { nbody } = model.sizes;
  try {
    const id = typeof body === "string" ? model.idOf("body", body) : body;
    if (id >= 0 && id < nbody) return id;
  } catch {
    // Reported below.
  }
  throw new RangeError(
    `Cannot make Ant with mainBody ${
      JSON.stringify(body)
    }: expected a body of the model, by its name or a number from 0 to ${
      nbody - 1
    }`,
  );
}

/** A body on four legs that is to run forward. */
export const ANT: MujocoTask = runner<OwnValues<AntOptions>>({
  name: "Ant",
  xml: "ant.xml",
  frameSkip: 5,
  camera: { distance: 4 },
  resetNoiseScale: 0.1,
  velocityNoise: "normal",
  options: {
    forwardRewardWeight: 1,
    ctrlCostWeight: 0.5,
    contactCostWeight: 0.0005,
    healthyReward: 1,
    mainBody: 1,
    terminateWhenUnhealthy: true,
    healthyZRange: [0.2, 1],
    contactForceRange: [-1, 1],
    excludeCurrentPositionsFromObservation: true,
    includeCfrcExtInObservation: true,
  },
  axes: 2,
  usesContactForces: (options) =>
    options.contactCostWeight !== 0 || options.includeCfrcExtInObservation,
  place({ xpos }, { model, options }) {
    const at = 3 * bodyOf(model, options.mainBody);
    return [xpos[at], xpos[at + 1]];
  },
  observe(state, { options }) {
    const seen = [seenPositions(state, options, 2), state.qvel];
    if (!options.includeCfrcExtInObservation) return seen;
    const forces = state.cfrcExt.subarray(WORLD_FORCES);
    return [...seen, clipped(forces, options.contactForceRange)];
  },
  isHealthy({ qpos, qvel }, { options: { healthyZRange: [low, high] } }) {
    return areFinite(qpos) && areFinite(qvel) && low <= qpos[2] &&
      qpos[2] <= high;
  },
  contactCost: ({ cfrcExt }, { options }) =>
    options.contactCostWeight *
    sumOfSquares(cfrcExt, ...options.contactForceRange),
});
