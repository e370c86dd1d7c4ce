import type {
  Env,
  RenderOptions,
  RgbImage,
  SpaceValue,
  StepResult,
} from "@bellman/types";
import { Wrapper } from "../../wrappers/wrapper.ts";

/** Clock that measures time and waits. */
export interface Clock {
  /** Milliseconds since any point in time. */
  now(): number;
  /** Waits for so many milliseconds. */
  wait(milliseconds: number): void;
}

/** Settings of {@linkcode Render}. */
export interface RenderStepsOptions {
  /**
   * Pictures a second at most; the thread waits where steps are faster.
   *
   * @default Infinity
   */
  framesPerSecond?: number;
  /**
   * The pictures' size.
   *
   * @default the environment's own
   */
  picture?: RenderOptions;
  /**
   * Clock that measures time and waits.
   *
   * @default the machine's clock
   */
  clock?: Clock;
}

const MACHINE_CLOCK: Clock = {
  now: () => performance.now(),
  wait(milliseconds) {
    const nobody = new Int32Array(new SharedArrayBuffer(4));
    Atomics.wait(nobody, 0, 0, milliseconds);
  },
};

/**
 * Draws each reset and each step and hands the picture on, at a steady rate.
 *
 * `RenderWrapper` of jrobine/actor-critic.
 *
 * @example
 * ```ts
 * import { Render } from "@bellman/envs/atari";
 * import { make } from "@bellman/envs";
 * import type { RgbImage } from "@bellman/types";
 * import { assertEquals } from "@std/assert";
 *
 * const pictures: RgbImage[] = [];
 * const env = new Render(make("CartPole-v1"), (it) => pictures.push(it));
 * env.reset({ seed: 0 });
 * env.step(1);
 * assertEquals(pictures.length, 2);
 * ```
 */
export class Render extends Wrapper {
  #show: (picture: RgbImage) => void;
  #picture: RenderOptions | undefined;
  #interval: number;
  #clock: Clock;
  #due = -Infinity;

  /**
   * Wraps an environment.
   *
   * @param env The environment inside.
   * @param show Function that gets each picture.
   * @param options Rate and size of the pictures.
   * @throws {RangeError} If the rate is not above 0.
   */
  constructor(
    env: Env,
    show: (picture: RgbImage) => void,
    options: RenderStepsOptions = {},
  ) {
    super(env);
    const { framesPerSecond = Infinity, picture } = options;
    if (!(framesPerSecond > 0)) {
      throw new RangeError(
        `Cannot show ${framesPerSecond} pictures a second: expected a number above 0`,
      );
    }
    this.#show = show;
    this.#picture = picture;
    this.#interval = 1000 / framesPerSecond;
    this.#clock = options.clock ?? MACHINE_CLOCK;
  }

  /**
   * Starts an episode and draws it.
   *
   * @param options A seed restarts the random stream.
   * @returns The first observation.
   */
  override reset(options?: { seed?: number }): SpaceValue {
    const observation = super.reset(options);
    this.#draw();
    return observation;
  }

  /**
   * Takes one step and draws it.
   *
   * @param action The action.
   * @returns The step's result.
   */
  override step(action: SpaceValue): StepResult {
    const result = super.step(action);
    this.#draw();
    return result;
  }

  #draw(): void {
    const early = this.#due - this.#clock.now();
    if (early > 0) this.#clock.wait(early);
    this.#show(this.render(this.#picture));
    // What is late is not made up for: pictures would rush.
    this.#due = Math.max(this.#due, this.#clock.now()) + this.#interval;
  }
}
