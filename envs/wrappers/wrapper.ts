import type {
  ActionsOf,
  Batch,
  Env,
  EnvSpec,
  GoalFunctions,
  ObservationScaling,
  ObservationsOf,
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
import { cloneBatch } from "../spaces/batch.ts";
import { goalFunctionsOf } from "../_goals.ts";
import { type MutableStep, relay } from "../_steps.ts";
import { restoreNow, snapshotRecord } from "../snapshot.ts";

/** Finds out if an environment is a vector of several. */
export function isVector(env: Env | VecEnv): env is VecEnv {
  return (env as Partial<VecEnv>).numEnvs !== undefined;
}

/**
 * Result of stepping an environment that has other observations.
 *
 * @typeParam E The environment, an `Env` or a `VecEnv`.
 * @typeParam O Its observations.
 */
export type StepOf<E, O> = E extends VecEnv ? VecStep<Extract<O, Batch>>
  : StepResult<Extract<O, SpaceValue>>;

/** Makes the arrays of a single environment's step. */
const oneRow = () => ({
  rewards: new Float64Array(1),
  terminated: new Uint8Array(1),
  truncated: new Uint8Array(1),
});

/**
 * Layer around a single or a vector environment that passes everything on. Wrappers
 * override what they change. One around either kind has `changeActions`,
 * `changeReset` or `changeStep`; one around a single environment may override `reset`
 * and `step` instead. Those with a state of their own override
 * {@linkcode Wrapper.ownState} and {@linkcode Wrapper.loadOwnState}.
 *
 * @typeParam E Environment inside, an `Env` or a `VecEnv`, as which it can be used.
 * @typeParam O Observations, where they are others than those inside.
 *
 * @example
 * ```ts
 * import { make, makeVec, type MutableStep, Wrapper } from "@bellman/envs";
 * import type { Env, VecEnv } from "@bellman/types";
 * import { assertEquals } from "@std/assert";
 *
 * class Doubled<E extends Env | VecEnv> extends Wrapper<E> {
 *   protected override changeStep(step: MutableStep) {
 *     step.rewards = step.rewards.map((it) => 2 * it);
 *   }
 * }
 * const env = new Doubled(make("CartPole-v1"));
 * env.reset({ seed: 0 });
 * assertEquals(env.step(0).reward, 2);
 *
 * const two = new Doubled(makeVec("CartPole-v1", { numEnvs: 2 }));
 * two.reset({ seed: 0 });
 * assertEquals([...two.step(Int32Array.of(0, 1)).rewards], [2, 2]);
 * ```
 */
export class Wrapper<E extends Env | VecEnv = Env, O = ObservationsOf<E>> {
  /** Environment inside. */
  readonly env: E;
  #data: EnvData | undefined;
  #out = {} as MutableStep;
  #row: ReturnType<typeof oneRow> | undefined;
  /** Latest observations of a vector, where they are others than those inside. */
  #changed: Batch | undefined;

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

  /** Sets parameters of a vector's episodes, where it has some. */
  get setParameters(): VecEnv["setParameters"] {
    const { env } = this as { env: Env | VecEnv };
    return isVector(env) ? env.setParameters?.bind(env) : undefined;
  }

  /** Number of environments of a vector; undefined of a single one. */
  get numEnvs(): E extends VecEnv ? number : undefined {
    return (this.env as Partial<VecEnv>).numEnvs as never;
  }

  /** Space of one environment's observations. */
  get observationSpace(): Space {
    return this.env.observationSpace;
  }

  /** Space of one environment's actions. */
  get actionSpace(): E["actionSpace"] {
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

  /** Steps per second at which images look as fast as what they show, if known. */
  get framesPerSecond(): number | undefined {
    return (this.env as Env).framesPerSecond;
  }

  /**
   * Actions that the newest observations allow, where some are masked: an array of a
   * vector environment, a function that returns it of a single one.
   */
  get actionMasks():
    | (E extends VecEnv ? Uint8Array : () => Uint8Array)
    | undefined {
    const env: Env | VecEnv = this.env;
    const masks = isVector(env)
      ? env.actionMasks
      : env.actionMasks && (() => env.actionMasks!());
    return masks as never;
  }

  /**
   * Changes the actions of a step.
   *
   * @param actions One action for each environment; the one of a single environment.
   * @returns Those that the environment inside gets.
   */
  protected changeActions?(actions: Batch): Batch;

  /**
   * Changes the first observations of episodes.
   *
   * @param observations Observations of all environments; the one of a single
   * environment.
   * @returns The new ones.
   */
  protected changeReset?(observations: Batch): Batch;

  /**
   * Changes a step. That of a single environment has one row, its observation itself
   * as `observations`, also at an end, and nothing as `finalObservations`; the first
   * of its `episodes` becomes `info.episode`.
   *
   * @param step Step whose fields are replaced; its arrays belong to the environment
   * inside.
   */
  protected changeStep?(step: MutableStep): void;

  /**
   * Starts an episode, of a vector in every environment.
   *
   * @param options Seed that restarts the random streams; of a vector, also one for
   * each.
   * @returns The first observations.
   * @throws {EnvDataError} If that of a single environment inside is not of its
   * space, bounds apart: a wrapper could hide it.
   */
  reset(
    options?: E extends VecEnv ? VecResetOptions : { seed?: number },
  ): O {
    const env: Env | VecEnv = this.env;
    const observations = env.reset(options as { seed?: number }) as Batch;
    if (!isVector(env)) this.#inside.check(observations, "reset");
    const changed = this.changeReset?.(observations) ?? observations;
    this.#changed = changed === observations ? undefined : changed;
    return changed as O;
  }

  /**
   * Takes one step, of a vector in every environment.
   *
   * @param actions Action to take, of a vector one for each environment.
   * @returns The step's result.
   * @throws {EnvDataError} If that of a single environment inside is wrong data,
   * bounds apart.
   */
  step(actions: ActionsOf<E>): StepOf<E, O> {
    const env: Env | VecEnv = this.env, given = actions as Batch;
    const taken = this.changeActions?.(given) ?? given;
    return (isVector(env)
      ? this.#stepAll(env, taken)
      : this.#stepOne(env, taken as SpaceValue)) as never;
  }

  #stepAll(env: VecEnv, actions: Batch): VecStep {
    const inner = env.step(actions);
    if (this.changeStep === undefined) return inner;
    const { observations } = inner, step = relay(inner, this.#out);
    this.changeStep(step);
    const changed = step.observations;
    this.#changed = changed === observations ? undefined : changed;
    return step;
  }

  #stepOne(env: Env, action: SpaceValue): StepResult {
    const result = this.#inside.result(env.step(action));
    this.#inside.check(result.observation, "step");
    if (this.changeStep === undefined) return result;
    const step = this.#asRow(result);
    this.changeStep(step);
    const changed = {
      ...result,
      observation: step.observations as SpaceValue,
      reward: step.rewards[0],
      terminated: step.terminated[0] !== 0,
      truncated: step.truncated[0] !== 0,
    };
    const ended = step.episodes?.[0];
    if (ended === undefined) return changed;
    const episode = { return: ended.return, length: ended.length };
    return { ...changed, info: { ...result.info, episode } };
  }

  #asRow(result: StepResult): MutableStep {
    const step = this.#out, row = this.#row ??= oneRow();
    row.rewards[0] = result.reward;
    row.terminated[0] = Number(result.terminated);
    row.truncated[0] = Number(result.truncated);
    step.observations = result.observation as Batch;
    step.rewards = row.rewards;
    step.terminated = row.terminated;
    step.truncated = row.truncated;
    step.episodes = undefined;
    return step;
  }

  get #inside(): EnvData {
    return this.#data ??= new EnvData(this.env.observationSpace, {
      id: this.spec?.id,
      looseBounds: true,
    });
  }

  /**
   * Returns the latest observations of a vector environment, also after `load`.
   *
   * @returns The batch.
   */
  observations(): E extends VecEnv ? O : never {
    return (this.#changed ?? (this.env as VecEnv).observations()) as never;
  }

  /** Changed observations that nothing but `save` keeps. */
  get #unkept(): Batch | undefined {
    const { observations } = Wrapper.prototype;
    return isVector(this.env) && this.observations === observations
      ? this.#changed
      : undefined;
  }

  /**
   * Draws the current state of a single environment.
   *
   * @param options Size of the picture.
   * @returns The picture.
   */
  render(options?: RenderOptions): E extends VecEnv ? never : RgbImage {
    return (this.env as Env).render(options) as never;
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
   * @param _state State that {@linkcode Wrapper.ownState} returned.
   */
  protected loadOwnState(_state: StateTree): void {}

  /**
   * Saves the whole state, that of what is inside included.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    const changed = this.#unkept;
    return {
      own: this.ownState(),
      env: this.env.save(),
      ...(changed && { observations: cloneBatch(changed) as StateTree }),
    };
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
    const { observations } = snapshot as Record<string, StateTree>;
    this.#changed = observations === undefined
      ? undefined
      : cloneBatch(observations as Batch);
  }

  /** Frees the resources of what is inside. */
  close(): void {
    this.env.close();
  }
}
