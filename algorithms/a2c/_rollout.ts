import { RolloutBuffer } from "@bellman/buffers";
import type {
  ActorCritic,
  ObservationInputArray,
  PolicyMemory,
} from "@bellman/policies";
import {
  explainedVariance,
  generalizedAdvantageEstimation,
} from "@bellman/returns";
import type { A2CConfig } from "./config.ts";
import type { LearnerInputs } from "./_learner.ts";
import { record } from "./state_tree.ts";
import type { StateTree } from "@bellman/types";

/**
 * What was decided in a step, before its outcome is known. The arrays stay as
 * they are until it is.
 */
interface Decision {
  readonly observations: ObservationInputArray;
  readonly actions: Float32Array | Int32Array;
  /** Left out where values are estimated at the end of the rollout. */
  readonly values?: Float32Array;
  readonly starts: Float32Array;
}

/** What followed a decision. */
interface Outcome {
  readonly rewards: Float64Array;
  readonly terminated: Uint8Array;
  readonly truncated: Uint8Array;
}

/** What the update learns towards; the arrays are used again. */
export interface Targets {
  /** `[numEnvs * numSteps]` */
  readonly advantages: Float32Array;
  /** `[numEnvs * numSteps]` */
  readonly returns: Float32Array;
  /** Share of the returns' variance that the values explain, at most 1. */
  readonly explainedVariance: number;
}

/** The steps since the last update, and what is learned from them. */
export class Rollout {
  readonly #model: ActorCritic;
  readonly #config: A2CConfig;
  readonly #numEnvs: number;
  readonly #buffer: RolloutBuffer;
  readonly #noValues: Float32Array;
  /** Recurrent state before the first step. */
  readonly #initialState: Float32Array;
  readonly #lastValues: Float32Array;
  readonly #advantages: Float32Array;
  readonly #returns: Float32Array;
  #decision: Decision | null = null;
  #size = 0;

  constructor(
    model: ActorCritic,
    { numEnvs, config }: {
      numEnvs: number;
      config: A2CConfig;
    },
  ) {
    const { distribution } = model;
    this.#model = model;
    this.#config = config;
    this.#numEnvs = numEnvs;
    this.#noValues = new Float32Array(numEnvs);
    this.#initialState = new Float32Array(numEnvs * model.stateSize);
    this.#lastValues = new Float32Array(numEnvs);
    this.#advantages = new Float32Array(numEnvs * config.numSteps);
    this.#returns = new Float32Array(numEnvs * config.numSteps);
    this.#buffer = new RolloutBuffer({
      numEnvs,
      numSteps: config.numSteps,
      fields: {
        observations: model.observationInput,
        actions: {
          shape: [...distribution.actionShape],
          dtype: distribution.actionDtype,
        },
        values: { shape: [], dtype: "float32" },
        starts: { shape: [], dtype: "float32" },
        rewards: { shape: [], dtype: "float64" },
        terminated: { shape: [], dtype: "uint8" },
        truncated: { shape: [], dtype: "uint8" },
        finalValues: { shape: [], dtype: "float32" },
      },
    });
  }

  /** Whether the next thing to do is to learn. */
  get full(): boolean {
    return this.#size === this.#config.numSteps;
  }

  /** Steps so far. */
  get numSteps(): number {
    return this.#size;
  }

  /** Remembers what was decided; the arrays are read by {@link add}. */
  decide(memory: PolicyMemory, decision: Omit<Decision, "starts">): void {
    if (this.full) {
      throw new Error(
        "Cannot act after a full rollout: call update() to learn from it first",
      );
    }
    if (this.#size === 0) this.#initialState.set(memory.state);
    this.#decision = { ...decision, starts: memory.starts };
  }

  /** Adds the outcome of the last decision. */
  add(outcome: Outcome, finalValues = this.#noValues): void {
    if (this.#decision === null) {
      throw new Error("Cannot observe a step before act() chose its actions");
    }
    const { rewards, terminated, truncated } = outcome;
    this.#buffer.add({
      ...this.#decision,
      values: this.#decision.values ?? this.#noValues,
      rewards,
      terminated,
      truncated,
      finalValues,
    });
    this.#decision = null;
    this.#size++;
  }

  /** The observations that were acted on, once the rollout is full. */
  get observations(): ObservationInputArray {
    return this.#data("observations");
  }

  /**
   * Ends the rollout with the values of the observations after it and, where
   * they were not estimated when acting, of those in it.
   */
  end(lastValues: Float32Array, values?: Float32Array): void {
    this.#lastValues.set(lastValues);
    if (values !== undefined) this.#data<Float32Array>("values").set(values);
  }

  /** Starts a new rollout. */
  clear(): void {
    this.#buffer.clear();
    this.#size = 0;
  }

  #data<T>(field: string): T {
    return this.#buffer.data(field) as T;
  }

  /** Advantages and returns of the full rollout. */
  targets(): Targets {
    const { numSteps, gamma, gaeLambda } = this.#config;
    const values = this.#data<Float32Array>("values");
    const terminated = this.#data<Uint8Array>("terminated");
    const truncated = this.#data<Uint8Array>("truncated");
    const { advantages, returns } = generalizedAdvantageEstimation({
      rewards: this.#data<Float64Array>("rewards"),
      values,
      terminated: this.#config.bootstrapTruncated
        ? terminated
        : terminated.map((end, i) => end | truncated[i]),
      truncated,
      finalValues: this.#data<Float32Array>("finalValues"),
      lastValues: this.#lastValues,
    }, { numEnvs: this.#numEnvs, numSteps, gamma, lambda: gaeLambda });
    this.#advantages.set(
      this.#config.normalizeAdvantage ? normalized(advantages) : advantages,
    );
    this.#returns.set(returns);
    return {
      advantages: this.#advantages,
      returns: this.#returns,
      explainedVariance: explainedVariance(values, returns),
    };
  }

  /** The full rollout, for the update to read in place. */
  inputs(
    { advantages, returns }: Targets,
  ): Omit<
    LearnerInputs,
    "learningRate" | "valueLearningRate" | "entropyCoefficient"
  > {
    return {
      observations: this.#data("observations"),
      actions: this.#data("actions"),
      advantages,
      returns,
      ...(this.#model.stateSize > 0 && {
        state: this.#initialState,
        masks: this.#data<Float32Array>("starts"),
      }),
    };
  }

  save(): StateTree {
    if (this.#decision !== null) {
      throw new Error(
        "Cannot save between act() and observe(): the step's outcome is missing",
      );
    }
    return {
      buffer: this.#buffer.save() as unknown as StateTree,
      initialState: this.#initialState.slice(),
      lastValues: this.#lastValues.slice(),
      size: this.#size,
    };
  }

  load(state: StateTree): void {
    const saved = record(state, "a rollout");
    this.#buffer.load(saved.buffer as never);
    this.#initialState.set(saved.initialState as Float32Array);
    this.#lastValues.set(saved.lastValues as Float32Array);
    this.#size = saved.size as number;
    this.#decision = null;
  }
}

/** The same numbers with mean 0 and standard deviation 1. */
function normalized(values: ArrayLike<number>): Float32Array {
  const numbers = Array.from(values);
  const mean = numbers.reduce((sum, it) => sum + it, 0) / numbers.length;
  const variance = numbers.reduce((sum, it) => sum + (it - mean) ** 2, 0) /
    numbers.length;
  const scale = 1 / (Math.sqrt(variance) + 1e-8);
  return Float32Array.from(numbers, (it) => (it - mean) * scale);
}
