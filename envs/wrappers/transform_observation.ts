import type { Env, Space, SpaceValue, StepResult } from "@bellman/types";
import { EnvWrapper } from "./env_wrapper.ts";

/** Settings of {@linkcode TransformObservation}. */
export interface TransformObservationOptions {
  /** What the new observations can be. */
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
   * @param env The environment inside.
   * @param transform Makes the new observation from the old one.
   * @param options The new observations' space.
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

  /** What the new observations can be. */
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
   * @param options A seed starts the random stream anew.
   * @returns The first observation.
   */
  override reset(options?: { seed?: number }): SpaceValue {
    return this.#transform(super.reset(options));
  }

  /**
   * Takes one step.
   *
   * @param action What to do.
   * @returns What came of it, with the new observation.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    return { ...result, observation: this.#transform(result.observation) };
  }
}
