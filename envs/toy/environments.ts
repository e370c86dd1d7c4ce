import type {
  BoxArray,
  BoxSpace,
  DiscreteSpace,
  Space,
  SpaceValue,
  StepResult,
} from "@bellman/types";
import { countChoices, maskedChoices } from "../_action_masks.ts";
import { checkSpace } from "../spaces/check_space.ts";
import {
  checkOptions,
  FLAG,
  type OptionKinds,
  whole,
} from "@bellman/files/options";
import { Env } from "../base/env.ts";
import { checkReset, RESET } from "../random.ts";
import { register } from "../registry/registry.ts";
import { checkAction } from "../spaces/_action_rows.ts";
import { box, discrete } from "../spaces/constructors.ts";
import { sample } from "../spaces/values.ts";

/**
 * Base of the toy environments, which refuses steps outside an episode.
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
> extends Env<O, A> {
  private isRunning = false;

  /** Starts an episode and returns the first observation. */
  protected abstract begin(): O;

  /** Takes one step. */
  protected abstract advance(action: A): StepResult<O>;

  /**
   * Starts an episode.
   *
   * @param options Seed that restarts the random stream.
   * @returns The first observation.
   * @throws {RangeError} If the seed is not a whole number of at least 0.
   */
  reset(options?: { seed?: number }): O {
    checkReset(options, RESET);
    this.seed(options);
    this.isRunning = true;
    return this.begin();
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
    if (!this.isRunning) {
      throw new Error(
        `Cannot step ${this.constructor.name} outside of an episode: call reset first`,
      );
    }
    const result = this.advance(action);
    this.isRunning = !result.terminated;
    return result;
  }
}

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

const BANDIT_OPTIONS: OptionKinds<BanditOptions> = {
  means: [
    "object",
    "a list of at least one number, all finite",
    (it: readonly number[]) =>
      Array.isArray(it) && it.length > 0 && it.every(Number.isFinite),
  ],
  deviation: [
    "number",
    "a number of at least 0",
    (it: number) => it >= 0 && it < Infinity,
  ],
};

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
  /** Space of observations. */
  readonly observationSpace: DiscreteSpace = discrete(1);
  /** Space of actions. */
  readonly actionSpace: DiscreteSpace;
  #arms: Required<BanditOptions>;

  /**
   * Makes an environment that has not been reset.
   *
   * @param options Means and deviation.
   * @throws {RangeError} If there is no arm, a mean is not finite, or the
   * deviation is negative or not finite.
   * @throws {TypeError} If an option is not known, or of another type.
   */
  constructor(options: BanditOptions = {}) {
    super();
    const given = checkOptions("a bandit", options, BANDIT_OPTIONS);
    this.#arms = { means: [0.1, 0.5, 0.9], deviation: 0, ...given };
    this.actionSpace = discrete(this.#arms.means.length);
  }

  /** Starts an episode. */
  protected override begin(): number {
    return 0;
  }

  /** Takes one step. */
  protected override advance(action: number): StepResult<number> {
    const { means, deviation } = this.#arms;
    const noise = deviation === 0 ? 0 : deviation * this.random.normal();
    const reward = means[action] + noise;
    return { observation: 0, reward, terminated: true, truncated: false };
  }
}

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

const CHAIN_OPTIONS: OptionKinds<ChainOptions> = {
  length: whole(1),
  endless: FLAG,
};

/** Checks the options of a chain and fills in the others. */
/**
 * Steps on a chain, each of reward 1 whatever the action. It ends after `length`
 * steps, or never; the observation is the position. An endless
 * one keeps its value wherever a time limit cuts it off, which shows if truncation
 * and termination are kept apart.
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
  /** Space of observations. */
  readonly observationSpace: DiscreteSpace;
  /** Space of actions. */
  readonly actionSpace: DiscreteSpace = discrete(2);
  #chain: Required<ChainOptions>;
  private position = 0;

  /**
   * Makes an environment that has not been reset.
   *
   * @param options Length and end of the chain.
   * @throws {RangeError} If the length is not a whole number of at least 1.
   * @throws {TypeError} If an option is not known, or of another type.
   */
  constructor(options: ChainOptions = {}) {
    super();
    const given = checkOptions("a chain", options, CHAIN_OPTIONS);
    this.#chain = { length: 10, endless: false, ...given };
    const { length, endless } = this.#chain;
    // The last position of a chain that ends is an observation, too.
    this.observationSpace = discrete(endless ? length : length + 1);
  }

  /** Starts an episode. */
  protected override begin(): number {
    return this.position = 0;
  }

  /** Takes one step. */
  protected override advance(): StepResult<number> {
    const { length, endless } = this.#chain;
    this.position++;
    if (endless) this.position %= length;
    return {
      observation: this.position,
      reward: 1,
      terminated: this.position === length,
      truncated: false,
    };
  }
}

/** Settings of {@linkcode IdentityEnv}. */
export interface IdentityOptions {
  /**
   * Space of actions and observations, any but a dict or a tuple.
   *
   * @default discrete(2)
   */
  actionSpace?: Space;
  /**
   * Mask actions: of each part, the choice to repeat is allowed and each other one
   * with probability 1/2, anew in each step. A forbidden action has reward -1.
   *
   * @default false
   */
  masked?: boolean;
}

function checkLeaf(space: Space): Space {
  if (space.type === "dict" || space.type === "tuple") {
    throw new TypeError(
      `Cannot make an identity environment of a ${space.type} space: expected a discrete, box, multiDiscrete or multiBinary one`,
    );
  }
  return space;
}

/**
 * Shows a value that the action should repeat, a new one in each step: the least
 * that a policy must be able to learn. The reward is 1 if the action
 * equals it, else 0; of a box, minus the squared distance. No episode ends.
 *
 * With masks, allowed actions drawn uniformly have a mean reward of
 * `2 (1 - 2^-n) / n` a step for each part of `n` choices, multiplied; of one part, all
 * actions drawn uniformly have `(3 - n) / (2 n)`.
 *
 * @example
 * ```ts
 * import { IdentityEnv, multiDiscrete } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new IdentityEnv({ actionSpace: multiDiscrete([3, 4]) });
 * const shown = env.reset({ seed: 0 });
 * assertEquals(env.step(shown).reward, 1);
 * ```
 */
export class IdentityEnv extends ToyEnv {
  /** Space of observations. */
  readonly observationSpace: Space;
  /** Space of actions. */
  readonly actionSpace: Space;
  #choices: readonly number[] | undefined;
  private target: SpaceValue = 0;
  // A field of the state only where it masks.
  declare private masks?: Uint8Array;

  /**
   * Makes an environment that has not been reset.
   *
   * @param options Space of actions and observations, and masks.
   * @throws {TypeError} If the space is a dict or a tuple, or a box is masked.
   */
  constructor(options: IdentityOptions = {}) {
    super();
    this.actionSpace = checkLeaf(options.actionSpace ?? discrete(2));
    this.observationSpace = this.actionSpace;
    if (!options.masked) return;
    this.#choices = maskedChoices(this.actionSpace, "an identity environment");
    this.masks = new Uint8Array(countChoices(this.actionSpace)).fill(1);
    this.actionMasks = () => this.masks!;
  }

  /**
   * Returns the actions that are allowed; only where it masks.
   *
   * @returns 1 or 0 for each choice; reused by the next step.
   */
  actionMasks?(): Uint8Array;

  /** Starts an episode. */
  protected override begin(): SpaceValue {
    this.target = sample(this.actionSpace, this.random);
    this.#choices?.forEach((n, part) => {
      const at = sumOf(this.#choices!.slice(0, part));
      for (let i = 0; i < n; i++) this.masks![at + i] = this.random.integer(2);
      this.masks![at + this.#choiceOf(this.target, part)] = 1;
    });
    return copyOf(this.target);
  }

  #choiceOf(action: SpaceValue, part: number): number {
    const space = this.actionSpace;
    return space.type === "discrete"
      ? action as number - (space.start ?? 0)
      : (action as BoxArray)[part];
  }

  #allows(action: SpaceValue): boolean {
    return (this.#choices ?? []).every((_, part) => {
      const at = sumOf(this.#choices!.slice(0, part));
      return this.masks![at + this.#choiceOf(action, part)] === 1;
    });
  }

  /** Takes one step. */
  protected override advance(action: SpaceValue): StepResult {
    const reward = this.#allows(action)
      ? rewardOf(this.actionSpace, action, this.target)
      : -1;
    const observation = this.begin();
    return { observation, reward, terminated: false, truncated: false };
  }
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, n) => sum + n, 0);
}

function copyOf(value: SpaceValue): SpaceValue {
  return typeof value === "number" ? value : (value as BoxArray).slice();
}

function rewardOf(
  space: Space,
  action: SpaceValue,
  target: SpaceValue,
): number {
  if (typeof action === "number") return Number(action === target);
  const given = action as BoxArray, wanted = target as BoxArray;
  let distance = 0;
  for (let i = 0; i < wanted.length; i++) {
    distance += (given[i] - wanted[i]) ** 2;
  }
  return space.type === "box" ? -distance : Number(distance === 0);
}

const boxOf = ({ low, high, shape, dtype }: BoxSpace) =>
  box({ low, high, shape, dtype });

const IDENTITY_OPTIONS: OptionKinds<IdentityOptions> = {
  actionSpace: ["object", "a space", (it: object) => "type" in it],
  masked: FLAG,
};

register({
  id: "Identity-v0",
  maxEpisodeSteps: 100,
  make(kwargs) {
    const options: IdentityOptions = kwargs;
    const { actionSpace: given, masked } = checkOptions(
      "Identity-v0",
      options,
      IDENTITY_OPTIONS,
    );
    // A box from a file may lack parts that have defaults.
    const actionSpace = given?.type === "box" ? boxOf(given) : given;
    if (actionSpace !== undefined) checkSpace(actionSpace);
    return new IdentityEnv({ actionSpace, masked });
  },
});
register({
  id: "Bandit-v0",
  make: (kwargs) => new BanditEnv(kwargs),
});
register({
  id: "Chain-v0",
  maxEpisodeSteps: 100,
  make: (kwargs) => new ChainEnv(kwargs),
});
