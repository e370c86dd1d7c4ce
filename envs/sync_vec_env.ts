import {
  allocateBatch,
  cloneBatch,
  copyBatch,
  readRow,
  writeRow,
} from "./batch.ts";
import { checkAction } from "./_check_action.ts";
import type { Env, EnvSpec } from "./env.ts";
import { DEFAULT_SEED, deriveSeed } from "./random.ts";
import { type Snapshot, snapshotRecord } from "./snapshot.ts";
import type { BoxArray, Space } from "./space.ts";
import type { Batch, VecEnv, VecStep } from "./vec_env.ts";

/** Throws unless a batch holds one action for each copy. */
export function checkActionCount(
  space: Space,
  actions: Batch,
  numEnvs: number,
): void {
  if (space.type === "dict" || space.type === "tuple") {
    for (const key in space.spaces) {
      checkActionCount(
        (space.spaces as Record<string, Space>)[key],
        (actions as Record<string, Batch>)[key],
        numEnvs,
      );
    }
    return;
  }
  const wanted = (allocateBatch(space, numEnvs) as BoxArray).length;
  const given = (actions as BoxArray | undefined)?.length;
  if (given === wanted) return;
  throw new RangeError(
    `Cannot step ${numEnvs} copies with ${given} numbers of actions: expected ${wanted}`,
  );
}

/**
 * A vector environment of single ones, stepped one after the other.
 *
 * Copy `i` is seeded with `deriveSeed(seed, i)`. A copy whose episode ended is
 * reset in the same step.
 *
 * @example
 * ```ts
 * import { make, SyncVecEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new SyncVecEnv([
 *   () => make("MountainCar-v0"),
 *   () => make("MountainCar-v0"),
 * ]);
 * env.reset({ seed: 3 });
 * assertEquals([...env.step(Int32Array.of(0, 2)).rewards], [-1, -1]);
 * ```
 */
export class SyncVecEnv implements VecEnv {
  /** How many copies there are. */
  readonly numEnvs: number;
  /** What one copy's observations can be. */
  readonly observationSpace: Space;
  /** What one copy's actions can be. */
  readonly actionSpace: Space;
  /** What is known of it, if it was made by name. */
  readonly spec?: EnvSpec;
  /** The copies. */
  readonly envs: readonly Env[];

  #isSeeded = false;
  #observations: Batch;
  #step: {
    observations: Batch;
    rewards: Float64Array;
    terminated: Uint8Array;
    truncated: Uint8Array;
    finalObservations: Batch;
  };

  /**
   * Makes the copies.
   *
   * @param factories What makes each copy.
   * @throws {RangeError} If there is none.
   */
  constructor(factories: readonly (() => Env)[]) {
    if (factories.length === 0) {
      throw new RangeError(
        "Cannot make a vector environment of 0 copies: expected at least 1",
      );
    }
    this.envs = factories.map((factory) => factory());
    const [{ observationSpace, actionSpace, spec }] = this.envs;
    this.numEnvs = this.envs.length;
    this.observationSpace = observationSpace;
    this.actionSpace = actionSpace;
    this.spec = spec;
    this.#observations = allocateBatch(observationSpace, this.numEnvs);
    this.#step = {
      observations: this.#observations,
      rewards: new Float64Array(this.numEnvs),
      terminated: new Uint8Array(this.numEnvs),
      truncated: new Uint8Array(this.numEnvs),
      finalObservations: allocateBatch(observationSpace, this.numEnvs),
    };
  }

  /**
   * Starts an episode in every copy.
   *
   * @param options A seed starts every copy's random stream anew.
   * @returns The first observations.
   */
  reset(options: { seed?: number } = {}): Batch {
    const seed = options.seed ?? (this.#isSeeded ? undefined : DEFAULT_SEED);
    this.#isSeeded = true;
    this.envs.forEach((env, row) => {
      const observation = env.reset(
        seed === undefined ? {} : { seed: deriveSeed(seed, row) },
      );
      const batch = this.#observations;
      writeRow(this.observationSpace, observation, { batch, row });
    });
    return this.#observations;
  }

  /**
   * Takes one step in every copy.
   *
   * @param actions One action for each copy.
   * @returns What came of it.
   * @throws {RangeError} If there are too few or too many actions, or one is not
   * of the action space.
   */
  step(actions: Batch): VecStep {
    const { observationSpace, actionSpace } = this;
    checkActionCount(actionSpace, actions, this.numEnvs);
    const { observations, rewards, terminated, truncated, finalObservations } =
      this.#step;
    const taken = this.envs.map((_, row) =>
      readRow(actionSpace, { batch: actions, row })
    );
    for (const action of taken) checkAction(actionSpace, action);
    this.envs.forEach((env, row) => {
      const result = env.step(taken[row]);
      rewards[row] = result.reward;
      terminated[row] = Number(result.terminated);
      truncated[row] = Number(result.truncated);
      let { observation } = result;
      if (result.terminated || result.truncated) {
        const batch = finalObservations;
        writeRow(observationSpace, observation, { batch, row });
        observation = env.reset();
      }
      writeRow(observationSpace, observation, { batch: observations, row });
    });
    return this.#step;
  }

  /**
   * The state of all copies.
   *
   * @returns Plain data that later steps do not change.
   */
  snapshot(): Snapshot {
    return {
      envs: this.envs.map((env) => env.snapshot()),
      observations: cloneBatch(this.#observations) as Snapshot,
    };
  }

  /**
   * Goes on exactly from a snapshot.
   *
   * @param snapshot What `snapshot` returned.
   * @throws {RangeError} If it is of another number of copies.
   */
  restore(snapshot: Snapshot): void {
    const { envs, observations } = snapshotRecord(snapshot, [
      "envs",
      "observations",
    ]);
    const states = envs as Snapshot[];
    if (states.length !== this.numEnvs) {
      throw new RangeError(
        `Cannot restore ${this.numEnvs} copies from a snapshot of ${states.length}`,
      );
    }
    this.#isSeeded = true;
    this.envs.forEach((env, i) => env.restore(states[i]));
    copyBatch(observations as Batch, this.#observations);
  }

  /**
   * The observations that were returned last.
   *
   * @returns The batch.
   */
  observations(): Batch {
    return this.#observations;
  }

  /** Closes every copy. */
  close(): void {
    for (const env of this.envs) env.close();
  }
}
