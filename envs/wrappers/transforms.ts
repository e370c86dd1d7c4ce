import type {
  Batch,
  BoxArray,
  BoxSpace,
  Env,
  GoalFunctions,
  ObservationScaling,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { ended, type MutableStep, relay } from "../_steps.ts";
import { allocateArray, boundAt, elementCount } from "../spaces/arrays.ts";
import {
  allocateBatch,
  cloneBatch,
  copyBatch,
  readRow,
  readRowInto,
  writeRowAt,
} from "../spaces/batch.ts";
import { box } from "../spaces/constructors.ts";
import {
  flatten,
  flattenedSize,
  flattenedSpace,
  flattenInto,
} from "../spaces/flatten.ts";
import { EnvWrapper, VecEnvWrapper } from "./env_wrapper.ts";

/** Settings of {@linkcode TransformObservation}. */
export interface TransformObservationOptions {
  /** Space of the new observations. */
  space: Space;
}

/**
 * Replaces each observation by a function of it.
 *
 * @example
 * ```ts
 * import { box, ChainEnv, TransformObservation } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new TransformObservation(
 *   new ChainEnv({ length: 4 }),
 *   (position) => Float32Array.of(Number(position) / 4),
 *   { space: box({ low: 0, high: 1, shape: [1] }) },
 * );
 * assertEquals(env.reset({ seed: 0 }), Float32Array.of(0));
 * ```
 */
export class TransformObservation extends EnvWrapper {
  #transform: (observation: SpaceValue) => SpaceValue;
  #space: Space;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside.
   * @param transform Function from the old observation to the new one.
   * @param options Space of the new observations.
   */
  constructor(
    env: Env,
    transform: (observation: SpaceValue) => SpaceValue,
    options: TransformObservationOptions,
  ) {
    super(env);
    this.#transform = transform;
    this.#space = options.space;
  }

  /** Space of the new observations. */
  override get observationSpace(): Space {
    return this.#space;
  }

  /** None: stacks inside cannot be shared, as they are other observations. */
  override get stackedFrames(): undefined {
    return undefined;
  }

  /** None: a scale of the observations inside is none of these. */
  override get observationScaling(): ObservationScaling | undefined {
    return undefined;
  }

  /**
   * Starts an episode.
   *
   * @param options Seed that restarts the random stream.
   * @returns The first observation.
   */
  override reset(options?: { seed?: number }): SpaceValue {
    return this.#transform(super.reset(options));
  }

  /**
   * Takes one step.
   *
   * @param action Action to take.
   * @returns The step's result with the new observation.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    return { ...result, observation: this.#transform(result.observation) };
  }
}

/**
 * Replaces the observations of a vector environment, in arrays of its own.
 * Subclasses compute the new ones.
 *
 * @example
 * ```ts
 * import { makeVec, VecFlattenObservation, VecObservationWrapper } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const env = new VecFlattenObservation(makeVec("Chain-v0", { numEnvs: 1 }));
 * assert(env instanceof VecObservationWrapper);
 * ```
 */
export abstract class VecObservationWrapper extends VecEnvWrapper {
  #space: Space;
  #observations: Batch;
  #finalObservations: Batch;
  #out = {} as MutableStep;

  /**
   * Wraps a vector environment.
   *
   * @param env Vector environment inside.
   * @param options Space of the new observations.
   */
  constructor(env: VecEnv, options: TransformObservationOptions) {
    super(env);
    this.#space = options.space;
    this.#observations = allocateBatch(options.space, env.numEnvs);
    this.#finalObservations = allocateBatch(options.space, env.numEnvs);
  }

  /** Space of the new observations. */
  override get observationSpace(): Space {
    return this.#space;
  }

  /** None: stacks inside cannot be shared, as they are other observations. */
  override get stackedFrames(): undefined {
    return undefined;
  }

  /** None: a scale of the observations inside is none of these. */
  override get observationScaling(): ObservationScaling | undefined {
    return undefined;
  }

  /**
   * Computes new observations.
   *
   * @param source Observations of the environments inside.
   * @param target Array for the new ones.
   * @param ends The step, where they are the final ones of episodes: only those of
   * rows that ended in it count. They follow the others.
   */
  protected abstract transformRows(
    source: Batch,
    target: Batch,
    ends?: VecStep,
  ): void;

  /**
   * Starts an episode in every environment.
   *
   * @param options Seed that restarts the random streams, or one for each.
   * @returns The first observations, transformed.
   */
  override reset(options?: VecResetOptions): Batch {
    this.transformRows(super.reset(options), this.#observations);
    return this.#observations;
  }

  /**
   * Takes one step in every environment.
   *
   * @param actions One action for each environment.
   * @returns The step's result with the new observations.
   */
  override step(actions: Batch): VecStep {
    const step = relay(super.step(actions), this.#out);
    this.transformRows(step.observations, this.#observations);
    this.transformRows(step.finalObservations, this.#finalObservations, step);
    step.observations = this.#observations;
    step.finalObservations = this.#finalObservations;
    return step;
  }

  /**
   * Returns the latest observations.
   *
   * @returns The batch.
   */
  override observations(): Batch {
    return this.#observations;
  }

  /**
   * Saves the latest observations.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return cloneBatch(this.#observations) as StateTree;
  }

  /**
   * Restores observations.
   *
   * @param state State that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    copyBatch(state as Batch, this.#observations);
  }
}

/**
 * Replaces the observation of each environment by a function of it.
 *
 * @example
 * ```ts
 * import { box, makeVec, VecTransformObservation } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new VecTransformObservation(
 *   makeVec("Chain-v0", { numEnvs: 2 }),
 *   (position) => Float32Array.of(Number(position)),
 *   { space: box({ low: 0, shape: [1] }) },
 * );
 * assertEquals(env.reset({ seed: 0 }), Float32Array.of(0, 0));
 * ```
 */
export class VecTransformObservation extends VecObservationWrapper {
  #transform: (observation: SpaceValue) => SpaceValue;
  #value: SpaceValue;

  /**
   * Wraps a vector environment.
   *
   * @param env Vector environment inside.
   * @param transform Function from the old observation to the new one, whose arrays
   * are reused by the next call; what it returns is copied.
   * @param options Space of the new observations.
   */
  constructor(
    env: VecEnv,
    transform: (observation: SpaceValue) => SpaceValue,
    options: TransformObservationOptions,
  ) {
    super(env, options);
    this.#transform = transform;
    const inner = env.observationSpace;
    this.#value = readRow(inner, { batch: allocateBatch(inner, 1), row: 0 });
  }

  /**
   * Applies the function to each observation that counts.
   *
   * @param source Observations of the environments inside.
   * @param target Array for the new ones.
   * @param ends The step, where they are the final ones of episodes.
   */
  protected override transformRows(
    source: Batch,
    target: Batch,
    ends?: VecStep,
  ): void {
    const inner = this.env.observationSpace;
    for (let row = 0; row < this.numEnvs; row++) {
      if (ends !== undefined && !ended(ends, row)) continue;
      this.#value = readRowInto(inner, this.#value, source, row);
      const observation = this.#transform(this.#value);
      writeRowAt(this.observationSpace, observation, target, row);
    }
  }
}

/**
 * Turns each observation into one vector: one-hot for discrete values, part by
 * part for dicts and tuples.
 *
 * @example
 * ```ts
 * import { ChainEnv, FlattenObservation } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new FlattenObservation(new ChainEnv({ length: 2 }));
 * assertEquals(env.reset({ seed: 0 }), Float32Array.of(1, 0, 0));
 * ```
 */
export class FlattenObservation extends TransformObservation {
  /**
   * Wraps an environment.
   *
   * @param env Environment inside.
   */
  constructor(env: Env) {
    const { observationSpace } = env;
    super(env, (it) => flatten(observationSpace, it), {
      space: flattenedSpace(observationSpace),
    });
  }
}

/**
 * Turns each observation into one vector: one-hot for discrete values, part by
 * part for dicts and tuples.
 *
 * @example
 * ```ts
 * import { makeVec, VecFlattenObservation } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new VecFlattenObservation(
 *   makeVec("Chain-v0", { numEnvs: 1, kwargs: { length: 2 } }),
 * );
 * assertEquals(env.reset({ seed: 0 }), Float32Array.of(1, 0, 0));
 * ```
 */
export class VecFlattenObservation extends VecTransformObservation {
  /**
   * Wraps a vector environment.
   *
   * @param env Vector environment inside.
   */
  constructor(env: VecEnv) {
    const { observationSpace } = env;
    // One vector for all environments, as it is copied to its row at once.
    const target = new Float32Array(flattenedSize(observationSpace));
    const transform = (it: SpaceValue): Float32Array => {
      flattenInto(observationSpace, it, target, 0);
      return target;
    };
    super(env, transform, { space: flattenedSpace(observationSpace) });
  }
}

/** Actions of another box, turned into those of the box inside. */
interface ActionTransform {
  readonly space: BoxSpace;
  apply(actions: Batch | SpaceValue): BoxArray;
}

/** Makes the transform that a function of each number and its bounds defines. */
function transformed(
  verb: string,
  { inner, space, numEnvs }: Record<"inner" | "space", BoxSpace> & {
    numEnvs: number;
  },
  toBounds: (action: number, low: number, high: number) => number,
): ActionTransform {
  const size = elementCount(inner), length = numEnvs * size;
  const target = allocateArray(inner, length);
  return {
    space,
    apply(given) {
      const actions = given as BoxArray | undefined;
      if (actions?.length !== length) {
        const count = actions?.length ?? "no";
        throw new RangeError(
          `Cannot ${verb} ${count} numbers of actions: expected ${length}`,
        );
      }
      for (let i = 0; i < length; i++) {
        const low = boundAt(inner.low, i % size);
        const high = boundAt(inner.high, i % size);
        target[i] = toBounds(actions[i], low, high);
      }
      return target;
    },
  };
}

function requireBox(space: Space, verb: string): BoxSpace {
  if (space.type === "box") return space;
  throw new TypeError(
    `Cannot ${verb} actions of a ${space.type} space: expected a box`,
  );
}

function clipper(actionSpace: Space, numEnvs: number): ActionTransform {
  const inner = requireBox(actionSpace, "clip"), { shape, dtype } = inner;
  const spaces = { inner, space: box({ shape, dtype }), numEnvs };
  return transformed(
    "clip",
    spaces,
    (action, least, most) => Math.min(Math.max(action, least), most),
  );
}

/**
 * Takes actions without bounds and clips them to those of the environment.
 *
 * @example
 * ```ts
 * import { ClipAction, make } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const env = new ClipAction(make("Pendulum-v1"));
 * env.reset({ seed: 0 });
 * assert(env.step(Float32Array.of(100)).reward > -17);
 * ```
 */
export class ClipAction extends EnvWrapper {
  #clipper: ActionTransform;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside; its actions are boxes.
   * @throws {TypeError} If they are not.
   */
  constructor(env: Env) {
    super(env);
    this.#clipper = clipper(env.actionSpace, 1);
  }

  /** Box without bounds. */
  override get actionSpace(): Space {
    return this.#clipper.space;
  }

  /**
   * Takes one step with the clipped action.
   *
   * @param action Action to clip.
   * @returns The step's result.
   * @throws {RangeError} If there are too few or too many numbers.
   */
  override step(action: SpaceValue): StepResult {
    return super.step(this.#clipper.apply(action));
  }
}

/**
 * Takes actions without bounds and clips them to those of the environments.
 *
 * @example
 * ```ts
 * import { makeVec, VecClipAction } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const env = new VecClipAction(makeVec("Pendulum-v1", { numEnvs: 1 }));
 * env.reset({ seed: 0 });
 * assert(env.step(Float32Array.of(100)).rewards[0] > -17);
 * ```
 */
export class VecClipAction extends VecEnvWrapper {
  #clipper: ActionTransform;

  /**
   * Wraps a vector environment.
   *
   * @param env Vector environment inside; its actions are boxes.
   * @throws {TypeError} If they are not.
   */
  constructor(env: VecEnv) {
    super(env);
    this.#clipper = clipper(env.actionSpace, env.numEnvs);
  }

  /** Box without bounds. */
  override get actionSpace(): Space {
    return this.#clipper.space;
  }

  /**
   * Takes one step in every environment with the clipped actions.
   *
   * @param actions One action for each, to be clipped.
   * @returns The step's result.
   * @throws {RangeError} If there are too few or too many numbers.
   */
  override step(actions: Batch): VecStep {
    return super.step(this.#clipper.apply(actions));
  }
}

/** Range that actions are given in. */
export interface RescaleActionOptions {
  /**
   * Number that becomes the lower bound.
   *
   * @default -1
   */
  low?: number;
  /**
   * Number that becomes the upper bound.
   *
   * @default 1
   */
  high?: number;
}

function rescaler(
  actionSpace: Space,
  numEnvs: number,
  { low = -1, high = 1 }: RescaleActionOptions,
): ActionTransform {
  const inner = requireBox(actionSpace, "rescale"), { shape, dtype } = inner;
  if (!dtype.startsWith("float")) {
    throw new TypeError(
      `Cannot rescale actions of ${dtype}: expected floating-point numbers`,
    );
  }
  for (let i = 0; i < elementCount(inner); i++) {
    const least = boundAt(inner.low, i), most = boundAt(inner.high, i);
    if (Number.isFinite(least) && Number.isFinite(most)) continue;
    throw new RangeError(
      `Cannot rescale actions whose element ${i} lies from ${least} to ${most}: expected finite bounds`,
    );
  }
  if (!(low < high)) {
    throw new RangeError(
      `Cannot rescale actions from ${low} to ${high}: expected a lower bound below the upper`,
    );
  }
  const spaces = { inner, space: box({ low, high, shape, dtype }), numEnvs };
  return transformed("rescale", spaces, (action, least, most) => {
    const part = (action - low) / (high - low);
    return least + Math.min(Math.max(part, 0), 1) * (most - least);
  });
}

/**
 * Takes actions from -1 to 1 (or another range) and stretches them to the
 * bounds of the environment.
 *
 * @example
 * ```ts
 * import { make, RescaleAction } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new RescaleAction(make("Pendulum-v1"));
 * assertEquals(env.actionSpace.type === "box" && env.actionSpace.high, 1);
 * ```
 */
export class RescaleAction extends EnvWrapper {
  #rescaler: ActionTransform;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside; its actions are bounded boxes.
   * @param options Range that actions are given in.
   * @throws {TypeError} If the actions are not boxes.
   * @throws {RangeError} If they have no bounds.
   */
  constructor(env: Env, options: RescaleActionOptions = {}) {
    super(env);
    this.#rescaler = rescaler(env.actionSpace, 1, options);
  }

  /** Box that actions are given in. */
  override get actionSpace(): Space {
    return this.#rescaler.space;
  }

  /**
   * Takes one step with the stretched action.
   *
   * @param action Action in the new range.
   * @returns The step's result.
   * @throws {RangeError} If there are too few or too many numbers.
   */
  override step(action: SpaceValue): StepResult {
    return super.step(this.#rescaler.apply(action));
  }
}

/**
 * Takes actions from -1 to 1 (or another range) and stretches them to the
 * bounds of the environments.
 *
 * @example
 * ```ts
 * import { makeVec, VecRescaleAction } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new VecRescaleAction(makeVec("Pendulum-v1", { numEnvs: 1 }));
 * assertEquals(env.actionSpace.type === "box" && env.actionSpace.low, -1);
 * ```
 */
export class VecRescaleAction extends VecEnvWrapper {
  #rescaler: ActionTransform;

  /**
   * Wraps a vector environment.
   *
   * @param env Vector environment inside; its actions are bounded boxes.
   * @param options Range that actions are given in.
   * @throws {TypeError} If the actions are not boxes.
   * @throws {RangeError} If they have no bounds.
   */
  constructor(env: VecEnv, options: RescaleActionOptions = {}) {
    super(env);
    this.#rescaler = rescaler(env.actionSpace, env.numEnvs, options);
  }

  /** Box that actions are given in. */
  override get actionSpace(): Space {
    return this.#rescaler.space;
  }

  /**
   * Takes one step in every environment with the stretched actions.
   *
   * @param actions One action for each, in the new range.
   * @returns The step's result.
   * @throws {RangeError} If there are too few or too many numbers.
   */
  override step(actions: Batch): VecStep {
    return super.step(this.#rescaler.apply(actions));
  }
}

/** Transforms the rewards of goals too, where there are some. */
function goalRewards(
  computeReward: GoalFunctions["computeReward"],
  transform: (reward: number) => number,
): GoalFunctions["computeReward"] {
  return computeReward &&
    ((...goals) => Float64Array.from(computeReward(...goals), transform));
}

/**
 * Replaces each reward by a function of it.
 *
 * @example
 * ```ts
 * import { ChainEnv, TransformReward } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const chain = new ChainEnv({ length: 2 });
 * const env = new TransformReward(chain, (reward) => reward / 2);
 * env.reset({ seed: 0 });
 * assertEquals(env.step(0).reward, 0.5);
 * ```
 */
export class TransformReward extends EnvWrapper {
  #transform: (reward: number) => number;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside.
   * @param transform Function from the old reward to the new one.
   */
  constructor(env: Env, transform: (reward: number) => number) {
    super(env);
    this.#transform = transform;
    this.computeReward = goalRewards(this.computeReward, transform);
  }

  /**
   * Takes one step.
   *
   * @param action Action to take.
   * @returns The step's result with the new reward.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    return { ...result, reward: this.#transform(result.reward) };
  }
}

/**
 * Replaces each reward by a function of it.
 *
 * @example
 * ```ts
 * import { makeVec, VecTransformReward } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new VecTransformReward(
 *   makeVec("CartPole-v1", { numEnvs: 2 }),
 *   (reward) => reward / 2,
 * );
 * env.reset({ seed: 0 });
 * assertEquals([...env.step(Int32Array.of(0, 1)).rewards], [0.5, 0.5]);
 * ```
 */
export class VecTransformReward extends VecEnvWrapper {
  #transform: (reward: number) => number;
  #rewards: Float64Array;
  #out = {} as MutableStep;

  /**
   * Wraps a vector environment.
   *
   * @param env Vector environment inside.
   * @param transform Function from the old reward to the new one.
   */
  constructor(env: VecEnv, transform: (reward: number) => number) {
    super(env);
    this.#transform = transform;
    this.computeReward = goalRewards(this.computeReward, transform);
    this.#rewards = new Float64Array(env.numEnvs);
  }

  /**
   * Takes one step in every environment.
   *
   * @param actions One action for each environment.
   * @returns The step's result with the new rewards.
   */
  override step(actions: Batch): VecStep {
    const step = relay(super.step(actions), this.#out);
    for (let row = 0; row < this.numEnvs; row++) {
      this.#rewards[row] = this.#transform(step.rewards[row]);
    }
    step.rewards = this.#rewards;
    return step;
  }
}

/** Range that rewards are clipped to. */
export interface ClipRewardOptions {
  /**
   * Smallest reward.
   *
   * @default -1
   */
  low?: number;
  /**
   * Largest reward.
   *
   * @default 1
   */
  high?: number;
}

/** Makes the function that clips rewards to a range. */
function clipperTo(
  { low = -1, high = 1 }: ClipRewardOptions,
): (reward: number) => number {
  if (low <= high) {
    // A number that is not finite stays, so that it is refused.
    return (reward) =>
      Number.isFinite(reward) ? Math.min(Math.max(reward, low), high) : reward;
  }
  throw new RangeError(
    `Cannot clip rewards from ${low} to ${high}: the lower end must not be above the upper`,
  );
}

/**
 * Clips each reward to a range.
 *
 * @example
 * ```ts
 * import { ChainEnv, ClipReward } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new ClipReward(new ChainEnv({ length: 2 }), { high: 0.25 });
 * env.reset({ seed: 0 });
 * assertEquals(env.step(0).reward, 0.25);
 * ```
 */
export class ClipReward extends TransformReward {
  /**
   * Wraps an environment.
   *
   * @param env Environment inside.
   * @param options Range of the rewards.
   * @throws {RangeError} If its lower end is above its upper one.
   */
  constructor(env: Env, options: ClipRewardOptions = {}) {
    super(env, clipperTo(options));
  }
}

/**
 * Clips each reward to a range.
 *
 * @example
 * ```ts
 * import { makeVec, VecClipReward } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new VecClipReward(makeVec("Pendulum-v1", { numEnvs: 1 }), {
 *   low: -0.5,
 * });
 * env.reset({ seed: 0 });
 * assertEquals(env.step(Float32Array.of(0)).rewards[0] >= -0.5, true);
 * ```
 */
export class VecClipReward extends VecTransformReward {
  /**
   * Wraps a vector environment.
   *
   * @param env Vector environment inside.
   * @param options Range of the rewards.
   * @throws {RangeError} If its lower end is above its upper one.
   */
  constructor(env: VecEnv, options: ClipRewardOptions = {}) {
    super(env, clipperTo(options));
  }
}
