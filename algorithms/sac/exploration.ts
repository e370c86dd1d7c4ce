import type { AgentContext, AgentParts, Exploration } from "@bellman/agent";
import type { RandomStream, TensorData } from "@bellman/compute";
import type { StochasticPolicy } from "@bellman/policies";
import type { StateTree } from "@bellman/types";
import type { SettledConfig } from "./variants.ts";

/** Steps that one random action is repeated for at most. */
const MOST_REPEATS = 100;

/**
 * Makes the exploration that settings ask for: actions that are all as likely
 * at first, and random ones that are repeated while the policy takes over.
 */
export function explorationOf(
  config: SettledConfig,
  { actionSpace, numEnvs }: AgentContext,
  { distribution }: StochasticPolicy,
): Pick<AgentParts, "explore" | "explorationState"> {
  const { initialExploration, learningStarts, explorationFraction } = config;
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
  const uniformSteps = initialExploration === "uniform" ? learningStarts : 0;
  const repeated = explorationFraction > 0
    ? new RepeatedActions(numEnvs, {
      exponent: config.explorationExponent,
      draw: (random) => draw(random, 1),
    })
    : undefined;
  return {
    explore(exploration) {
      const { moment, random, sample } = exploration;
      if (moment.steps < uniformSteps) return draw(random, numEnvs);
      if (repeated === undefined) return sample();
      const epsilon = Math.max(0, 1 - moment.progress / explorationFraction);
      return repeated.act(exploration, epsilon);
    },
    explorationState: repeated,
  };
}

/** Options of {@link RepeatedActions}. */
export interface RepeatedActionsOptions {
  /** Exponent `mu` of the number of steps, `p(n) ~ n^-mu`. */
  readonly exponent: number;
  /** Draws the random action of one environment. */
  readonly draw: (random: RandomStream) => TensorData;
}

/**
 * Random actions in the place of the policy's, each repeated for a number of
 * steps `n` with `p(n) ~ n^-mu`: they lead further away than as many
 * that are drawn anew.
 *
 * Source: Dabney et al. 2021 (https://arxiv.org/abs/2006.01782), algorithm 1.
 */
export class RepeatedActions {
  readonly #draw: RepeatedActionsOptions["draw"];
  /** Probability of at most `i + 1` steps. */
  readonly #cumulative: Float64Array;
  /** Steps that each environment's action is still repeated for. */
  readonly #left: Int32Array;
  /** Random action of each environment; empty before its first. */
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
   * Chooses actions: those that go on, new random ones with probability
   * `epsilon`, and the policy's in all other environments.
   *
   * @returns Actions `[numEnvs, ...]`, a new array or the policy's.
   */
  act(
    { random, sample }: Pick<Exploration, "random" | "sample">,
    epsilon: number,
  ): TensorData {
    const left = this.#left;
    for (let i = 0; i < left.length; i++) {
      if (left[i] > 0 || epsilon === 0) continue;
      if (random.uniform() >= epsilon) continue;
      this.#actions[i] = this.#draw(random);
      left[i] = this.#drawSteps(random);
    }
    const actions = sample();
    for (let i = 0; i < left.length; i++) {
      if (left[i] === 0) continue;
      actions.set(this.#actions[i], i * this.#actions[i].length);
      left[i]--;
    }
    return actions;
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
