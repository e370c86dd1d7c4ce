import type {
  Env,
  EnvSpec,
  RenderOptions,
  RgbImage,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
} from "@bellman/types";
import { EnvData, restoreNow } from "../_env_data.ts";
import { snapshotRecord } from "../snapshot.ts";

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
