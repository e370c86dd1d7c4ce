import type {
  Env as EnvInterface,
  RenderOptions,
  RgbImage,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
} from "@bellman/types";
import { checkReset, DEFAULT_SEED, SeededRandom } from "../random.ts";
import { Canvas, type Color } from "../render/canvas.ts";
import { snapshotFault, snapshotRecord } from "../snapshot.ts";

/** Fields that are no state. */
const SPACES: ReadonlySet<string> = new Set([
  "observationSpace",
  "actionSpace",
  "spec",
  "stackedFrames",
]);

const BAR: Color = [70, 110, 180];
const AXIS: Color = [200, 200, 200];
/** Most numbers that are drawn. */
const BARS = 64;

/**
 * Base of a custom environment, which is its spaces, `reset` and `step`. The
 * state is kept in fields of plain data (numbers, texts, booleans, typed arrays,
 * lists and records of them; `private` of TypeScript, not `#names`), which `save`
 * and `load` copy with the random stream.
 *
 * @typeParam O Observations.
 * @typeParam A Actions.
 *
 * @example
 * ```ts
 * import { box, checkEnv, discrete, Env } from "@bellman/envs";
 *
 * class Guess extends Env<Float32Array, number> {
 *   observationSpace = box({ low: 0, high: 1, shape: [1] });
 *   actionSpace = discrete(2);
 *   private hint = 0;
 *
 *   reset(options?: { seed?: number }) {
 *     this.seed(options);
 *     return this.next();
 *   }
 *
 *   step(action: number) {
 *     const reward = action === this.hint ? 1 : 0;
 *     return { observation: this.next(), reward, terminated: false, truncated: false };
 *   }
 *
 *   private next() {
 *     this.hint = this.random.integer(2);
 *     return Float32Array.of(this.hint);
 *   }
 * }
 * checkEnv(new Guess());
 * ```
 */
export abstract class Env<
  O extends SpaceValue = SpaceValue,
  A extends SpaceValue = SpaceValue,
> implements EnvInterface<O, A> {
  /** Space of observations. */
  abstract readonly observationSpace: Space;
  /** Space of actions. */
  abstract readonly actionSpace: Space;

  #random = new SeededRandom(DEFAULT_SEED);

  /** Random stream of the environment; `Math.random` could not be saved. */
  protected get random(): SeededRandom {
    return this.#random;
  }

  /**
   * Restarts the random stream where a seed is given: the first line of `reset`.
   *
   * @param options Options of `reset`.
   */
  protected seed(options: { seed?: number } = {}): void {
    checkReset(options);
    const { seed } = options;
    if (seed !== undefined) this.#random = new SeededRandom(seed);
  }

  /**
   * Starts an episode.
   *
   * @param options Seed, for {@linkcode Env.seed}, and parameters of the episode where
   * some are set.
   * @returns The first observation, a new value.
   */
  abstract reset(
    options?: { seed?: number; parameters?: Readonly<Record<string, unknown>> },
  ): O;

  /**
   * Takes one step; after a termination it throws until `reset`.
   *
   * @param action Action.
   * @returns Observation, reward and ends.
   */
  abstract step(action: A): StepResult<O>;

  /**
   * Saves all fields and the random stream.
   *
   * @returns A copy.
   * @throws {TypeError} If a field is not plain data.
   */
  save(): StateTree {
    const fields: Record<string, StateTree> = {};
    for (const [name, value] of this.#fields()) {
      const fault = snapshotFault(value);
      if (fault !== undefined) {
        throw new TypeError(
          `Cannot save ${this.constructor.name}: its field '${name}' has ${fault.got}, expected ${fault.wanted}; or write save and load for it`,
        );
      }
      fields[name] = structuredClone(value) as StateTree;
    }
    return { fields, random: this.#random.save() };
  }

  /** Lists the fields of the state: null is one that is not set. */
  #fields(): [string, unknown][] {
    return Object.entries(this)
      .filter(([name, it]) => !SPACES.has(name) && typeof it !== "function")
      .map(([name, it]) => [name, it ?? null]);
  }

  /**
   * Restores what {@linkcode Env.save} returned.
   *
   * @param state The saved state.
   * @throws {TypeError} If it is not the state of such an environment.
   */
  load(state: StateTree): void {
    const { fields, random } = snapshotRecord(state, ["fields", "random"]);
    const saved = snapshotRecord(fields, this.#fields().map(([name]) => name));
    this.#random.load(random);
    Object.assign(this, structuredClone(saved));
  }

  /**
   * Draws the numbers of the fields as bars up and down from a line; an
   * environment of your own draws something better with `Canvas`.
   *
   * @param options Size of the picture.
   * @returns The picture.
   */
  render({ width = 200, height = 200 }: RenderOptions = {}): RgbImage {
    const canvas = new Canvas({ width, height, view: [1, 1] });
    const { fields } = this.save() as Record<string, StateTree>;
    const numbers = numbersIn(fields).slice(0, BARS);
    const side = 1 / Math.max(1, numbers.length);
    canvas.strokeLine([[0, 0.5], [1, 0.5]], { color: AXIS, width: 0.01 });
    numbers.forEach((value, i) => {
      // All numbers have a place between the edges.
      const top = 0.5 + 0.45 * value / (1 + Math.abs(value));
      const [left, right] = [(i + 0.15) * side, (i + 0.85) * side];
      canvas.fillPolygon(
        [[left, 0.5], [right, 0.5], [right, top], [left, top]],
        BAR,
      );
    });
    return canvas.image();
  }

  /** Frees nothing. */
  close(): void {}
}

function numbersIn(tree: StateTree): number[] {
  if (typeof tree === "number") return Number.isFinite(tree) ? [tree] : [];
  if (typeof tree === "boolean") return [Number(tree)];
  if (tree === null || typeof tree !== "object") return [];
  return Object.values(tree).flatMap((it) => numbersIn(it as StateTree));
}
