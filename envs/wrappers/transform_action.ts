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

function requireBox(space: Space, verb: string): BoxSpace {
  if (space.type === "box") return space;
  throw new TypeError(
    `Cannot ${verb} actions of a ${space.type} space: expected a box`,
  );
}

/** Throws unless there are as many numbers as the copies take. */
function checkCount(
  verb: string,
  actions: BoxArray | undefined,
  wanted: number,
): void {
  if (actions?.length === wanted) return;
  throw new RangeError(
    `Cannot ${verb} ${
      actions?.length ?? "no"
    } numbers of actions: expected ${wanted}`,
  );
}

/** Actions of an unbounded box, brought into the bounds of the one inside. */
export class ActionClipper {
  readonly space: BoxSpace;
  #inner: BoxSpace;
  #clipped: BoxArray;

  constructor(space: Space, numEnvs: number) {
    this.#inner = requireBox(space, "clip");
    const { shape, dtype } = this.#inner;
    this.space = box({ shape, dtype });
    this.#clipped = allocateArray(space, numEnvs * elementCount(space));
  }

  apply(actions: BoxArray): BoxArray {
    checkCount("clip", actions, this.#clipped.length);
    const { low, high } = this.#inner;
    const size = elementCount(this.#inner);
    for (let i = 0; i < actions.length; i++) {
      const least = boundAt(low, i % size), most = boundAt(high, i % size);
      this.#clipped[i] = Math.min(Math.max(actions[i], least), most);
    }
    return this.#clipped;
  }
}

/** The range that actions are given in. */
export interface RescaleActionOptions {
  /**
   * What stands for the lower bound.
   *
   * @default -1
   */
  low?: number;
  /**
   * What stands for the upper bound.
   *
   * @default 1
   */
  high?: number;
}

/** Actions given in one range, stretched to the bounds of the one inside. */
export class ActionRescaler {
  readonly space: BoxSpace;
  #inner: BoxSpace;
  #low: number;
  #high: number;
  #scaled: BoxArray;

  constructor(
    space: Space,
    numEnvs: number,
    options: RescaleActionOptions = {},
  ) {
    const { low = -1, high = 1 } = options;
    this.#inner = requireBox(space, "rescale");
    const { shape, dtype } = this.#inner;
    if (!dtype.startsWith("float")) {
      throw new TypeError(
        `Cannot rescale actions of ${dtype}: expected floating-point numbers`,
      );
    }
    const size = elementCount(space);
    for (let i = 0; i < size; i++) {
      const least = boundAt(this.#inner.low, i);
      const most = boundAt(this.#inner.high, i);
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
    this.#low = low;
    this.#high = high;
    this.space = box({ low, high, shape, dtype });
    this.#scaled = allocateArray(space, numEnvs * size);
  }

  apply(actions: BoxArray): BoxArray {
    checkCount("rescale", actions, this.#scaled.length);
    const size = elementCount(this.#inner);
    for (let i = 0; i < actions.length; i++) {
      const least = boundAt(this.#inner.low, i % size);
      const most = boundAt(this.#inner.high, i % size);
      const part = (actions[i] - this.#low) / (this.#high - this.#low);
      this.#scaled[i] = least + Math.min(Math.max(part, 0), 1) * (most - least);
    }
    return this.#scaled;
  }
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
  #clipper: ActionClipper;

  /**
   * Wraps an environment.
   *
   * @param env The environment inside; its actions are boxes.
   * @throws {TypeError} If they are not.
   */
  constructor(env: Env) {
    super(env);
    this.#clipper = new ActionClipper(env.actionSpace, 1);
  }

  /** The box without bounds. */
  override get actionSpace(): Space {
    return this.#clipper.space;
  }

  /**
   * Takes one step.
   *
   * @param action What to do, clipped first.
   * @returns What came of it.
   * @throws {RangeError} If there are too few or too many numbers.
   */
  override step(action: SpaceValue): StepResult {
    return super.step(this.#clipper.apply(action as BoxArray));
  }
}

/**
 * Takes actions without bounds and clips them to those of the environment.
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
  #clipper: ActionClipper;

  /**
   * Wraps a vector environment.
   *
   * @param env The vector environment inside; its actions are boxes.
   * @throws {TypeError} If they are not.
   */
  constructor(env: VecEnv) {
    super(env);
    this.#clipper = new ActionClipper(env.actionSpace, env.numEnvs);
  }

  /** The box without bounds. */
  override get actionSpace(): Space {
    return this.#clipper.space;
  }

  /**
   * Takes one step in every copy.
   *
   * @param actions One action for each copy, clipped first.
   * @returns What came of it.
   * @throws {RangeError} If there are too few or too many numbers.
   */
  override step(actions: Batch): VecStep {
    return super.step(this.#clipper.apply(actions as BoxArray));
  }
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
  #rescaler: ActionRescaler;

  /**
   * Wraps an environment.
   *
   * @param env The environment inside; its actions are bounded boxes.
   * @param options The range that actions are given in.
   * @throws {TypeError} If the actions are not boxes.
   * @throws {RangeError} If they have no bounds.
   */
  constructor(env: Env, options: RescaleActionOptions = {}) {
    super(env);
    this.#rescaler = new ActionRescaler(env.actionSpace, 1, options);
  }

  /** The box that actions are given in. */
  override get actionSpace(): Space {
    return this.#rescaler.space;
  }

  /**
   * Takes one step.
   *
   * @param action What to do, in the new range.
   * @returns What came of it.
   * @throws {RangeError} If there are too few or too many numbers.
   */
  override step(action: SpaceValue): StepResult {
    return super.step(this.#rescaler.apply(action as BoxArray));
  }
}

/**
 * Takes actions from -1 to 1 (or another range) and stretches them to the
 * bounds of the environment.
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
  #rescaler: ActionRescaler;

  /**
   * Wraps a vector environment.
   *
   * @param env The vector environment inside; its actions are bounded boxes.
   * @param options The range that actions are given in.
   * @throws {TypeError} If the actions are not boxes.
   * @throws {RangeError} If they have no bounds.
   */
  constructor(env: VecEnv, options: RescaleActionOptions = {}) {
    super(env);
    this.#rescaler = new ActionRescaler(env.actionSpace, env.numEnvs, options);
  }

  /** The box that actions are given in. */
  override get actionSpace(): Space {
    return this.#rescaler.space;
  }

  /**
   * Takes one step in every copy.
   *
   * @param actions One action for each copy, in the new range.
   * @returns What came of it.
   * @throws {RangeError} If there are too few or too many numbers.
   */
  override step(actions: Batch): VecStep {
    return super.step(this.#rescaler.apply(actions as BoxArray));
  }
}
