import type {
  Batch,
  Env,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { ended, type MutableStep, relay } from "../_steps.ts";
import {
  allocateBatch,
  cloneBatch,
  copyBatch,
  readRow,
  readRowInto,
  writeRowAt,
} from "../spaces/batch.ts";
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
export class VecTransformObservation extends VecEnvWrapper {
  #transform: (observation: SpaceValue) => SpaceValue;
  #space: Space;
  #value: SpaceValue;
  #observations: Batch;
  #finalObservations: Batch;
  #out = {} as MutableStep;

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
    super(env);
    this.#transform = transform;
    this.#space = options.space;
    const inner = env.observationSpace;
    this.#value = readRow(inner, { batch: allocateBatch(inner, 1), row: 0 });
    this.#observations = allocateBatch(options.space, env.numEnvs);
    this.#finalObservations = allocateBatch(options.space, env.numEnvs);
  }

  /** Space of the new observations. */
  override get observationSpace(): Space {
    return this.#space;
  }

  #write(source: Batch, target: Batch, row: number): void {
    const inner = this.env.observationSpace;
    this.#value = readRowInto(inner, this.#value, source, row);
    writeRowAt(this.#space, this.#transform(this.#value), target, row);
  }

  /** None: stacks inside cannot be shared, as they are other observations. */
  override get stackedFrames(): undefined {
    return undefined;
  }

  /**
   * Starts an episode in every environment.
   *
   * @param options Seed that restarts the random streams, or one for each.
   * @returns The first observations, transformed.
   */
  override reset(options?: VecResetOptions): Batch {
    const observations = super.reset(options);
    for (let row = 0; row < this.numEnvs; row++) {
      this.#write(observations, this.#observations, row);
    }
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
    for (let row = 0; row < this.numEnvs; row++) {
      if (ended(step, row)) {
        this.#write(step.finalObservations, this.#finalObservations, row);
      }
      this.#write(step.observations, this.#observations, row);
    }
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
