import { checkOptions, OBJECT } from "@bellman/files/options";
import type {
  ActionsOf,
  Env,
  EnvSpec,
  ObservationsOf,
  StateTree,
} from "@bellman/types";
import { checkStepLimit } from "../_checks.ts";
import { snapshotRecord } from "../snapshot.ts";
import { type StepOf, Wrapper } from "./wrapper.ts";

/** Settings of {@linkcode TimeLimit}. */
export interface TimeLimitOptions {
  /**
   * Facts about the limited environment.
   *
   * @default that of the environment inside, with this limit
   */
  spec?: EnvSpec;
}

/**
 * Truncates an episode after a number of steps. If the last step terminates it,
 * both flags are set.
 *
 * @typeParam E Environment inside.
 *
 * @example
 * ```ts
 * import { ChainEnv, TimeLimit } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new TimeLimit(new ChainEnv({ length: 10 }), 2);
 * env.reset({ seed: 0 });
 * assertEquals(env.step(0).truncated, false);
 * const { terminated, truncated } = env.step(0);
 * assertEquals([terminated, truncated], [false, true]);
 * ```
 */
export class TimeLimit<E extends Env = Env> extends Wrapper<E> {
  /** Steps after which an episode is truncated. */
  readonly maxEpisodeSteps: number;
  #spec: EnvSpec | undefined;
  #steps = 0;

  /**
   * Limits an environment.
   *
   * @param env Environment inside.
   * @param maxEpisodeSteps Steps of the longest episode; `Infinity` for no limit.
   * @param options Facts about the limited environment.
   * @throws {RangeError} If the limit is not a whole number of at least 1.
   */
  constructor(
    env: E,
    maxEpisodeSteps: number,
    options: TimeLimitOptions = {},
  ) {
    super(env);
    checkOptions("a time limit", options, { spec: OBJECT });
    checkStepLimit(maxEpisodeSteps);
    this.maxEpisodeSteps = maxEpisodeSteps;
    this.#spec = options.spec ?? (env.spec && { ...env.spec, maxEpisodeSteps });
  }

  /** Facts about the limited environment. */
  override get spec(): EnvSpec | undefined {
    return this.#spec;
  }

  /**
   * Starts an episode.
   *
   * @param options Seed that restarts the random stream.
   * @returns The first observation.
   */
  override reset(options?: { seed?: number }): ObservationsOf<E> {
    this.#steps = 0;
    return super.reset(options as never);
  }

  /**
   * Takes one step, truncated if it was the last one allowed.
   *
   * @param action Action to take.
   * @returns The step's result.
   */
  override step(action: ActionsOf<E>): StepOf<E, ObservationsOf<E>> {
    const result = super.step(action);
    return ++this.#steps < this.maxEpisodeSteps
      ? result
      : { ...result, truncated: true };
  }

  /**
   * Saves the number of steps so far.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return { steps: this.#steps };
  }

  /**
   * Restores a number of steps.
   *
   * @param state State that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    this.#steps = snapshotRecord(state, ["steps"]).steps as number;
  }
}
