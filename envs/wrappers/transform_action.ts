import type {
  Batch,
  BoxArray,
  BoxSpace,
  Env,
  Space,
  SpaceValue,
  StepResult,
  VecEnv,
  VecStep,
} from "@bellman/types";
import { allocateArray, boundAt, elementCount } from "../spaces/arrays.ts";
import { box } from "../spaces/constructors.ts";
import { EnvWrapper, VecEnvWrapper } from "./env_wrapper.ts";

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
   * Number that stands for the lower bound.
   *
   * @default -1
   */
  low?: number;
  /**
   * Number that stands for the upper bound.
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
