import { discrete } from "../spaces/constructors.ts";
import { renderBars, ToyEnv, type ToyRules } from "./toy_env.ts";

/** Settings of {@linkcode ChainEnv}. */
export interface ChainOptions {
  /**
   * Number of steps.
   *
   * @default 10
   */
  length?: number;
  /**
   * Go round and round, so that only a time limit cuts it off.
   *
   * @default false
   */
  endless?: boolean;
}

function checkLength(length: number): void {
  if (Number.isInteger(length) && length >= 1) return;
  throw new RangeError(
    `Cannot make a chain of ${length} steps: expected a whole number of at least 1`,
  );
}

function chainRules(
  { length, endless }: Required<ChainOptions>,
): ToyRules<number, number> {
  let position = 0;
  // The last position of a chain that ends is an observation, too.
  const places = endless ? length : length + 1;
  return {
    observationSpace: discrete(places),
    actionSpace: discrete(2),
    begin: () => position = 0,
    advance: () => {
      position++;
      if (endless) position %= length;
      return {
        observation: position,
        reward: 1,
        terminated: position === length,
        truncated: false,
      };
    },
    saveRules: () => position,
    loadRules: (state) => void (position = state as number),
    draw: (options) => {
      const heights = Array(places).fill(0.2).with(position, 0.6);
      return renderBars(heights, { ...options, marked: position });
    },
  };
}

/**
 * Steps on a chain, each of reward 1 whatever the action. It ends after `length`
 * steps, or never; the observation is the position. Its values are known
 * ({@linkcode chainValue}), and an endless one keeps its value wherever a time
 * limit cuts it off, which shows if truncation and termination are kept apart.
 *
 * @example
 * ```ts
 * import { ChainEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new ChainEnv({ length: 2 });
 * assertEquals(env.reset({ seed: 0 }), 0);
 * assertEquals(env.step(0).terminated, false);
 * assertEquals(env.step(1).terminated, true);
 * ```
 */
export class ChainEnv extends ToyEnv<number, number> {
  /** Number of steps. */
  readonly length: number;
  /** True where it never ends. */
  readonly endless: boolean;

  /**
   * Makes an environment that has not been reset.
   *
   * @param options Length and end of the chain.
   * @throws {RangeError} If the length is not a whole number of at least 1.
   */
  constructor(options: ChainOptions = {}) {
    const { length = 10, endless = false } = options;
    checkLength(length);
    super(chainRules({ length, endless }));
    this.length = length;
    this.endless = endless;
  }
}

/**
 * Computes the value of a position on a chain: `(1 - gamma^n) / (1 - gamma)` with `n` steps
 * to go, `1 / (1 - gamma)` on an endless one.
 *
 * @param position Position on the chain, from 0 on.
 * @param options Chain and discount.
 * @returns The discounted sum of the rewards to come; `Infinity` on an endless
 * chain without discount.
 * @throws {RangeError} If the length is not a whole number of at least 1.
 * @example
 * ```ts
 * import { chainValue } from "@bellman/envs";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * assertAlmostEquals(chainValue(0, { length: 2, gamma: 0.5 }), 1.5);
 * assertAlmostEquals(chainValue(0, { endless: true, gamma: 0.9 }), 10);
 * ```
 */
export function chainValue(
  position: number,
  options: ChainOptions & { gamma: number },
): number {
  const { length = 10, endless = false, gamma } = options;
  checkLength(length);
  if (endless) return 1 / (1 - gamma);
  const left = Math.max(0, length - position);
  return gamma === 1 ? left : (1 - gamma ** left) / (1 - gamma);
}
