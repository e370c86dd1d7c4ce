import type {
  Batch,
  Env,
  EnvSpec,
  RenderOptions,
  RgbImage,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { EnvData } from "../_env_data.ts";
import { restoreNow, snapshotRecord } from "../snapshot.ts";

/**
 * An environment around another that passes everything on. Wrappers override
 * what they change; those with a state of their own override
 * {@linkcode EnvWrapper.ownState} and {@linkcode EnvWrapper.loadOwnState}.
 *
 * @example
 * ```ts
 * import { EnvWrapper, make } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * class Doubled extends EnvWrapper {
 *   override step(action: number) {
 *     const result = super.step(action);
 *     return { ...result, reward: 2 * result.reward };
 *   }
 * }
 * const env = new Doubled(make("CartPole-v1"));
 * env.reset({ seed: 0 });
 * assertEquals(env.step(0).reward, 2);
 * ```
 */
export class EnvWrapper implements Env {
  /** Environment inside. */
  readonly env: Env;
  #data: EnvData | undefined;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside.
   */
  constructor(env: Env) {
    this.env = env;
  }

  /** Space of observations. */
  get observationSpace(): Space {
    return this.env.observationSpace;
  }

  /** Space of actions. */
  get actionSpace(): Space {
    return this.env.actionSpace;
  }

  /** Facts about the environment, if it was made by name. */
  get spec(): EnvSpec | undefined {
    return this.env.spec;
  }

  /** Frames that an observation stacks; none where they cannot be shared. */
  get stackedFrames(): number | undefined {
    return this.env.stackedFrames;
  }

  /**
   * Starts an episode.
   *
   * @param options Seed that restarts the random stream.
   * @returns The first observation.
   * @throws {EnvDataError} If that of the environment inside is not of its
   * space, bounds apart: a wrapper could hide it.
   */
  reset(options?: { seed?: number }): SpaceValue {
    const observation = this.env.reset(options);
    this.#inside.check(observation, "reset");
    return observation;
  }

  /**
   * Takes one step.
   *
   * @param action Action to take.
   * @returns The step's result.
   * @throws {EnvDataError} If that of the environment inside is wrong data,
   * bounds apart.
   */
  step(action: SpaceValue): StepResult {
    const result = this.#inside.result(this.env.step(action));
    this.#inside.check(result.observation, "step");
    return result;
  }

  get #inside(): EnvData {
    return this.#data ??= new EnvData(this.env.observationSpace, {
      id: this.spec?.id,
      looseBounds: true,
    });
  }

  /**
   * Saves the state of the wrapper itself; `null` without one.
   *
   * @returns Plain data.
   */
  protected ownState(): StateTree {
    return null;
  }

  /**
   * Restores the state of the wrapper itself.
   *
   * @param _state State that {@linkcode EnvWrapper.ownState} returned.
   */
  protected loadOwnState(_state: StateTree): void {}

  /**
   * Saves the whole state, that of the environment inside included.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    return { own: this.ownState(), env: this.env.save() };
  }

  /**
   * Restores a snapshot.
   *
   * @param snapshot Snapshot that `save` returned.
   */
  load(snapshot: StateTree): void {
    const { own, env } = snapshotRecord(snapshot, ["own", "env"]);
    restoreNow(this.env, env, { id: this.env.spec?.id });
    this.loadOwnState(own);
  }

  /**
   * Draws the present state.
   *
   * @param options Size of the picture.
   * @returns The picture.
   */
  render(options?: RenderOptions): RgbImage {
    return this.env.render(options);
  }

  /** Frees the environment's resources. */
  close(): void {
    this.env.close();
  }
}

/**
 * A vector environment around another that passes everything on, as
 * {@linkcode EnvWrapper} does for a single one.
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
  /** Vector environment inside. */
  readonly env: VecEnv;

  /**
   * Wraps a vector environment.
   *
   * @param env Vector environment inside.
   */
  constructor(env: VecEnv) {
    this.env = env;
  }

  /** Number of environments. */
  get numEnvs(): number {
    return this.env.numEnvs;
  }

  /** Space of one environment's observations. */
  get observationSpace(): Space {
    return this.env.observationSpace;
  }

  /** Space of one environment's actions. */
  get actionSpace(): Space {
    return this.env.actionSpace;
  }

  /** Facts about the environment, if it was made by name. */
  get spec(): EnvSpec | undefined {
    return this.env.spec;
  }

  /** Frames that an observation stacks; none where they cannot be shared. */
  get stackedFrames(): number | undefined {
    return this.env.stackedFrames;
  }

  /**
   * Starts an episode in every environment.
   *
   * @param options Seed that restarts the random streams, or one for each.
   * @returns The first observations.
   */
  reset(options?: VecResetOptions): Batch {
    return this.env.reset(options);
  }

  /**
   * Takes one step in every environment.
   *
   * @param actions One action for each.
   * @returns The step's result.
   */
  step(actions: Batch): VecStep {
    return this.env.step(actions);
  }

  /**
   * Saves the state of the wrapper itself; `null` without one.
   *
   * @returns Plain data.
   */
  protected ownState(): StateTree {
    return null;
  }

  /**
   * Restores the state of the wrapper itself.
   *
   * @param _state State that {@linkcode VecEnvWrapper.ownState} returned.
   */
  protected loadOwnState(_state: StateTree): void {}

  /**
   * Saves the whole state, that of the environments included.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    return { own: this.ownState(), env: this.env.save() };
  }

  /**
   * Restores a snapshot.
   *
   * @param snapshot Snapshot that `save` returned.
   */
  load(snapshot: StateTree): void {
    const { own, env } = snapshotRecord(snapshot, ["own", "env"]);
    this.env.load(env);
    this.loadOwnState(own);
  }

  /**
   * Returns the latest observations, also after `load`.
   *
   * @returns The batch.
   */
  observations(): Batch {
    return this.env.observations();
  }

  /** Frees the environments' resources. */
  close(): void {
    this.env.close();
  }
}
