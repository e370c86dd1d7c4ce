import type {
  BoxArray,
  Env,
  RenderOptions,
  RgbImage,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
} from "@bellman/types";
import { checkSpace } from "../_env_data.ts";
import { Episodes } from "../_episodes.ts";
import { checkOptions, FLAG, type OptionKinds, whole } from "../_options.ts";
import type { SeededRandom } from "../random.ts";
import { register } from "../registry/registry.ts";
import { Canvas, type Color, type Point, rectangle } from "../render/canvas.ts";
import { snapshotRecord } from "../snapshot.ts";
import { checkAction } from "../spaces/_action_rows.ts";
import { allocateArray, elementCount, isArrayOf } from "../spaces/arrays.ts";
import { box, discrete } from "../spaces/constructors.ts";
import { sample } from "../spaces/values.ts";

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
  #episodes = new Episodes(this.constructor.name);

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
    return this.#rules.begin(this.#episodes.begin(options.seed));
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
    this.#episodes.checkRunning();
    const result = this.#rules.advance(action, this.#episodes.random);
    if (result.terminated) this.#episodes.stage = "ended";
    return result;
  }

  /**
   * Saves state and random stream.
   *
   * @returns Plain data that later steps do not change.
   */
  save(): StateTree {
    const { status, random } = this.#episodes.save();
    const isRunning = status === "running";
    return { own: this.#rules.saveRules(), isRunning, random };
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
    this.#episodes.load({ status: isRunning ? "running" : "new", random });
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
function renderBars(
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
   * @throws {TypeError} If an option is not known, or of another type.
   */
  constructor(options: BanditOptions = {}) {
    const { means = [0.1, 0.5, 0.9], deviation = 0 } = checkOptions(
      "a bandit",
      options,
      BANDIT_OPTIONS,
    );
    const own = { means: [...means], deviation };
    super(banditRules(own));
    this.means = own.means;
    this.deviation = deviation;
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
function chainOf(options: ChainOptions): Required<ChainOptions> {
  const given = checkOptions("a chain", options, CHAIN_OPTIONS);
  return { length: 10, endless: false, ...given };
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
   * @throws {TypeError} If an option is not known, or of another type.
   */
  constructor(options: ChainOptions = {}) {
    const own = chainOf(options);
    super(chainRules(own));
    this.length = own.length;
    this.endless = own.endless;
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
  { gamma, ...chain }: ChainOptions & { gamma: number },
): number {
  const { length, endless } = chainOf(chain);
  if (endless) return 1 / (1 - gamma);
  const left = Math.max(0, length - position);
  return gamma === 1 ? left : (1 - gamma ** left) / (1 - gamma);
}

/** Settings of {@linkcode IdentityEnv}. */
export interface IdentityOptions {
  /**
   * Space of actions and observations, any but a dict or a tuple.
   *
   * @default discrete(2)
   */
  actionSpace?: Space;
}

function checkLeaf(space: Space): Space {
  if (space.type === "dict" || space.type === "tuple") {
    throw new TypeError(
      `Cannot make an identity environment of a ${space.type} space: expected a discrete, box, multiDiscrete or multiBinary one`,
    );
  }
  return space;
}

function identityRules(space: Space): ToyRules {
  let target: SpaceValue = space.type === "discrete"
    ? space.start ?? 0
    : allocateArray(space, elementCount(space));
  const begin = (random: SeededRandom): SpaceValue => {
    target = sample(space, random);
    return copyOf(target);
  };
  return {
    observationSpace: space,
    actionSpace: space,
    begin,
    advance: (action, random) => {
      const reward = rewardOf(space, action, target);
      const observation = begin(random);
      return { observation, reward, terminated: false, truncated: false };
    },
    saveRules: () => copyOf(target) as StateTree,
    loadRules: (state) => {
      const isValue = space.type === "discrete"
        ? typeof state === "number"
        : isArrayOf(space, state);
      if (!isValue) {
        throw new TypeError(
          `Cannot restore IdentityEnv: its snapshot is of another space than ${space.type}`,
        );
      }
      target = copyOf(state as SpaceValue);
    },
    draw: (options) => drawValue(space, target, options),
  };
}

/** Draws a value as bars, a discrete one as the marked bar of all. */
function drawValue(
  space: Space,
  value: SpaceValue,
  options?: RenderOptions,
): RgbImage {
  if (space.type === "discrete") {
    const at = (value as number) - (space.start ?? 0);
    const heights = Array(space.n).fill(0.1).with(at, 1);
    return renderBars(heights, { ...options, marked: at });
  }
  const numbers = Array.from(value as BoxArray);
  const most = Math.max(1, ...numbers.map(Math.abs));
  return renderBars(numbers.map((it) => it / most), options);
}

/**
 * Shows a value that the action should repeat, a new one in each step: the least
 * that a policy must be able to learn. The reward is 1 if the action
 * equals it, else 0; of a box, minus the squared distance. No episode ends.
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
  /**
   * Makes an environment that has not been reset.
   *
   * @param options Space of actions and observations.
   * @throws {TypeError} If the space is a dict or a tuple.
   */
  constructor(options: IdentityOptions = {}) {
    super(identityRules(checkLeaf(options.actionSpace ?? discrete(2))));
  }
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

const IDENTITY_OPTIONS: OptionKinds<IdentityOptions> = {
  actionSpace: ["object", "a space", (it: object) => "type" in it],
};

register({
  id: "Identity-v0",
  maxEpisodeSteps: 100,
  make(kwargs) {
    const options: IdentityOptions = kwargs;
    const { actionSpace: given } = checkOptions(
      "Identity-v0",
      options,
      IDENTITY_OPTIONS,
    );
    // A box from a file may lack parts that have defaults.
    const actionSpace = given?.type === "box" ? box(given) : given;
    if (actionSpace !== undefined) checkSpace(actionSpace);
    return new IdentityEnv({ actionSpace });
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
