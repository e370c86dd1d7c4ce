import type {
  Batch,
  EnvSpec,
  Space,
  StateTree,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { snapshotRecord } from "../snapshot.ts";

/**
 * A vector environment around another that passes everything on, as
 * `EnvWrapper` does for a single one.
 *
 * @example
 * ```ts
 * import { makeVec, VecEnvWrapper } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new VecEnvWrapper(makeVec("CartPole-v1", { numEnvs: 2 }));
 * assertEquals(env.numEnvs, 2);
 * ```
 */
export class VecEnvWrapper implements VecEnv {
  /** The vector environment inside. */
  readonly env: VecEnv;

  /**
   * Wraps a vector environment.
   *
   * @param env The vector environment inside.
   */
  constructor(env: VecEnv) {
    this.env = env;
  }

  /** How many copies there are. */
  get numEnvs(): number {
    return this.env.numEnvs;
  }

  /** What one copy's observations can be. */
  get observationSpace(): Space {
    return this.env.observationSpace;
  }

  /** What one copy's actions can be. */
  get actionSpace(): Space {
    return this.env.actionSpace;
  }

  /** What is known of it, if it was made by name. */
  get spec(): EnvSpec | undefined {
    return this.env.spec;
  }

  /** Frames that an observation stacks; none where they cannot be shared. */
  get stackedFrames(): number | undefined {
    return this.env.stackedFrames;
  }

  /**
   * Starts an episode in every copy.
   *
   * @param options A seed, or one for each copy, starts the random streams anew.
   * @returns The first observations.
   */
  reset(options?: VecResetOptions): Batch {
    return this.env.reset(options);
  }

  /**
   * Takes one step in every copy.
   *
   * @param actions One action for each copy.
   * @returns What came of it.
   */
  step(actions: Batch): VecStep {
    return this.env.step(actions);
  }

  /**
   * The state of the wrapper itself; `null` without one.
   *
   * @returns Plain data.
   */
  protected ownState(): StateTree {
    return null;
  }

  /**
   * Goes on from a state of the wrapper itself.
   *
   * @param _state What {@linkcode VecEnvWrapper.ownState} returned.
   */
  protected loadOwnState(_state: StateTree): void {}

  /**
   * The whole state, that of the copies included.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    return { own: this.ownState(), env: this.env.save() };
  }

  /**
   * Goes on exactly from a snapshot.
   *
   * @param snapshot What `save` returned.
   */
  load(snapshot: StateTree): void {
    const { own, env } = snapshotRecord(snapshot, ["own", "env"]);
    this.env.load(env);
    this.loadOwnState(own);
  }

  /**
   * The observations that were returned last, also after `load`.
   *
   * @returns The batch.
   */
  observations(): Batch {
    return this.env.observations();
  }

  /** Frees what the copies hold. */
  close(): void {
    this.env.close();
  }
}
