import { checkAction } from "../_check_action.ts";
import type {
  Env,
  RenderOptions,
  RgbImage,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
} from "@bellman/types";
import { DEFAULT_SEED, SeededRandom } from "../random.ts";
import { snapshotRecord } from "../snapshot.ts";
import type { Dynamics } from "./dynamics.ts";

/**
 * One environment with the rules of a {@linkcode Dynamics}, without a time
 * limit. Without any seed, its first states differ from run to run.
 *
 * @example
 * ```ts
 * import { CartPoleEnv, DynamicsEnv } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * assert(new CartPoleEnv() instanceof DynamicsEnv);
 * ```
 */
export abstract class DynamicsEnv<A extends SpaceValue = SpaceValue>
  implements Env<Float32Array, A> {
  /** What observations can be. */
  readonly observationSpace: Space;
  /** What actions can be. */
  readonly actionSpace: Space;
  /** The state's numbers; changed in place by each step. */
  readonly state: Float64Array;
  /** The last action of the episode; NaN before the first one. */
  protected lastAction: number = NaN;

  #dynamics: Dynamics;
  #random: SeededRandom | undefined;
  #status: "new" | "running" | "ended" = "new";

  /**
   * Follows some rules.
   *
   * @param dynamics The rules.
   */
  constructor(dynamics: Dynamics) {
    this.#dynamics = dynamics;
    this.observationSpace = dynamics.observationSpace;
    this.actionSpace = dynamics.actionSpace;
    this.state = new Float64Array(dynamics.stateSize);
  }

  /**
   * Starts an episode.
   *
   * @param options A seed starts the random stream anew.
   * @returns The first observation.
   * @throws {RangeError} If the seed is not a whole number of at least 0.
   */
  reset(options: { seed?: number } = {}): Float32Array {
    if (options.seed !== undefined) {
      this.#random = new SeededRandom(options.seed);
    }
    this.#random ??= new SeededRandom(DEFAULT_SEED);
    this.#dynamics.reset(this.state, 0, this.#random);
    this.#status = "running";
    this.lastAction = NaN;
    return this.#observation();
  }

  /**
   * Puts the environment into a state, in the midst of an episode.
   *
   * @param values The state's numbers.
   * @throws {RangeError} If there are too few or too many, or one is not finite.
   */
  setState(values: ArrayLike<number>): void {
    const given = Float64Array.from(values);
    if (given.length !== this.state.length || !given.every(Number.isFinite)) {
      throw new RangeError(
        `Cannot set the state to [${given}]: expected ${this.state.length} finite numbers`,
      );
    }
    this.state.set(given);
    this.#status = "running";
    this.lastAction = NaN;
  }

  /**
   * Takes one step.
   *
   * @param action What to do.
   * @returns What came of it; never truncated.
   * @throws {RangeError} If the action is not of the action space.
   * @throws {Error} If no episode is under way.
   */
  step(action: A): StepResult<Float32Array> {
    checkAction(this.actionSpace, action);
    if (this.#status !== "running") {
      const why = this.#status === "new"
        ? "has not begun"
        : "ended in the step before";
      throw new Error(
        `Cannot step ${this.#dynamics.name} as its episode ${why}: call reset first`,
      );
    }
    const value = typeof action === "number"
      ? action
      : (action as Float32Array)[0];
    const reward = this.#dynamics.step(this.state, 0, value);
    const terminated = this.#dynamics.hasEnded(this.state, 0);
    this.lastAction = value;
    if (terminated) this.#status = "ended";
    const observation = this.#observation();
    return { observation, reward, terminated, truncated: false };
  }

  #observation(): Float32Array {
    const [size] = this.#dynamics.observationSpace.shape;
    const values = new Float32Array(size);
    this.#dynamics.observe(this.state, 0, { values, at: 0 });
    return values;
  }

  /**
   * State and random stream.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    return {
      state: this.state.slice(),
      status: this.#status,
      // NaN has no place in JSON.
      lastAction: Number.isNaN(this.lastAction) ? null : this.lastAction,
      random: this.#random?.save() ?? null,
    };
  }

  /**
   * Goes on exactly from a snapshot.
   *
   * @param snapshot What `save` returned.
   * @throws {TypeError} If it is no snapshot of such an environment.
   */
  load(snapshot: StateTree): void {
    const { state, status, lastAction, random } = snapshotRecord(snapshot, [
      "state",
      "status",
      "lastAction",
      "random",
    ]);
    const { length } = this.state;
    if (!(state instanceof Float64Array) || state.length !== length) {
      throw new TypeError(
        `Cannot restore ${this.#dynamics.name}: expected a state of ${length} numbers`,
      );
    }
    this.state.set(state);
    this.#status = status as "new" | "running" | "ended";
    this.lastAction = lastAction === null ? NaN : lastAction as number;
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
