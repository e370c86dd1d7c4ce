import type { RandomStream, TensorData } from "@bellman/compute";
import type { Space, StateTree } from "@bellman/types";
import type {
  AgentContext,
  Exploration,
  Explorer,
  Progress,
} from "./algorithm.ts";

/** Largest number of steps that take the same random action. */
const MOST_REPEATS = 100;

/** Options of {@link randomActions}. */
export interface RandomActionsOptions {
  /** Environment steps before the policy acts. */
  readonly steps: number;
  /**
   * Exponent mu of the number n of steps that repeat an action, with probability in
   * proportion to n^-mu.
   *
   * @default none: a new action at each step
   */
  readonly repeatExponent?: number;
  /**
   * Probability of a random action after those steps (epsilon-greedy), independent in
   * each environment.
   *
   * @default none: the policy acts
   */
  readonly epsilon?: (progress: Progress) => number;
}

/** Settings of {@link warmupActions}. */
export interface WarmupActionsSettings {
  /** Uniform random actions, repeated random actions, or the policy's. */
  readonly initialExploration: "uniform" | "repeated" | "policy";
  /** Steps before the first update. */
  readonly learningStarts: number;
  /** Exponent of the number of steps that repeat an action. */
  readonly repeatExponent: number;
}

/**
 * Makes the options of {@link randomActions} from the settings of an off-policy
 * algorithm.
 *
 * @param settings Kind of exploration before the first update, and its length.
 * @returns The options.
 *
 * @example
 * ```ts
 * import { warmupActions } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const settings = { learningStarts: 100, repeatExponent: 2 };
 * assertEquals(
 *   warmupActions({ ...settings, initialExploration: "uniform" }),
 *   { steps: 100 },
 * );
 * assertEquals(
 *   warmupActions({ ...settings, initialExploration: "repeated" }),
 *   { steps: 100, repeatExponent: 2 },
 * );
 * ```
 */
export function warmupActions(
  { initialExploration, learningStarts, repeatExponent }: WarmupActionsSettings,
): RandomActionsOptions {
  return {
    steps: initialExploration === "policy" ? 0 : learningStarts,
    ...(initialExploration === "repeated" && { repeatExponent }),
  };
}

/**
 * Makes an exploration with random actions at first, and epsilon-greedy later: box
 * actions are uniform in [-1, 1], as squashed policies sample them.
 *
 * @param context Action space, number of environments.
 * @param options Number of random actions, repeats, epsilon.
 * @returns The `explore` of an algorithm's parts.
 *
 * @example
 * ```ts
 * import { randomActions } from "@bellman/agent";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * const explorer = randomActions({
 *   actionSpace: { type: "discrete", n: 1, start: 7 },
 *   numEnvs: 2,
 * }, { steps: 100 });
 * const random = new RandomStream(1);
 * const sample = () => new Int32Array(2);
 * const actionsAt = (steps: number) =>
 *   explorer.act({ progress: { steps, updates: 0, fraction: 0 }, random, sample });
 * assertEquals([...actionsAt(98)], [7, 7]);
 * assertEquals([...actionsAt(100)], [0, 0]); // the policy's
 * ```
 */
export function randomActions(
  { actionSpace, numEnvs }: Pick<AgentContext, "actionSpace" | "numEnvs">,
  { steps, repeatExponent: exponent, epsilon }: RandomActionsOptions,
): Explorer {
  const draw = (random: RandomStream, rows: number, masks?: Uint8Array) =>
    drawActions(actionSpace, random, { rows, masks });
  const repeated = exponent === undefined
    ? undefined
    : new RepeatedActions(numEnvs, {
      exponent,
      start: actionSpace.type === "discrete" ? actionSpace.start : 0,
      draw: (random, masks) => draw(random, 1, masks),
    });
  function mixed(share: number, exploration: Exploration): TensorData {
    const { random, sample, actionMasks } = exploration;
    const isRandom = Array.from(
      { length: numEnvs },
      () => random.uniform() < share,
    );
    if (!isRandom.includes(false)) return draw(random, numEnvs, actionMasks);
    const actions = sample(), size = actions.length / numEnvs;
    const choices = (actionMasks?.length ?? 0) / numEnvs;
    isRandom.forEach((it, i) => {
      if (!it) return;
      const own = actionMasks?.subarray(i * choices, (i + 1) * choices);
      actions.set(draw(random, 1, own), i * size);
    });
    return actions;
  }
  return {
    act(exploration) {
      const { progress, random, sample, actionMasks } = exploration;
      if (progress.steps < steps) {
        return repeated?.act(random, actionMasks) ??
          draw(random, numEnvs, actionMasks);
      }
      return epsilon ? mixed(epsilon(progress), exploration) : sample();
    },
    ...(repeated && {
      save: () => repeated.save(),
      load: (state) => repeated.load(state),
    }),
  };
}

function drawActions(
  space: Space,
  random: RandomStream,
  { rows, masks }: { readonly rows: number; readonly masks?: Uint8Array },
): TensorData {
  if (space.type === "discrete") {
    const { n, start = 0 } = space;
    return new Int32Array(rows).map((_, row) =>
      start + drawAllowed(random, n, masks?.subarray(row * n, (row + 1) * n))
    );
  }
  if (space.type !== "box") {
    throw new TypeError(
      `Cannot draw random actions of type ${space.type}: expected box or discrete`,
    );
  }
  const size = space.shape.reduce((product, length) => product * length, 1);
  const actions = random.fillUniform(new Float32Array(rows * size));
  return actions.map((it) => 2 * it - 1);
}

/** Draws one of `n` choices, or of those that a mask allows. */
function drawAllowed(
  random: RandomStream,
  n: number,
  mask: Uint8Array | undefined,
): number {
  if (mask === undefined) return random.integer(n);
  const allowed = [...mask.keys()].filter((choice) => mask[choice] === 1);
  return allowed[random.integer(allowed.length)];
}

/** Options of {@link RepeatedActions}. */
export interface RepeatedActionsOptions {
  /** Exponent `mu` of the number of steps `n`. */
  readonly exponent: number;
  /** Draws the random action of one environment, of those that its masks allow. */
  readonly draw: (random: RandomStream, masks?: Uint8Array) => TensorData;
  /**
   * Smallest action, where actions are masked.
   *
   * @default 0
   */
  readonly start?: number;
}

/**
 * Random actions of environments, each for `n` steps with `p(n) ~ n^-mu`, or as long
 * as masks allow it: they explore further than independent ones.
 *
 * Source: Dabney et al. 2021 (https://arxiv.org/abs/2006.01782), algorithm 1.
 */
export class RepeatedActions {
  readonly #options: RepeatedActionsOptions;
  /** Probability of at most `i + 1` steps. */
  readonly #cumulative: Float64Array;
  /** Steps that each environment's action is still repeated. */
  readonly #left: Int32Array;
  /** Action of each environment; none before the first. */
  readonly #actions: TensorData[];

  constructor(numEnvs: number, options: RepeatedActionsOptions) {
    const { exponent } = options;
    this.#options = options;
    this.#left = new Int32Array(numEnvs);
    this.#actions = Array.from({ length: numEnvs }, () => new Int32Array());
    this.#cumulative = new Float64Array(MOST_REPEATS);
    let sum = 0;
    for (let i = 0; i < MOST_REPEATS; i++) {
      this.#cumulative[i] = sum += (i + 1) ** -exponent;
    }
    for (let i = 0; i < MOST_REPEATS; i++) this.#cumulative[i] /= sum;
  }

  /**
   * Continues the action of each environment, or draws a new one.
   *
   * @param random Stream of acting.
   * @param masks Actions that are allowed `[numEnvs, choices]`; by default all.
   * @returns Actions `[numEnvs, ...]`, a new array.
   */
  act(random: RandomStream, masks?: Uint8Array): TensorData {
    const left = this.#left, actions = this.#actions;
    const { draw, start = 0 } = this.#options;
    const choices = (masks?.length ?? 0) / left.length;
    for (let i = 0; i < left.length; i++) {
      const own = masks?.subarray(i * choices, (i + 1) * choices);
      if (left[i] === 0 || own?.[actions[i][0] - start] === 0) {
        actions[i] = draw(random, own);
        left[i] = this.#drawSteps(random);
      }
      left[i]--;
    }
    const rows = actions.flatMap((it) => [...it]);
    return actions[0] instanceof Int32Array
      ? Int32Array.from(rows)
      : Float32Array.from(rows);
  }

  #drawSteps(random: RandomStream): number {
    const share = random.uniform();
    return 1 + this.#cumulative.findIndex((it) => share < it);
  }

  /** Saves the actions, and the steps that each is still repeated. */
  save(): StateTree {
    return {
      left: this.#left.slice(),
      actions: this.#actions.map((it) => it.slice()),
    };
  }

  /** Restores what {@link save} returned; copied. */
  load(state: StateTree): void {
    const { left, actions } = (state ?? {}) as {
      left?: Int32Array;
      actions?: TensorData[];
    };
    if (left?.length !== this.#left.length || actions === undefined) {
      throw new TypeError(
        `Cannot restore the exploration of ${this.#left.length} environments from something else: expected what save() gave`,
      );
    }
    this.#left.set(left);
    actions.forEach((it, i) => this.#actions[i] = it.slice());
  }
}
