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
import { Canvas, type Color, type Point, rectangle } from "../render/canvas.ts";
import { snapshotRecord } from "../snapshot.ts";
import { checkAction } from "../spaces/_action_rows.ts";

/** Rules of a toy environment, which keep its state. */
export interface ToyRules<
  O extends SpaceValue = SpaceValue,
  A extends SpaceValue = SpaceValue,
> {
  /** Space of observations. */
  readonly observationSpace: Space;
  /** Space of actions. */
  readonly actionSpace: Space;
  /** Starts an episode and returns the first observation. */
  begin(random: SeededRandom): O;
  /** Takes one step. */
  advance(action: A, random: SeededRandom): StepResult<O>;
  /** Saves the state. */
  saveRules(): StateTree;
  /** Restores a state. */
  loadRules(state: StateTree): void;
  /** Draws the present state. */
  draw(options?: RenderOptions): RgbImage;
}

/**
 * An environment of simple rules, which keeps the random stream and refuses steps
 * outside of an episode.
 *
 * @example
 * ```ts
 * import { ChainEnv, ToyEnv } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * assert(new ChainEnv() instanceof ToyEnv);
 * ```
 */
export class ToyEnv<
  O extends SpaceValue = SpaceValue,
  A extends SpaceValue = SpaceValue,
> implements Env<O, A> {
  /** Space of observations. */
  readonly observationSpace: Space;
  /** Space of actions. */
  readonly actionSpace: Space;

  #rules: ToyRules<O, A>;
  #random: SeededRandom | undefined;
  #isRunning = false;

  /**
   * Makes an environment that has not been reset.
   *
   * @param rules Rules to follow.
   */
  constructor(rules: ToyRules<O, A>) {
    this.#rules = rules;
    this.observationSpace = rules.observationSpace;
    this.actionSpace = rules.actionSpace;
  }

  /**
   * Starts an episode.
   *
   * @param options Seed that restarts the random stream.
   * @returns The first observation.
   * @throws {RangeError} If the seed is not a whole number of at least 0.
   */
  reset(options: { seed?: number } = {}): O {
    if (options.seed !== undefined) {
      this.#random = new SeededRandom(options.seed);
    }
    this.#random ??= new SeededRandom(DEFAULT_SEED);
    this.#isRunning = true;
    return this.#rules.begin(this.#random);
  }

  /**
   * Takes one step.
   *
   * @param action Action to take.
   * @returns The step's result; never truncated.
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
    const result = this.#rules.advance(action, this.#random!);
    this.#isRunning = !result.terminated;
    return result;
  }

  /**
   * Saves state and random stream.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    return {
      own: this.#rules.saveRules(),
      isRunning: this.#isRunning,
      random: this.#random?.save() ?? null,
    };
  }

  /**
   * Restores a snapshot.
   *
   * @param snapshot Snapshot that `save` returned.
   * @throws {TypeError} If it is no snapshot of such an environment.
   */
  load(snapshot: StateTree): void {
    const keys = ["own", "isRunning", "random"];
    const { own, isRunning, random } = snapshotRecord(snapshot, keys);
    this.#rules.loadRules(own);
    this.#isRunning = isRunning as boolean;
    this.#random = random === null ? undefined : new SeededRandom(0);
    this.#random?.load(random);
  }

  /**
   * Draws the present state.
   *
   * @param options Size of the picture.
   * @returns The picture.
   */
  render(options?: RenderOptions): RgbImage {
    return this.#rules.draw(options);
  }

  /** Does nothing, as there is nothing to free. */
  close(): void {}
}

const BLACK: Color = [0, 0, 0];
const PLAIN: Color = [160, 170, 190];
const MARKED: Color = [204, 77, 77];

const VIEW: Point = [400, 200];
const MIDDLE = VIEW[1] / 2;

/** Draws numbers from -1 to 1 as bars, one of them marked. */
export function renderBars(
  heights: readonly number[],
  { width = 400, height = 200, marked = -1 }: RenderOptions & {
    marked?: number;
  } = {},
): RgbImage {
  const canvas = new Canvas({ width, height, view: VIEW });
  const room = VIEW[0] / heights.length;
  heights.forEach((it, i) => {
    const top = Math.min(Math.max(it, -1), 1) * MIDDLE * 0.9;
    const at: Point = [room * (i + 0.5), MIDDLE];
    const bar = rectangle({ at, x: [-room / 3, room / 3], y: [0, top] });
    canvas.fillPolygon(bar, i === marked ? MARKED : PLAIN);
  });
  canvas.strokeLine([[0, MIDDLE], [VIEW[0], MIDDLE]], { color: BLACK });
  return canvas.image();
}
