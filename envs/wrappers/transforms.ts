import {
  checkOptions,
  NUMBER,
  type OptionKinds,
  refuseUnknown,
} from "@bellman/files/options";
import type {
  Batch,
  BatchOf,
  BoxArray,
  BoxSpace,
  Env,
  ObservationScaling,
  ObservationsOf,
  Space,
  SpaceValue,
  StateTree,
  ValueOf,
  VecEnv,
  VecStep,
} from "@bellman/types";
import { EnvData } from "../_env_data.ts";
import { ended, type MutableStep } from "../_steps.ts";
import { EnvDataError, faultOf } from "../env_data_error.ts";
import { allocateArray, boundAt, elementCount } from "../spaces/arrays.ts";
import {
  allocateBatch,
  cloneBatch,
  copyBatch,
  readRow,
  readRowInto,
  writeRowAt,
} from "../spaces/batch.ts";
import { checkSpace } from "../spaces/check_space.ts";
import { box } from "../spaces/constructors.ts";
import { flattenedSpace, flattenInto } from "../spaces/flatten.ts";
import { isVector, Wrapper } from "./wrapper.ts";

/** Settings of {@linkcode TransformObservation}. */
export interface TransformObservationOptions {
  /** Space of the new observations. */
  space: Space;
}

/**
 * Replaces the observations of an environment, in arrays of its own. Subclasses
 * compute the new ones.
 *
 * @typeParam E Environment inside.
 * @typeParam O New observations.
 *
 * @example
 * ```ts
 * import { makeVec, FlattenObservation, ObservationWrapper } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const env = new FlattenObservation(makeVec("Chain-v0", { numEnvs: 1 }));
 * assert(env instanceof ObservationWrapper);
 * ```
 */
export abstract class ObservationWrapper<
  E extends Env | VecEnv = Env,
  O = ObservationsOf<E>,
> extends Wrapper<E, O> {
  #space: Space;
  #observations: Batch;
  #finalObservations: Batch;
  /** Observation of a single environment, in a row. */
  #given: Batch | undefined;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside, a single one or a vector.
   * @param options Space of the new observations.
   */
  constructor(env: E, { space }: TransformObservationOptions) {
    super(env);
    checkSpace(space);
    const numEnvs = isVector(env) ? env.numEnvs : 1;
    this.#space = space;
    this.#observations = allocateBatch(space, numEnvs);
    this.#finalObservations = allocateBatch(space, numEnvs);
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
   * Computes new observations, for a single environment in one row.
   *
   * @param source Observations of the environments inside.
   * @param target Array for the new ones.
   * @param ends The step, where they are the final ones of episodes in a vector: only
   * those of rows that ended in it count. They follow the others.
   */
  protected abstract transformRows(
    source: Batch,
    target: Batch,
    ends?: VecStep,
  ): void;

  /**
   * Replaces observations.
   *
   * @param source Observations of the environments inside.
   * @returns The new ones.
   */
  protected override changeReset(source: Batch): Batch {
    const target = this.#observations;
    if (isVector(this.env)) {
      this.transformRows(source, target);
      return target;
    }
    const { observationSpace } = this.env;
    const given = this.#given ??= allocateBatch(observationSpace, 1);
    writeRowAt(observationSpace, source as SpaceValue, given, 0);
    this.transformRows(given, target);
    return readRow(this.#space, { batch: target, row: 0 }) as Batch;
  }

  /**
   * Replaces the observations of a step.
   *
   * @param step Step.
   */
  protected override changeStep(step: MutableStep): void {
    step.observations = this.changeReset(step.observations);
    if (!isVector(this.env)) return;
    this.transformRows(step.finalObservations, this.#finalObservations, step);
    step.finalObservations = this.#finalObservations;
  }

  /**
   * Returns the latest observations of a vector.
   *
   * @returns The batch.
   */
  override observations(): E extends VecEnv ? O : never {
    return this.#observations as never;
  }

  /**
   * Saves the latest observations of a vector.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return isVector(this.env)
      ? cloneBatch(this.#observations) as StateTree
      : null;
  }

  /**
   * Restores observations.
   *
   * @param state State that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    if (isVector(this.env)) copyBatch(state as Batch, this.#observations);
  }
}

/**
 * One observation of an environment, of a vector that of a row.
 *
 * @typeParam E The environment.
 */
export type ObservationOf<E> = E extends VecEnv ? ValueOf<E["observationSpace"]>
  : ObservationsOf<E>;

/**
 * Replaces each observation by a function of it.
 *
 * @typeParam E Environment inside.
 * @typeParam O One new observation.
 *
 * @example
 * ```ts
 * import { box, ChainEnv, TransformObservation } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new TransformObservation(
 *   new ChainEnv({ length: 4 }),
 *   (position) => Float32Array.of(position / 4),
 *   { space: box({ low: 0, high: 1, shape: [1] }) },
 * );
 * assertEquals(env.reset({ seed: 0 }), Float32Array.of(0));
 * ```
 */
export class TransformObservation<
  E extends Env | VecEnv = Env,
  O extends SpaceValue = SpaceValue,
> extends ObservationWrapper<E, E extends VecEnv ? BatchOf<O> : O> {
  #transform: (observation: SpaceValue) => SpaceValue;
  #value: SpaceValue;
  /** Checks what the function returns. */
  #checks: EnvData;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside, a single one or a vector.
   * @param transform Function from the old observation to the new one. In a vector its
   * arrays are reused by the next call, and what it returns is copied.
   * @param options Space of the new observations.
   */
  constructor(
    env: E,
    transform: (observation: ObservationOf<E>) => O,
    options: TransformObservationOptions,
  ) {
    refuseUnknown(options, ["space"], "a transform");
    super(env, options);
    this.#transform = transform as (observation: SpaceValue) => O;
    const id = env.spec?.id;
    this.#checks = new EnvData(options.space, { id, looseBounds: true });
    const inner = env.observationSpace;
    this.#value = readRow(inner, { batch: allocateBatch(inner, 1), row: 0 });
  }

  /**
   * Replaces observations; that of a single environment by what the function returns.
   *
   * @param source Observations of the environments inside.
   * @returns The new ones.
   */
  protected override changeReset(source: Batch): Batch {
    if (isVector(this.env)) return super.changeReset(source);
    const observation = this.#transform(source as SpaceValue);
    this.#checks.check(observation, "step");
    return observation as Batch;
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
    for (let row = 0; row < this.numEnvs!; row++) {
      if (ends !== undefined && !ended(ends, row)) continue;
      this.#value = readRowInto(inner, this.#value, source, row);
      this.#checks.write(this.#transform(this.#value), target, row);
    }
  }
}

/**
 * Turns each observation into one vector: one-hot for discrete values, part by
 * part for dicts and tuples.
 *
 * @typeParam E Environment inside.
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
export class FlattenObservation<E extends Env | VecEnv = Env>
  extends TransformObservation<E, Float32Array> {
  /**
   * Wraps an environment.
   *
   * @param env Environment inside, a single one or a vector.
   */
  constructor(env: E) {
    const { observationSpace } = env, space = flattenedSpace(observationSpace);
    const allocate = () => new Float32Array(elementCount(space));
    // One vector for all of several, as it is copied to its row at once.
    const shared = isVector(env) ? allocate() : undefined;
    const transform = (it: ObservationOf<E>): Float32Array => {
      const target = shared ?? allocate();
      flattenInto(observationSpace, it as SpaceValue, target, 0);
      return target;
    };
    super(env, transform, { space });
  }
}

/** Actions of another box, turned into those of the box inside. */
interface ActionTransform {
  readonly space: BoxSpace;
  apply(actions: Batch): BoxArray;
}

/** Makes the transform that a function of each number and its bounds defines. */
function transformed(
  verb: string,
  env: Env | VecEnv,
  spaceOf: (inner: BoxSpace) => BoxSpace,
  toBounds: (action: number, low: number, high: number) => number,
): ActionTransform {
  const inner = env.actionSpace;
  if (inner.type !== "box") {
    throw new TypeError(
      `Cannot ${verb} actions of a ${inner.type} space: expected a box`,
    );
  }
  const size = elementCount(inner);
  const length = isVector(env) ? env.numEnvs * size : size;
  const target = allocateArray(inner, length);
  return {
    space: spaceOf(inner),
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

/**
 * Takes actions without bounds and clips them to those of the environment.
 *
 * @typeParam E Environment inside.
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
export class ClipAction<E extends Env | VecEnv = Env> extends Wrapper<E> {
  #clipper: ActionTransform;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside, a single one or a vector; its actions are boxes.
   * @throws {TypeError} If they are not.
   */
  constructor(env: E) {
    super(env);
    this.#clipper = transformed(
      "clip",
      env,
      ({ shape, dtype }) => box({ shape, dtype }),
      (action, least, most) => Math.min(Math.max(action, least), most),
    );
  }

  /** Box without bounds. */
  override get actionSpace(): E["actionSpace"] {
    return this.#clipper.space;
  }

  /**
   * Clips actions.
   *
   * @param actions Actions to clip.
   * @returns The clipped ones.
   * @throws {RangeError} If there are too few or too many numbers.
   */
  protected override changeActions(actions: Batch): Batch {
    return this.#clipper.apply(actions);
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

const RANGE: OptionKinds<RescaleActionOptions & ClipRewardOptions> = {
  low: NUMBER,
  high: NUMBER,
};

/** Returns the space of actions that are stretched to those of another. */
function stretchable(
  inner: BoxSpace,
  { low, high }: Required<RescaleActionOptions>,
): BoxSpace {
  const { shape, dtype } = inner;
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
  if (low < high) return box({ low, high, shape, dtype });
  throw new RangeError(
    `Cannot rescale actions from ${low} to ${high}: expected a lower bound below the upper`,
  );
}

/**
 * Takes actions from -1 to 1 (or another range) and stretches them to the
 * bounds of the environment.
 *
 * @typeParam E Environment inside.
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
export class RescaleAction<E extends Env | VecEnv = Env> extends Wrapper<E> {
  #rescaler: ActionTransform;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside, a single one or a vector; its actions are bounded
   * boxes.
   * @param options Range that actions are given in.
   * @throws {TypeError} If the actions are not boxes.
   * @throws {RangeError} If they have no bounds.
   */
  constructor(env: E, options: RescaleActionOptions = {}) {
    super(env);
    const { low = -1, high = 1 } = checkOptions("a range", options, RANGE);
    const spaceOf = (inner: BoxSpace) => stretchable(inner, { low, high });
    this.#rescaler = transformed("rescale", env, spaceOf, (action, ...ends) => {
      const part = Math.min(Math.max((action - low) / (high - low), 0), 1);
      return ends[0] + part * (ends[1] - ends[0]);
    });
  }

  /** Box that actions are given in. */
  override get actionSpace(): E["actionSpace"] {
    return this.#rescaler.space;
  }

  /**
   * Stretches actions.
   *
   * @param actions Actions in the new range.
   * @returns The stretched ones.
   * @throws {RangeError} If there are too few or too many numbers.
   */
  protected override changeActions(actions: Batch): Batch {
    return this.#rescaler.apply(actions);
  }
}

/**
 * Replaces each reward by a function of it.
 *
 * @typeParam E Environment inside.
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
export class TransformReward<E extends Env | VecEnv = Env> extends Wrapper<E> {
  #transform: (reward: number) => number;
  #rewards: Float64Array;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside, a single one or a vector.
   * @param transform Function from the old reward to the new one.
   */
  constructor(env: E, transform: (reward: number) => number) {
    super(env);
    this.#transform = transform;
    this.#rewards = new Float64Array(isVector(env) ? env.numEnvs : 1);
    const { computeReward } = this;
    // Rewards of goals too.
    this.computeReward = computeReward &&
      ((...goals) => Float64Array.from(computeReward(...goals), transform));
  }

  /**
   * Replaces the rewards.
   *
   * @param step Step.
   * @throws {EnvDataError} If the function returns no number.
   */
  protected override changeStep(step: MutableStep): void {
    for (let row = 0; row < this.#rewards.length; row++) {
      const reward = this.#transform(step.rewards[row]);
      if (typeof reward !== "number") {
        const fault = faultOf("the reward", reward, "a finite number");
        throw new EnvDataError(fault, { id: this.spec?.id });
      }
      this.#rewards[row] = reward;
    }
    step.rewards = this.#rewards;
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

/**
 * Clips each reward to a range.
 *
 * @typeParam E Environment inside.
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
export class ClipReward<E extends Env | VecEnv = Env>
  extends TransformReward<E> {
  /**
   * Wraps an environment.
   *
   * @param env Environment inside, a single one or a vector.
   * @param options Range of the rewards.
   * @throws {RangeError} If its lower end is above its upper one.
   */
  constructor(env: E, options: ClipRewardOptions = {}) {
    const { low = -1, high = 1 } = checkOptions("a range", options, RANGE);
    if (!(low <= high)) {
      throw new RangeError(
        `Cannot clip rewards from ${low} to ${high}: the lower end must not be above the upper`,
      );
    }
    // A number that is not finite stays, so that it is refused.
    super(
      env,
      (reward) =>
        Number.isFinite(reward)
          ? Math.min(Math.max(reward, low), high)
          : reward,
    );
  }
}
