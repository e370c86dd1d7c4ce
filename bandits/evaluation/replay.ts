import { checkOptions, whole } from "@bellman/files/options";
import { RandomStream, seedWords } from "@bellman/random";
import { draw } from "../explore/draw.ts";
import { isModerate, MODERATE, outOfRange, shown } from "../models/_refuse.ts";
import type { LoggedDecision } from "../logs/decision.ts";

/** Policy that learns, such as a `Bandit`. */
export interface Learner<A, C> {
  /** Names of its actions. */
  readonly actions: readonly A[];
  /** Computes the chance of each action. */
  chances(context: C, options?: { allowed?: readonly A[] }): ArrayLike<number>;
  /** Learns the reward of an action. */
  learn(experience: { context: C; action: A; reward: number }): void;
}

/** Options of {@linkcode replay}. */
export interface ReplayOptions {
  /**
   * Seed of the choices, a whole number of at least 0.
   *
   * @default 0
   */
  seed?: number;
}

/** Result of {@linkcode replay}. */
export interface Replay {
  /** Mean reward of the rows whose action was chosen; null where there are none. */
  value: number | null;
  /** Its standard error; null for fewer than two rows. */
  standardError: number | null;
  /** Number of these rows. */
  matched: number;
  /** Number of rows without a reward, which are left out. */
  withoutReward: number;
}

/**
 * Replays a log to a policy that learns: rows whose action it chooses are its experience,
 * the others are skipped (Li et al. 2011). Where all actions of the log were equally
 * likely, this is what it would have earned in as many decisions.
 *
 * @param rows Logged decisions, whose actions were chosen uniformly at random.
 * @param learner Policy that chooses, and learns from the rows it has chosen.
 * @param options Seed of the choices.
 * @returns Mean reward of the rows that were chosen.
 * @throws {RangeError} If a row's action had another chance than the others, or a number
 * is out of its range: the row is named by its index.
 * @example
 * ```ts
 * import { arms, Bandit, replay, thompson } from "@bellman/bandits";
 * import { assert } from "@std/assert";
 *
 * const log = Array.from({ length: 400 }, (_, i) => ({
 *   context: undefined,
 *   action: i % 2 === 0 ? "a" : "b",
 *   propensity: 0.5,
 *   reward: i % 2,
 * }));
 * const bandit = new Bandit<string>({
 *   actions: ["a", "b"],
 *   model: arms({ beta: true }),
 *   explore: thompson(),
 * });
 * const { value, matched } = replay(log, bandit);
 * assert(value! > 0.9 && matched > 150);
 * ```
 */
export function replay<A, C>(
  rows: Iterable<LoggedDecision<A, C>>,
  learner: Learner<A, C>,
  options: ReplayOptions = {},
): Replay {
  const { seed = 0 } = checkOptions("a replay", options, { seed: whole(0) });
  const random = new RandomStream(seedWords(seed));
  let matched = 0, withoutReward = 0, sum = 0, squares = 0, row = -1;
  for (const { context, action, reward, propensity, allowed } of rows) {
    row++;
    const actions = allowed ?? learner.actions, { length } = actions;
    const check = (isFine: boolean, what: string, expected: string) => {
      if (isFine) return;
      throw outOfRange(`replay row ${row} with ${what}`, expected);
    };
    const isEven = Math.abs(propensity * length - 1) < 1e-6;
    const even = `1/${length}, as for all actions`;
    check(isEven, `propensity ${propensity}`, even);
    check(actions.includes(action), `action ${action}`, "one of the allowed");
    const chances = learner.chances(context, { allowed });
    const choice = draw(chances, random.uniform());
    if (reward === undefined || reward === null) {
      withoutReward++;
      continue;
    }
    check(isModerate(reward), `reward ${shown(reward)}`, MODERATE);
    if (learner.actions[choice] !== action) continue;
    learner.learn({ context, action, reward });
    matched++;
    const step = reward - sum;
    sum += step / matched;
    squares += step * (reward - sum);
  }
  return {
    value: matched > 0 ? sum : null,
    standardError: matched > 1
      ? Math.sqrt(squares / (matched * (matched - 1)))
      : null,
    matched,
    withoutReward,
  };
}
