import { checkOptions, type OptionKind } from "@bellman/files/options";
import { outOfRange, POSITIVE } from "../models/_refuse.ts";
import type { Prediction } from "../models/model.ts";

/**
 * Exploration: turns a prediction into the chance of each action, in the same order. One
 * of your own may be such a function, too.
 */
export type Exploration = (prediction: Prediction) => Float64Array;

/**
 * Number that may change: a constant, or a function of the number of rewards that have
 * been learned (discounted, if the model discounts).
 */
export type Schedule = number | ((rewards: number) => number);

const PROBABILITY: OptionKind = [
  "number",
  "a number from 0 to 1",
  (it: number) => it >= 0 && it <= 1,
];
const SCHEDULE: OptionKind = [
  ["number", "function"],
  "a number of at least 0, or a function of the number of rewards",
  (it: Schedule) => typeof it === "function" || it >= 0 && it < Infinity,
];

function valueOf(schedule: Schedule, rewards: number): number {
  if (typeof schedule === "number") return schedule;
  const value = schedule(rewards);
  if (value >= 0 && value < Infinity) return value;
  throw outOfRange(`explore by a factor of ${value}`, "a number of at least 0");
}

function largestOf(numbers: Float64Array): number {
  let at = 0;
  for (let i = 1; i < numbers.length; i++) if (numbers[i] > numbers[at]) at = i;
  return at;
}

/**
 * Explores at random with a fixed chance: else it takes the largest expected reward;
 * equal ones share the chance.
 *
 * @param epsilon Chance to choose at random, from 0 to 1.
 * @returns The exploration.
 * @throws {RangeError} If it is not such a number.
 * @example
 * ```ts
 * import { arms, Bandit, epsilonGreedy } from "@bellman/bandits";
 * import { assertEquals } from "@std/assert";
 *
 * const bandit = new Bandit({
 *   actions: ["a", "b"],
 *   model: arms(),
 *   explore: epsilonGreedy(0.5),
 * });
 * bandit.learn({ action: "b", reward: 1 });
 * assertEquals([...bandit.chances()], [0.25, 0.75]);
 * ```
 */
export function epsilonGreedy(epsilon = 0.1): Exploration {
  checkOptions("an exploration", { epsilon }, { epsilon: PROBABILITY });
  return ({ means }) => {
    const most = means[largestOf(means)];
    const ties = means.reduce((n, it) => n + Number(it === most), 0);
    return means.map((it) =>
      epsilon / means.length + (it === most ? (1 - epsilon) / ties : 0)
    );
  };
}

/**
 * Explores with chances that grow with the expected reward: `exp(reward / temperature)`
 * over their sum.
 *
 * @param temperature Difference of rewards that makes an action e times as likely.
 * @returns The exploration.
 * @throws {RangeError} If it is not above 0.
 * @example
 * ```ts
 * import { arms, Bandit, softmax } from "@bellman/bandits";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const bandit = new Bandit({
 *   actions: ["a", "b"],
 *   model: arms({ lambda: 0 }),
 *   explore: softmax(0.5),
 * });
 * bandit.learn({ action: "b", reward: 1 });
 * const [a, b] = bandit.chances();
 * assertAlmostEquals(b / a, Math.E ** 2);
 * ```
 */
export function softmax(temperature: number): Exploration {
  checkOptions("an exploration", { temperature }, { temperature: POSITIVE });
  return ({ means }) => {
    const most = means[largestOf(means)];
    const powers = means.map((it) => Math.exp((it - most) / temperature));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((it) => it / sum);
  };
}

/** Options of {@linkcode squareCB}. */
export interface SquareCBOptions {
  /**
   * Weight of the gaps between expected rewards: a number is multiplied by the root of
   * the number of rewards, a function gives the whole weight.
   *
   * @default 10
   */
  gamma?: Schedule;
}

/**
 * Explores with chances inversely proportional to the gap between an action's expected
 * reward and the largest one (Abe and Long 1999, Foster and Rakhlin 2020). It needs no
 * deviations, so it is the fastest one for long contexts.
 *
 * @param options Weight of the gaps.
 * @returns The exploration.
 * @throws {TypeError} If an option is unknown.
 * @throws {RangeError} If the weight is below 0.
 * @example
 * ```ts
 * import { arms, Bandit, squareCB } from "@bellman/bandits";
 * import { assertEquals } from "@std/assert";
 *
 * const bandit = new Bandit({
 *   actions: ["a", "b"],
 *   model: arms({ lambda: 0 }),
 *   explore: squareCB({ gamma: 8 }),
 * });
 * bandit.learn({ action: "b", reward: 1 });
 * assertEquals([...bandit.chances()], [0.1, 0.9]);
 * ```
 */
export function squareCB(options: SquareCBOptions = {}): Exploration {
  checkOptions("an exploration", options, { gamma: SCHEDULE });
  const { gamma = 10 } = options;
  return ({ means, total }) => {
    const grow = typeof gamma === "number" ? Math.sqrt(total) : 1;
    const weight = grow * valueOf(gamma, total);
    const best = largestOf(means), most = means[best];
    const chances = means.map((it) =>
      1 / (means.length + weight * (most - it))
    );
    chances[best] = 0;
    chances[best] = 1 - chances.reduce((a, b) => a + b, 0);
    return chances;
  };
}

/** Options of {@linkcode thompson}. */
export interface ThompsonOptions {
  /**
   * Factor of the deviations: 1 is Thompson sampling as in the textbook. Lower explores
   * less: 0.5 earns more on average, but now and then stays with a worse action.
   *
   * @default 1
   */
  alpha?: Schedule;
}

/**
 * Explores by Thompson sampling: an action's chance is that its score, drawn from the
 * model's distribution, is the largest one. The chances are exact: scores count as
 * independent, and the integral of one density times the distribution functions of all
 * others is computed with an error below 1e-8. With a `shared` model, whose scores
 * depend on each other, this is a rule of its own with about the same regret.
 *
 * @param options Factor of the deviations.
 * @returns The exploration.
 * @throws {TypeError} If an option is unknown.
 * @throws {RangeError} If the factor is below 0.
 * @example
 * ```ts
 * import { arms, Bandit, thompson } from "@bellman/bandits";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const bandit = new Bandit({
 *   actions: ["old", "new"],
 *   model: arms({ beta: true }),
 *   explore: thompson(),
 * });
 * bandit.learn({ action: "new", reward: 1 });
 * assertAlmostEquals(bandit.chances()[1], 2 / 3);
 * ```
 */
export function thompson(options: ThompsonOptions = {}): Exploration {
  checkOptions("an exploration", options, { alpha: SCHEDULE });
  const { alpha = 1 } = options;
  return (prediction) => prediction.best(valueOf(alpha, prediction.total));
}

/** Options of {@linkcode upperConfidence}. */
export interface UpperConfidenceOptions {
  /**
   * Number of deviations above the expected reward. UCB1 is
   * `(rewards) => Math.sqrt(2 * Math.log(Math.max(rewards, 1)))` with
   * `arms({ lambda: 0, noise: 1 })`.
   *
   * @default 1
   */
  alpha?: Schedule;
  /**
   * Chance to choose at random. Without it chances are 0 and 1, and the log says nothing
   * about any other policy.
   *
   * @default 0
   */
  epsilon?: number;
}

/**
 * Takes the action with the largest upper confidence bound, of equal ones the first
 * (LinUCB of Li et al. 2010 with `linear({ noise: 1 })`). Its choices do not change
 * before a reward comes: where rewards are late, Thompson sampling is better.
 *
 * @param options Width of the bound, and chance to choose at random.
 * @returns The exploration.
 * @throws {TypeError} If an option is unknown.
 * @throws {RangeError} If one is out of its range.
 * @example
 * ```ts
 * import { arms, Bandit, upperConfidence } from "@bellman/bandits";
 * import { assertEquals } from "@std/assert";
 *
 * const bandit = new Bandit({
 *   actions: ["a", "b"],
 *   model: arms(),
 *   explore: upperConfidence({ epsilon: 0.5 }),
 * });
 * assertEquals([...bandit.chances()], [0.75, 0.25]);
 * ```
 */
export function upperConfidence(
  options: UpperConfidenceOptions = {},
): Exploration {
  checkOptions("an exploration", options, {
    alpha: SCHEDULE,
    epsilon: PROBABILITY,
  });
  const { alpha = 1, epsilon = 0 } = options;
  return ({ centers, deviations, total }) => {
    const factor = valueOf(alpha, total);
    const best = largestOf(
      centers.map((it, i) =>
        deviations[i] === Infinity ? Infinity : it + factor * deviations[i]
      ),
    );
    const chances = centers.map(() => epsilon / centers.length);
    chances[best] += 1 - epsilon;
    return chances;
  };
}
