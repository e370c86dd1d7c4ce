import { discrete } from "../spaces/constructors.ts";
import { renderBars, ToyEnv, type ToyRules } from "./toy_env.ts";

/** Settings of {@linkcode BanditEnv}. */
export interface BanditOptions {
  /**
   * Mean reward of each arm.
   *
   * @default [0.1, 0.5, 0.9]
   */
  means?: readonly number[];
  /**
   * Standard deviation of the rewards around their mean; 0 for rewards that
   * are always the mean.
   *
   * @default 0
   */
  deviation?: number;
}

function checkBandit(
  { means = [0.1, 0.5, 0.9], deviation = 0 }: BanditOptions,
): Required<BanditOptions> {
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
  return { means: [...means], deviation };
}

function banditRules(
  { means, deviation }: Required<BanditOptions>,
): ToyRules<number, number> {
  let pulled = -1;
  const most = Math.max(1e-9, ...means.map(Math.abs));
  const heights = means.map((mean) => mean / most);
  return {
    observationSpace: discrete(1),
    actionSpace: discrete(means.length),
    begin: () => {
      pulled = -1;
      return 0;
    },
    advance: (action, random) => {
      pulled = action;
      const noise = deviation === 0 ? 0 : deviation * random.normal();
      const reward = means[action] + noise;
      return { observation: 0, reward, terminated: true, truncated: false };
    },
    saveRules: () => pulled,
    loadRules: (state) => void (pulled = state as number),
    draw: (options) => renderBars(heights, { ...options, marked: pulled }),
  };
}

/**
 * Arms with rewards of their own; each episode is one pull. The observation is
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
  /** Mean reward of each arm. */
  readonly means: readonly number[];
  /** Standard deviation of the rewards. */
  readonly deviation: number;

  /**
   * Makes an environment that has not been reset.
   *
   * @param options Means and deviation.
   * @throws {RangeError} If there is no arm, a mean is not finite, or the
   * deviation is negative or not finite.
   */
  constructor(options: BanditOptions = {}) {
    const checked = checkBandit(options);
    super(banditRules(checked));
    this.means = checked.means;
    this.deviation = checked.deviation;
  }
}
