import type {
  Batch,
  Env,
  EnvSpec,
  GoalFunctions,
  ObservationScaling,
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
import { goalFunctionsOf } from "../_goals.ts";
import { EnvData } from "../_env_data.ts";
import { restoreNow, snapshotRecord } from "../snapshot.ts";

/**
 * Layer around a single or a vector environment that passes on what both have.
 * Wrappers with a state of their own override {@linkcode WrapperBase.ownState} and
 * {@linkcode WrapperBase.loadOwnState}.
 *
 * @example
 * ```ts
 * import { EnvWrapper, make, WrapperBase } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * assert(new EnvWrapper(make("CartPole-v1")) instanceof WrapperBase);
 * ```
 */
export abstract class WrapperBase<E extends Env | VecEnv> {
  /** Environment inside. */
  readonly env: E;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside.
   */
  constructor(env: E) {
    this.env = env;
    for (const name of goalFunctionsOf(env)) {
      // A subclass may compute them by itself.
      if (this[name] !== undefined) continue;
      this[name] = (...goals) => env[name]!(...goals);
    }
  }

  /** Rewards of goals, where the environment inside has some. */
  computeReward?: GoalFunctions["computeReward"];

  /** Ends by goals, where the environment inside has some. */
  computeTerminated?: GoalFunctions["computeTerminated"];

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

  /** Present scale of the observations, if they are scaled. */
  get observationScaling(): ObservationScaling | undefined {
    return this.env.observationScaling;
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
   * @param _state State that {@linkcode WrapperBase.ownState} returned.
   */
  protected loadOwnState(_state: StateTree): void {}

  /**
   * Saves the whole state, that of what is inside included.
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

  /** Frees the resources of what is inside. */
  close(): void {
    this.env.close();
  }
}

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
export class EnvWrapper extends WrapperBase<Env> implements Env {
  #data: EnvData | undefined;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside.
   */
  constructor(env: Env) {
    super(env);
    // A subclass may mask by itself.
    if (env.actionMasks !== undefined && this.actionMasks === undefined) {
      this.actionMasks = () => env.actionMasks!();
    }
  }

  /**
   * Returns the actions that the newest observation allows. It is there where the
   * environment inside masks some.
   *
   * @returns 1 or 0 for each choice; reused by the next step.
   */
  actionMasks?(): Uint8Array;

  /** Steps per second at which its images look as fast as what they show, if known. */
  get framesPerSecond(): number | undefined {
    return this.env.framesPerSecond;
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
   * Draws the current state.
   *
   * @param options Size of the picture.
   * @returns The picture.
   */
  render(options?: RenderOptions): RgbImage {
    return this.env.render(options);
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
export class VecEnvWrapper extends WrapperBase<VecEnv> implements VecEnv {
  /** Number of environments. */
  get numEnvs(): number {
    return this.env.numEnvs;
  }

  /** Actions that the newest observations allow, where some are masked. */
  get actionMasks(): Uint8Array | undefined {
    return this.env.actionMasks;
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
   * Returns the latest observations, also after `load`.
   *
   * @returns The batch.
   */
  observations(): Batch {
    return this.env.observations();
  }
}
