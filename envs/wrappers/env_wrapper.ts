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
  /** The environment inside. */
  readonly env: Env;
  #data: EnvData | undefined;

  /**
   * Wraps an environment.
   *
   * @param env The environment inside.
   */
  constructor(env: Env) {
    this.env = env;
  }

  /** What observations can be. */
  get observationSpace(): Space {
    return this.env.observationSpace;
  }

  /** What actions can be. */
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
   * Starts an episode.
   *
   * @param options A seed starts the random stream anew.
   * @returns The first observation.
   * @throws {EnvDataError} If that inside is not of its space, bounds apart: a
   * wrapper could hide it.
   */
  reset(options?: { seed?: number }): SpaceValue {
    const observation = this.env.reset(options);
    this.#inside.check(observation, "reset");
    return observation;
  }

  /**
   * Takes one step.
   *
   * @param action What to do.
   * @returns The step's result.
   * @throws {EnvDataError} If that inside is wrong data, bounds apart.
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
   * @param _state What {@linkcode EnvWrapper.ownState} returned.
   */
  protected loadOwnState(_state: StateTree): void {}

  /**
   * The whole state, the environment's inside included.
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
    restoreNow(this.env, env, { id: this.env.spec?.id });
    this.loadOwnState(own);
  }

  /**
   * Draws the present state.
   *
   * @param options The picture's size.
   * @returns The picture.
   */
  render(options?: RenderOptions): RgbImage {
    return this.env.render(options);
  }

  /** Frees what the environment holds. */
  close(): void {
    this.env.close();
  }
}

/** A step that a wrapper fills from the one inside and changes. */
export type RelayedStep = { -readonly [K in keyof VecStep]: VecStep[K] };

/**
 * Copies a step's references into the wrapper's own object, which is made once
 * and reused, so that nothing is allocated in a step.
 */
export function relay(step: VecStep, target: RelayedStep): RelayedStep {
  target.observations = step.observations;
  target.rewards = step.rewards;
  target.terminated = step.terminated;
  target.truncated = step.truncated;
  target.finalObservations = step.finalObservations;
  target.episodes = step.episodes;
  target.lost = step.lost;
  return target;
}

/** Whether a copy's episode ended in a step. */
export function ended(step: VecStep, row: number): boolean {
  return step.terminated[row] !== 0 || step.truncated[row] !== 0;
}

/** Whether any copy's episode ended in a step; in most steps none does. */
export function anyEnded(step: VecStep): boolean {
  for (let row = 0; row < step.rewards.length; row++) {
    if (ended(step, row)) return true;
  }
  return false;
}

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
