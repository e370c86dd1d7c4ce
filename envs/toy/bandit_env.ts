import type { RenderOptions, RgbImage, StepResult } from "../env.ts";
import type { SeededRandom } from "../random.ts";
import type { Snapshot } from "../snapshot.ts";
import { discrete } from "../space_constructors.ts";
import { renderBars } from "./render_bars.ts";
import { ToyEnv } from "./toy_env.ts";

/**
 * Settings of {@linkcode BanditEnv}.
 *
 * @example
 * ```ts
 * import { BanditEnv, type BanditOptions } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const options: BanditOptions = { means: [0, 1, 0.5] };
 * assertEquals(new BanditEnv(options).actionSpace, { type: "discrete", n: 3 });
 * ```
 */
export interface BanditOptions {
  /**
   * The mean reward of each arm.
   *
   * @default [0.1, 0.5, 0.9]
   */
  means?: readonly number[];
  /**
   * The standard deviation of the rewards around their mean; 0 for rewards that
   * are always the mean.
   *
   * @default 0
   */
  deviation?: number;
}

/**
 * Arms with rewards of their own; each episode is one pull. What is seen is
 * always 0.
 *
 * @example
 * ```ts
 * import { BanditEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new BanditEnv({ means: [0, 2] });
 * env.reset({ seed: 0 });
 * const { reward, terminated } = env.step(1);
 * assertEquals([reward, terminated], [2, true]);
 * ```
 */
export class BanditEnv extends ToyEnv<number, number> {
  /** The mean reward of each arm. */
  readonly means: readonly number[];
  /** The standard deviation of the rewards. */
  readonly deviation: number;
  #pulled = -1;

  /**
   * Makes one.
   *
   * @param options Means and deviation.
   * @throws {RangeError} If there is no arm, a mean is not finite, or the
   * deviation is negative or not finite.
   */
  constructor(options: BanditOptions = {}) {
    const { means = [0.1, 0.5, 0.9], deviation = 0 } = options;
    if (means.length === 0 || !means.every(Number.isFinite)) {
      throw new RangeError(
        `Cannot make a bandit of means [${means}]: expected at least one, all finite`,
      );
    }
    if (!(deviation >= 0 && deviation < Infinity)) {
      throw new RangeError(
        `Cannot make a bandit of deviation ${deviation}: expected a number of at least 0`,
      );
    }
    super({
      observationSpace: discrete(1),
      actionSpace: discrete(means.length),
    });
    this.means = [...means];
    this.deviation = deviation;
  }

  /** Shows nothing. */
  protected override begin(): number {
    this.#pulled = -1;
    return 0;
  }

  /** Pulls an arm. */
  protected override advance(
    action: number,
    random: SeededRandom,
  ): StepResult<number> {
    this.#pulled = action;
    const noise = this.deviation === 0 ? 0 : this.deviation * random.normal();
    const reward = this.means[action] + noise;
    return { observation: 0, reward, terminated: true, truncated: false };
  }

  /** Which arm was pulled. */
  protected override ownState(): Snapshot {
    return this.#pulled;
  }

  /** Goes on after a pull. */
  protected override loadOwnState(state: Snapshot): void {
    this.#pulled = state as number;
  }

  /**
   * Draws the means as bars, that of the pulled arm in red.
   *
   * @param options The picture's size; 400 by 200 pixels without one.
   * @returns The picture.
   */
  override render(options?: RenderOptions): RgbImage {
    const most = Math.max(1e-9, ...this.means.map(Math.abs));
    const heights = this.means.map((mean) => mean / most);
    return renderBars(heights, { ...options, marked: this.#pulled });
  }
}
