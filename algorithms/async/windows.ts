import {
  type AgentRuntime,
  type Arrays,
  type Decision,
  type Experience,
  nextObservations,
} from "@bellman/agent";
import { ARRAYS, type TensorData, type TensorType } from "@bellman/compute";
import type {
  ObservationArray,
  ObservationInputArray,
} from "@bellman/policies";
import type { StateTree, VecStep } from "@bellman/types";

/** Options of {@link Windows}. */
export interface WindowsOptions {
  /** Largest number of steps of a window. */
  readonly maxSteps: number;
  /** Discount of a step. */
  readonly gamma: number;
  /**
   * True to learn the value of the next action that is taken, as Sarsa does, and
   * to wait for it.
   *
   * @default false
   */
  readonly takesNextAction?: boolean;
}

const NUMBER = { shape: [], dtype: "float32" } as const;
const INDEX = { shape: [], dtype: "int32" } as const;

function rowsOf(rows: number, type: TensorType = NUMBER): TensorType {
  return { shape: [rows, ...type.shape], dtype: type.dtype };
}

/**
 * Steps since the last gradient, of one environment, each learned from once. A window ends after
 * `maxSteps`, or with its episode. Rows after its last step have the weight 0.
 *
 * @example
 * ```ts
 * import { Agent, type AgentRuntime } from "@bellman/agent";
 * import { asyncQ, Windows } from "@bellman/async";
 * import { selectBackend } from "@bellman/compute";
 * import { makeVec } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * let shape: readonly number[] = [];
 * const env = makeVec("CartPole-v1", { numEnvs: 1 });
 * new Agent({
 *   ...asyncQ,
 *   build(config, context) {
 *     const parts = asyncQ.build(config, context);
 *     const experience = (runtime: AgentRuntime) => {
 *       const windows = new Windows(runtime, { maxSteps: 3, gamma: 0.9 });
 *       shape = windows.batch.observations.shape;
 *       return parts.experience(runtime);
 *     };
 *     return { ...parts, experience };
 *   },
 * }, env).close();
 * assertEquals(shape, [4, 4]); // three steps, and the observation after them
 * ```
 */
export class Windows {
  /** Shapes and types of a window. */
  batch: Experience["batch"];
  readonly #options: WindowsOptions;
  readonly #read: (given: ObservationArray) => ObservationInputArray;
  /** Numbers of an observation, as the environment gives it. */
  readonly #size: number;
  /** Arrays by the names of the batch, with a row more: Sarsa may have two windows. */
  readonly #arrays: Record<string, TensorData> = {};
  /** Their rows of the oldest window. */
  readonly #window: Record<string, TensorData> = {};
  readonly #rewards: Float64Array;
  #length = 0;
  /** True where the last step ended its episode, and where it had no future. */
  readonly #end = { ended: false, terminated: false };

  /**
   * Creates an empty window.
   *
   * @param runtime The agent's runtime.
   * @param options Length, discount, Sarsa or not.
   */
  constructor(runtime: AgentRuntime, options: WindowsOptions) {
    const { policy, observations, numEnvs } = runtime;
    if (numEnvs !== 1) {
      throw new RangeError(
        `Cannot run a worker with numEnvs = ${numEnvs}: expected 1, and more workers`,
      );
    }
    const { maxSteps } = options, { observationInput, stateSize } = policy;
    const { actionShape: shape, actionDtype: dtype } = policy.distribution;
    this.#options = options;
    this.#read = observations.reader(1);
    this.#size = observations.encoder.observationSize;
    this.#rewards = new Float64Array(maxSteps + 1);
    this.batch = {
      observations: rowsOf(maxSteps + 1, observationInput),
      actions: rowsOf(maxSteps, { shape, dtype }),
      lastRow: rowsOf(1, INDEX),
      nextAction: rowsOf(1, INDEX),
      nextIsBest: rowsOf(1),
      returns: rowsOf(maxSteps),
      discounts: rowsOf(maxSteps),
      weights: rowsOf(maxSteps),
      ...(stateSize > 0 && {
        masks: rowsOf(maxSteps + 1),
        state: { shape: [1, stateSize], dtype: "float32" },
      }),
    };
    for (const [name, { shape, dtype }] of Object.entries(this.batch)) {
      const [rows, ...row] = shape;
      const width = row.reduce((product, it) => product * it, 1);
      const array = new ARRAYS[dtype]((rows + 1) * width);
      this.#arrays[name] = array;
      this.#window[name] = array.subarray(0, rows * width);
    }
  }

  /** Steps that are to be learned from. */
  get length(): number {
    return this.#length;
  }

  /** True where the window that is drawn ended an episode. */
  get hasEnded(): boolean {
    return this.#end.ended && this.#length <= this.#options.maxSteps;
  }

  /**
   * Adds a step.
   *
   * @param decision The decision.
   * @param step The environment's answer; copied.
   */
  add(decision: Decision, step: VecStep): void {
    const { inputs, actions, starts, state } = decision;
    const arrays = this.#arrays, at = this.#length++;
    if (state.length > 0) {
      if (at === 0) arrays.state.set(state);
      arrays.masks[at] = starts[0];
    }
    arrays.observations.set(inputs, at * inputs.length);
    arrays.actions.set(actions, at * actions.length);
    this.#rewards[at] = step.rewards[0];
    const last = this.#read(nextObservations(step, this.#size));
    arrays.observations.set(last, (at + 1) * last.length);
    this.#end.terminated = step.terminated[0] === 1;
    this.#end.ended = this.#end.terminated || step.truncated[0] === 1;
  }

  /** Counts the windows that are complete. */
  due(): number {
    const { maxSteps, takesNextAction = false } = this.#options;
    if (this.#end.ended) return Math.ceil(this.#length / maxSteps);
    return Math.floor((this.#length - Number(takesNextAction)) / maxSteps);
  }

  /** Gives the arrays of the oldest of them: its returns but for the value of what followed. */
  draw(): Arrays {
    const { maxSteps, gamma } = this.#options;
    const window = this.#window, count = Math.min(this.#length, maxSteps);
    const isNewest = count === this.#length;
    const hasFuture = !(isNewest && this.#end.terminated);
    let sum = 0;
    for (let t = maxSteps - 1; t >= 0; t--) {
      const isStep = t < count;
      window.weights[t] = Number(isStep);
      window.discounts[t] = isStep && hasFuture ? gamma ** (count - t) : 0;
      if (isStep) window.returns[t] = sum = this.#rewards[t] + gamma * sum;
    }
    if (window.masks) window.masks[count] = 0;
    window.lastRow[0] = count;
    // The next action after a cut is unknown: the best one stands for it.
    window.nextIsBest[0] = Number(isNewest);
    window.nextAction[0] = this.#arrays.actions[count];
    return window;
  }

  /** Forgets the oldest of them. */
  drop(): void {
    const { maxSteps } = this.#options,
      { observations, actions } = this.#window;
    this.#length = Math.max(0, this.#length - maxSteps);
    if (this.#length === 0) return;
    const rows = maxSteps + 1, size = observations.length / rows;
    this.#arrays.observations.copyWithin(0, maxSteps * size);
    this.#arrays.actions.copyWithin(0, actions.length);
    this.#rewards.copyWithin(0, maxSteps);
  }

  /** Saves the steps that are to be learned from. */
  save(): StateTree {
    const arrays = Object.entries(this.#arrays);
    return {
      arrays: Object.fromEntries(
        arrays.map(([name, it]) => [name, it.slice()]),
      ),
      rewards: this.#rewards.slice(),
      length: this.#length,
      ...this.#end,
    };
  }

  /** Restores what `save` gave. */
  load(state: StateTree): void {
    const { arrays, rewards, length, ...end } = state as Record<
      string,
      StateTree
    >;
    for (const [name, it] of Object.entries(this.#arrays)) {
      it.set((arrays as Record<string, TensorData>)[name]);
    }
    this.#rewards.set(rewards as Float64Array);
    this.#length = length as number;
    Object.assign(this.#end, end);
  }
}
