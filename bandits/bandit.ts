import {
  checkOptions,
  hintAt,
  OBJECT,
  type OptionKinds,
  whole,
} from "@bellman/files/options";
import { RandomStream, seedWords } from "@bellman/random";
import type { StateTree } from "@bellman/types";
import {
  damaged,
  isModerate,
  mismatch,
  MODERATE,
  outOfRange,
  shown,
} from "./models/_refuse.ts";
import { draw } from "./explore/draw.ts";
import type { Exploration } from "./explore/rules.ts";
import {
  type FeaturesOf,
  type Model,
  predict,
  type Prediction,
} from "./models/model.ts";
import { Ridge } from "./models/ridge.ts";
import { Pending } from "./pending.ts";

/** Name of an action. */
export type ActionName = string | number;

/**
 * Options of a {@linkcode Bandit}.
 *
 * @typeParam A Names of the actions.
 * @typeParam C Context of a decision.
 */
export interface BanditOptions<A extends ActionName, C> {
  /** Names of the actions, at least one, all different. */
  actions: readonly A[];
  /**
   * Features of a context, always as many, for a linear model: a 1 for the constant part
   * and numbers of about the size of 1. A `shared` model also passes the action, and
   * learns of the features of both.
   */
  features?: (context: C, action: A) => ArrayLike<number>;
  /** Model of the rewards: `linear` or `arms`. */
  model: Model;
  /** Exploration, such as `thompson()`. */
  explore: Exploration;
  /**
   * Seed of the decisions, a whole number of at least 0. Processes that share a log or
   * merge their models have different ones.
   *
   * @default 0
   */
  seed?: number;
  /**
   * Number of decisions that wait for their rewards; older ones are dropped.
   *
   * @default 10_000
   */
  pending?: number;
}

/** Options of a decision. */
export interface DecideOptions<A extends ActionName> {
  /**
   * Actions that may be chosen, at least one.
   *
   * @default all
   */
  allowed?: readonly A[];
}

/** A decision. */
export interface Decision<A extends ActionName> {
  /** Name by which its reward is given. */
  id: string;
  /** Action to take. */
  action: A;
  /** Chance that it was chosen with, above 0 and up to 1: what a log must keep. */
  propensity: number;
}

/** Action that was taken in a context, and its reward: higher is better. */
export type Experience<A extends ActionName, C> =
  & { action: A; reward: number }
  & ([C] extends [void] ? { context?: C } : { context: C });

/** Options of {@linkcode Bandit.merge}. */
export interface MergeOptions {
  /**
   * State that all of them began with, such as the last sum that all have merged; without
   * it they began with nothing.
   */
  base?: StateTree;
}

/** Features where there is no context. */
const CONSTANT = [1];

/** A snapshot's entries. */
type Saved = { [key: string]: StateTree };

const LIST = (it: unknown) => Array.isArray(it) && it.length > 0;
const KINDS: OptionKinds<BanditOptions<ActionName, never>> = {
  actions: ["object", "a list of names, at least one", LIST],
  features: ["function", "a function"],
  model: ["object", "linear() or arms()", (it: object) => "best" in it],
  explore: ["function", "an exploration, such as thompson()"],
  seed: whole(0),
  pending: whole(1),
};
const CHOICE: OptionKinds<DecideOptions<ActionName>> = {
  allowed: ["object", "a list of actions, at least one", LIST],
};

/** Describes the settings of a model, which states must share. */
function describe({ name, best: _, ...settings }: Model): string {
  const entries = Object.entries(settings);
  return [name, ...entries.map(([key, it]) => `${key} ${it}`)].join(", ");
}

/** Returns the index of each of some names, which are checked. */
function indexed<A extends ActionName>(names: readonly A[]): Map<A, number> {
  const indices = new Map<A, number>();
  for (const it of names) {
    if (typeof it !== "string" && !Number.isFinite(it)) {
      throw mismatch(`add an action of ${it}`, "a text or a number");
    }
    if (indices.has(it)) {
      throw outOfRange(`add '${it}', which there is`, "another name");
    }
    indices.set(it, indices.size);
  }
  return indices;
}

/**
 * Contextual bandit: decides between actions, learns from rewards, and knows the chance
 * of each decision.
 *
 * @typeParam A Names of the actions.
 * @typeParam C Context of a decision; void without one.
 * @example
 * ```ts
 * import { Bandit, linear, thompson } from "@bellman/bandits";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const bandit = new Bandit({
 *   actions: ["free", "pro", "team"],
 *   features: (it: { visits: number; phone: boolean }) => [
 *     1,
 *     Math.log1p(it.visits),
 *     Number(it.phone),
 *   ],
 *   model: linear(),
 *   explore: thompson(),
 *   seed: 1,
 * });
 * const { id, action, propensity } = bandit.decide({ visits: 3, phone: true });
 * assert(bandit.actions.includes(action) && propensity > 0);
 * assertEquals(bandit.reward(id, 1), true);
 * assertEquals(bandit.reward(id, 1), false); // Once is enough.
 * ```
 */
export class Bandit<const A extends ActionName, C = void> {
  readonly #options: BanditOptions<A, C>;
  #actions: readonly A[] = [];
  #indices = new Map<A, number>();
  #ridge: Ridge;
  #pending: Pending;
  #random: RandomStream;

  /**
   * Makes a bandit that has learned nothing.
   *
   * @param options Actions, features, model and exploration: see
   * {@linkcode BanditOptions}.
   * @throws {TypeError} If an option is missing, unknown or of another type, or features
   * and model do not fit.
   * @throws {RangeError} If actions are not all different, or a number is out of range.
   */
  constructor(options: BanditOptions<A, C>) {
    const given = checkOptions("a bandit", options, KINDS);
    const { actions, model, features, seed = 0, pending = 10_000 } = given;
    const needed = ["actions", "model", "explore"] as const;
    const missing = needed.find((it) => given[it] === undefined) ??
      (model.name === "linear" && !features ? "features" : undefined);
    if (missing !== undefined) {
      throw mismatch("make a bandit", `the option '${missing}'`);
    }
    if (model.name === "arms" && features !== undefined) {
      throw mismatch("make a bandit of arms() with features", "linear()");
    }
    if (features !== undefined && features.length > 1 && !model.shared) {
      const what = "make a bandit with features of context and action";
      throw mismatch(what, "linear({ shared: true })");
    }
    this.#options = options;
    this.#name(actions);
    this.#ridge = new Ridge(model.shared ? 1 : actions.length, model);
    this.#pending = new Pending(pending);
    this.#random = new RandomStream(seedWords(seed));
  }

  /** Names of the actions. */
  get actions(): readonly A[] {
    return this.#actions;
  }

  /** Number of decisions that wait for their rewards. */
  get waiting(): number {
    return this.#pending.size;
  }

  /** Number of decisions that were dropped before their rewards came. */
  get forgotten(): number {
    return this.#pending.forgotten;
  }

  /**
   * Decides: draws an action from its chances.
   *
   * @param context Context of the decision.
   * @param options Allowed actions.
   * @returns The action, its chance, and the name by which to give its reward.
   * @throws {TypeError} If an allowed action is unknown.
   * @throws {RangeError} If none is allowed, or features are not finite or of another
   * number than before.
   */
  decide(context: C, options?: DecideOptions<A>): Decision<A> {
    const { allowed, features, chances } = this.#choose(context, options);
    const at = draw(chances, this.#random.uniform()), index = allowed[at];
    // Not of the seed: a bandit that is loaded again would give names twice.
    const [number] = crypto.getRandomValues(new BigUint64Array(1));
    const id = number.toString(36);
    this.#pending.add(id, { index, x: features(index) });
    return { id, action: this.#actions[index], propensity: chances[at] };
  }

  /**
   * Computes the chance of each action, without deciding.
   *
   * @param context Context of a decision.
   * @param options Allowed actions; the others have no chance.
   * @returns Chances in the order of the actions, which add up to 1.
   * @throws {TypeError} If an allowed action is unknown.
   * @throws {RangeError} If none is allowed, or features are wrong.
   */
  chances(context: C, options?: DecideOptions<A>): Float64Array {
    const { allowed, chances } = this.#choose(context, options);
    const all = new Float64Array(this.#actions.length);
    for (let i = 0; i < chances.length; i++) all[allowed[i]] = chances[i];
    return all;
  }

  /**
   * Predicts the reward of each action.
   *
   * @param context Context of a decision.
   * @returns Expected rewards and deviations, in the order of the actions; of a logistic
   * model, deviations of logits.
   * @throws {RangeError} If features are not finite or of another number than before.
   */
  predict(context: C): Prediction {
    // Read at once, as later rewards change the deviations.
    const all = [...this.#actions.keys()];
    return { ...this.#predict(all, this.#features(context)) };
  }

  /**
   * Learns the reward of a decision. Rewards may come late, in any order. Their usual size
   * is to be subtracted where it is far above 0, which is what unknown actions promise.
   *
   * @param id Name of the decision.
   * @param reward Reward: higher is better.
   * @returns True where the decision waited; false where it is unknown, was forgotten or
   * has had its reward.
   * @throws {RangeError} If the reward is not finite, or outside of 0 to 1 with a
   * `logistic` or `beta` model. The decision waits on.
   */
  reward(id: string, reward: number): boolean {
    this.#checkReward(reward);
    const waiting = this.#pending.take(id);
    if (waiting === undefined) return false;
    this.#learn(waiting.index, waiting.x, reward);
    return true;
  }

  /**
   * Learns the reward of an action in a context that was kept elsewhere, as servers
   * without a state do.
   *
   * @param experience Context, action and reward.
   * @throws {TypeError} If the action is unknown.
   * @throws {RangeError} If reward or features are wrong; nothing is learned then.
   */
  learn(experience: Experience<A, C>): void {
    const { action, reward, context } = experience;
    const index = this.#indexOf(action);
    this.#checkReward(reward);
    this.#learn(index, this.#features(context as C)(index), reward);
  }

  /**
   * Adds an action, of which nothing is known.
   *
   * @param action Its name, of the type `A`: `Bandit<string, C>` takes any.
   * @throws {RangeError} If there is such an action.
   * @example
   * ```ts
   * import { Bandit, linear, thompson } from "@bellman/bandits";
   * import { assertEquals } from "@std/assert";
   *
   * const prices = new Map([["tea", 2], ["coffee", 3]]);
   * const bandit = new Bandit<string, { age: number }>({
   *   actions: [...prices.keys()],
   *   features: ({ age }, drink) => [1, age / 50, prices.get(drink)!],
   *   model: linear({ shared: true }),
   *   explore: thompson(),
   * });
   * prices.set("cocoa", 4);
   * bandit.add("cocoa");
   * bandit.remove("tea");
   * const allowed = ["cocoa"];
   * assertEquals(bandit.decide({ age: 30 }, { allowed }).action, "cocoa");
   * ```
   */
  add(action: A): void {
    this.#name([...this.#actions, action]);
    if (!this.#options.model.shared) this.#ridge.add();
  }

  /**
   * Removes an action and what was learned of it; decisions for it that wait are dropped.
   *
   * @param action Its name.
   * @throws {TypeError} If it is unknown.
   * @throws {RangeError} If it is the last one.
   */
  remove(action: A): void {
    const index = this.#indexOf(action);
    if (this.#actions.length === 1) {
      throw outOfRange(`remove '${action}', the last action`, "another one");
    }
    this.#name(this.#actions.toSpliced(index, 1));
    if (!this.#options.model.shared) this.#ridge.remove(index);
    this.#pending.remove(index);
  }

  /**
   * Saves everything: actions, model, random numbers, and decisions that wait. Options
   * are code, and not saved. The bandit goes on as one that loads the state does, bit for
   * bit.
   *
   * @returns The state, which shares no memory with the bandit.
   */
  save(): StateTree {
    return {
      model: describe(this.#options.model),
      actions: [...this.#actions],
      random: this.#random.save(),
      ridge: this.#ridge.save(),
      pending: this.#pending.save(),
    };
  }

  /**
   * Restores a state, with its actions.
   *
   * @param state State that {@linkcode Bandit.save} returned.
   * @throws {TypeError} If it is damaged or of another model; nothing is changed then.
   */
  load(state: StateTree): void {
    const { actions, ridge } = this.#read(state);
    const { random, pending } = state as Saved;
    const stream = new RandomStream(seedWords(0));
    stream.load(random);
    const waiting = new Pending(this.#pending.capacity);
    waiting.load(pending, [actions.length, ridge.dimension]);
    this.#name(actions);
    this.#ridge = ridge;
    this.#random = stream;
    this.#pending = waiting;
  }

  /**
   * Learns what other bandits have learned: each adds what it has more than the common
   * start. Where all of several processes merge the others' states, all know the same.
   * Of linear models and arms the result is that of one bandit with all rewards, up to
   * the estimated noise; of logistic ones it is an approximation, means weighted by
   * their precisions. Random numbers and waiting decisions stay the bandit's own.
   *
   * @param others States of the other bandits.
   * @param options Common start.
   * @throws {TypeError} If a state is damaged, or of another model or other actions.
   * @throws {RangeError} If the model forgets: then its sums do not add up.
   * @example
   * ```ts
   * import { arms, Bandit, thompson } from "@bellman/bandits";
   * import { assertAlmostEquals } from "@std/assert";
   *
   * const make = (seed: number) =>
   *   new Bandit({
   *     actions: ["a", "b"],
   *     model: arms(),
   *     explore: thompson(),
   *     seed,
   *   });
   * const [here, there] = [make(1), make(2)];
   * here.learn({ action: "a", reward: 1 });
   * there.learn({ action: "b", reward: 3 });
   * here.merge([there.save()]);
   * const [a, b] = here.predict().means;
   * assertAlmostEquals(a, 0.5);
   * assertAlmostEquals(b, 1.5);
   * ```
   */
  merge(others: readonly StateTree[], options: MergeOptions = {}): void {
    checkOptions("a merge", options, { base: OBJECT });
    if (!Array.isArray(others)) throw mismatch("merge", "a list of states");
    const { discount, window } = this.#options.model;
    if (discount < 1 || window < Infinity) {
      throw outOfRange("merge bandits that forget", "no discount, no window");
    }
    const names = JSON.stringify(this.#actions);
    const read = (state: StateTree) => {
      const { actions, ridge } = this.#read(state);
      const other = JSON.stringify(actions);
      if (other === names) return ridge;
      throw mismatch(`merge a bandit of the actions ${other}`, names);
    };
    const { base } = options;
    // Of a copy, so that what fails changes nothing.
    const merged = Ridge.of(this.#ridge.save(), this.#options.model);
    const start = base === undefined ? undefined : read(base);
    merged.merge(others.map(read), start);
    this.#ridge = merged;
  }

  /** Takes names of actions. */
  #name(actions: readonly A[]): void {
    this.#indices = indexed(actions);
    this.#actions = [...actions];
  }

  #indexOf(action: A): number {
    const index = this.#indices.get(action);
    if (index !== undefined) return index;
    const names = this.#actions.map(String);
    throw new TypeError(
      `Unknown action '${action}': ${hintAt(String(action), names)}`,
    );
  }

  #choose(context: C, options?: DecideOptions<A>): {
    allowed: number[];
    features: FeaturesOf;
    chances: Float64Array;
  } {
    const names = options
      ? checkOptions("a decision", options, CHOICE).allowed
      : undefined;
    const indices = names && new Set(names.map((it) => this.#indexOf(it)));
    const allowed = [...this.#actions.keys()]
      .filter((it) => indices?.has(it) ?? true);
    const features = this.#features(context);
    const chances = Float64Array.from(
      this.#options.explore(this.#predict(allowed, features)) ?? [],
    );
    let sum = 0;
    for (const it of chances) {
      if (!(it >= 0)) {
        throw outOfRange(`decide by a chance of ${it}`, "at least 0");
      }
      sum += it;
    }
    if (Math.abs(sum - 1) < 1e-6 && chances.length === allowed.length) {
      return { allowed, features, chances };
    }
    const what = `decide by ${chances.length} chances that add up to ${sum}`;
    throw outOfRange(what, `${allowed.length} that add up to 1`);
  }

  #predict(actions: readonly number[], features: FeaturesOf): Prediction {
    return predict(this.#options.model, this.#ridge, [actions, features]);
  }

  /** Returns the features of actions in a context, each computed once. */
  #features(context: C): FeaturesOf {
    const { features = () => CONSTANT, model } = this.#options;
    const known: Float64Array[] = [];
    return (action) => {
      // Without `shared`, all have those of the context.
      const index = model.shared ? action : 0;
      return known[index] ??= this.#checked(
        features(context, this.#actions[index]),
      );
    };
  }

  #checked(features: ArrayLike<number>): Float64Array {
    // A number would be a length.
    const x = new Float64Array(Object(features));
    const { dimension } = this.#ridge;
    if (x.length === 0 || dimension > 0 && x.length !== dimension) {
      const expected = dimension > 0 ? `${dimension}, as before` : "at least 1";
      throw outOfRange(`take ${x.length} features`, expected);
    }
    const wrong = x.findIndex((it) => !isModerate(it));
    if (wrong >= 0) {
      throw outOfRange(`take ${x[wrong]} as feature ${wrong}`, MODERATE);
    }
    this.#ridge.dimension = x.length;
    return x;
  }

  #checkReward(reward: number): void {
    const { logistic, beta } = this.#options.model;
    const isShare = logistic || beta;
    if (isModerate(reward) && (!isShare || reward >= 0 && reward <= 1)) return;
    const expected = isShare ? "a number from 0 to 1" : MODERATE;
    throw outOfRange(`learn a reward of ${shown(reward)}`, expected);
  }

  #learn(index: number, x: Float64Array, reward: number): void {
    this.#ridge.learn(this.#options.model.shared ? 0 : index, x, reward);
  }

  /** Reads actions and model of a state. */
  #read(state: StateTree): { actions: A[]; ridge: Ridge } {
    const { model } = this.#options, expected = describe(model);
    const saved: Saved = { ...state as Saved };
    if (typeof saved.model !== "string" || !LIST(saved.actions)) {
      throw mismatch("load a bandit", "a state that save() returned");
    }
    if (saved.model !== expected) {
      throw mismatch(`load a state of another model, ${saved.model}`, expected);
    }
    const ridge = Ridge.of(saved.ridge, model), actions = saved.actions as A[];
    try {
      indexed(actions);
    } catch {
      throw damaged("its actions");
    }
    const count = model.shared ? 1 : actions.length;
    if (ridge.count !== count) throw damaged(`${count} regressions`);
    return { actions, ridge };
  }
}
