import { allocateBatch, cloneBatch, copyBatch, readRow } from "../batch.ts";
import { readRowInto, writeRowAt } from "../_rows.ts";
import type {
  Batch,
  Space,
  SpaceValue,
  StateTree,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import type { TransformObservationOptions } from "../wrappers/transform_observation.ts";
import { ended, relay, type RelayedStep } from "./_relayed_step.ts";
import { VecEnvWrapper } from "./vec_env_wrapper.ts";

/**
 * Replaces each copy's observation by a function of it.
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
  #out = {} as RelayedStep;

  /**
   * Wraps a vector environment.
   *
   * @param env The vector environment inside.
   * @param transform Makes the new observation from the old one, whose arrays
   * are reused by the next call; what it returns is copied.
   * @param options The new observations' space.
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

  /** What the new observations can be. */
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
   * Starts an episode in every copy.
   *
   * @param options A seed, or one for each copy, starts the random streams anew.
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
   * Takes one step in every copy.
   *
   * @param actions One action for each copy.
   * @returns What came of it, with the new observations.
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
   * The observations that were returned last.
   *
   * @returns The batch.
   */
  override observations(): Batch {
    return this.#observations;
  }

  /**
   * The observations that were returned last.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return cloneBatch(this.#observations) as StateTree;
  }

  /**
   * Goes on from observations.
   *
   * @param state What `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    copyBatch(state as Batch, this.#observations);
  }
}
