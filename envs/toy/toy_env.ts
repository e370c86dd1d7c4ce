import { checkAction } from "../_check_action.ts";
import type { Env, RenderOptions, RgbImage, StepResult } from "../env.ts";
import { DEFAULT_SEED, SeededRandom } from "../random.ts";
import { type Snapshot, snapshotRecord } from "../snapshot.ts";
import type { Space, SpaceValue } from "../space.ts";

/**
 * What the toy environments share: the random stream, and that a step outside of
 * an episode is refused.
 *
 * @example
 * ```ts
 * import { ChainEnv, ToyEnv } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * assert(new ChainEnv() instanceof ToyEnv);
 * ```
 */
export abstract class ToyEnv<
  O extends SpaceValue = SpaceValue,
  A extends SpaceValue = SpaceValue,
> implements Env<O, A> {
  /** What observations can be. */
  readonly observationSpace: Space;
  /** What actions can be. */
  readonly actionSpace: Space;

  #random: SeededRandom | undefined;
  #isRunning = false;

  /**
   * An environment that has not been reset.
   *
   * @param spaces What can be seen and done.
   */
  constructor(spaces: { observationSpace: Space; actionSpace: Space }) {
    this.observationSpace = spaces.observationSpace;
    this.actionSpace = spaces.actionSpace;
  }

  /** Starts an episode: returns the first observation. */
  protected abstract begin(random: SeededRandom): O;
  /** Takes one step. */
  protected abstract advance(action: A, random: SeededRandom): StepResult<O>;
  /** The environment's own part of a snapshot. */
  protected abstract ownState(): Snapshot;
  /** Goes on from its own part of a snapshot. */
  protected abstract loadOwnState(state: Snapshot): void;

  /**
   * Starts an episode.
   *
   * @param options A seed starts the random stream anew.
   * @returns The first observation.
   * @throws {RangeError} If the seed is not a whole number of at least 0.
   */
  reset(options: { seed?: number } = {}): O {
    if (options.seed !== undefined) {
      this.#random = new SeededRandom(options.seed);
    }
    this.#random ??= new SeededRandom(DEFAULT_SEED);
    this.#isRunning = true;
    return this.begin(this.#random);
  }

  /**
   * Takes one step.
   *
   * @param action What to do.
   * @returns What came of it; never truncated.
   * @throws {RangeError} If the action is not of the action space.
   * @throws {Error} If no episode is under way.
   */
  step(action: A): StepResult<O> {
    checkAction(this.actionSpace, action);
    if (!this.#isRunning) {
      throw new Error(
        `Cannot step ${this.constructor.name} as no episode is under way: call reset first`,
      );
    }
    const result = this.advance(action, this.#random!);
    this.#isRunning = !result.terminated;
    return result;
  }

  /**
   * State and random stream.
   *
   * @returns Plain data that later steps do not change.
   */
  snapshot(): Snapshot {
    return {
      own: this.ownState(),
      isRunning: this.#isRunning,
      random: this.#random?.save() ?? null,
    };
  }

  /**
   * Goes on exactly from a snapshot.
   *
   * @param snapshot What `snapshot` returned.
   * @throws {TypeError} If it is no snapshot of such an environment.
   */
  restore(snapshot: Snapshot): void {
    const { own, isRunning, random } = snapshotRecord(snapshot, [
      "own",
      "isRunning",
      "random",
    ]);
    this.loadOwnState(own);
    this.#isRunning = isRunning as boolean;
    this.#random = random === null ? undefined : new SeededRandom(0);
    this.#random?.load(random);
  }

  /**
   * Draws the present state.
   *
   * @param options The picture's size.
   * @returns The picture.
   */
  abstract render(options?: RenderOptions): RgbImage;

  /** Does nothing: nothing is held. */
  close(): void {}
}
