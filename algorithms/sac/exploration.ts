import type { AgentContext, Explorer } from "@bellman/agent";
import type { RandomStream, TensorData } from "@bellman/compute";
import type { StochasticPolicy } from "@bellman/policies";
import type { StateTree } from "@bellman/types";
import type { SettledConfig } from "./settled_config.ts";

/** Steps that take the same random action, at most. */
const MOST_REPEATS = 100;

/**
 * Makes the exploration before the first update that settings ask for: random
 * actions that are drawn anew at each step, or repeated.
 */
export function explorationOf(
  config: SettledConfig,
  { actionSpace, numEnvs }: AgentContext,
  { distribution }: StochasticPolicy,
): Explorer | undefined {
  const { initialExploration, learningStarts } = config;
  if (initialExploration === "policy") return undefined;
  const size = distribution.actionShape.reduce(
    (product, it) => product * it,
    1,
  );
  const draw = (random: RandomStream, rows: number): TensorData => {
    if (actionSpace.type === "discrete") {
      const { n, start = 0 } = actionSpace;
      return new Int32Array(rows * size).map(() => start + random.integer(n));
    }
    const actions = random.fillUniform(new Float32Array(rows * size));
    return actions.map((it) => 2 * it - 1);
  };
  const repeated = initialExploration === "repeated"
    ? new RepeatedActions(numEnvs, {
      exponent: config.repeatExponent,
      draw: (random) => draw(random, 1),
    })
    : undefined;
  return {
    act({ moment, random, sample }) {
      if (moment.steps >= learningStarts) return sample();
      return repeated?.act(random) ?? draw(random, numEnvs);
    },
    ...(repeated && {
      save: () => repeated.save(),
      load: (state) => repeated.load(state),
    }),
  };
}

/** Options of {@link RepeatedActions}. */
export interface RepeatedActionsOptions {
  /** Exponent `mu` of the number of steps `n`. */
  readonly exponent: number;
  /** Draws the random action of one environment. */
  readonly draw: (random: RandomStream) => TensorData;
}

/**
 * Random actions of environments, each for `n` steps with `p(n) ~ n^-mu`: they
 * lead further away than as many that are drawn anew.
 *
 * Source: Dabney et al. 2021 (https://arxiv.org/abs/2006.01782), algorithm 1.
 */
export class RepeatedActions {
  readonly #draw: RepeatedActionsOptions["draw"];
  /** Probability of at most `i + 1` steps. */
  readonly #cumulative: Float64Array;
  /** Steps that each environment's action is still repeated for. */
  readonly #left: Int32Array;
  /** Action of each environment; none before the first. */
  readonly #actions: TensorData[];

  constructor(numEnvs: number, { exponent, draw }: RepeatedActionsOptions) {
    this.#draw = draw;
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
   * Chooses the action that goes on, or a new one, in each environment.
   *
   * @returns Actions `[numEnvs, ...]`, a new array.
   */
  act(random: RandomStream): TensorData {
    const left = this.#left, actions = this.#actions;
    for (let i = 0; i < left.length; i++) {
      if (left[i] === 0) {
        actions[i] = this.#draw(random);
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

  /** Saves the actions that go on. */
  save(): StateTree {
    return {
      left: this.#left.slice(),
      actions: this.#actions.map((it) => it.slice()),
    };
  }

  /** Restores what {@link save} gave; copied. */
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
