import {
  type AgentRuntime,
  type Arrays,
  type Decision,
  type Experience,
  nextObservations,
} from "@bellman/agent";
import type { TensorType } from "@bellman/compute";
import {
  type ObservationArray,
  observationBuffer,
  type ObservationInputArray,
} from "@bellman/policies";
import { nStepReturns } from "@bellman/returns";
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

/** Arrays of a window, by the names of the batch. */
type WindowArrays =
  & { observations: ObservationInputArray; last: ObservationInputArray }
  & { actions: Float32Array | Int32Array; nextAction: Int32Array }
  & Record<
    | "returns"
    | "discounts"
    | "weights"
    | "isLast"
    | "nextIsBest"
    | "masks"
    | "state",
    Float32Array
  >;

/** Steps of one environment, up to `maxSteps` or the end of its episode. */
class Window {
  readonly arrays: WindowArrays;
  readonly #rewards: Float64Array;
  readonly #size: number;
  length = 0;
  /** True where its last step ended an episode. */
  hasEnded = false;
  #terminated = false;

  constructor({ policy }: AgentRuntime, { maxSteps }: WindowsOptions) {
    const { distribution: { actionDtype, actionShape } } = policy;
    const numbers = (size: number) => new Float32Array(size);
    const actions = maxSteps * actionShape.reduce((n, it) => n * it, 1);
    this.#size = policy.observationSize;
    this.#rewards = new Float64Array(maxSteps);
    this.arrays = {
      observations: observationBuffer(policy, maxSteps + 1),
      last: observationBuffer(policy, 1),
      actions: actionDtype === "int32"
        ? new Int32Array(actions)
        : numbers(actions),
      nextAction: new Int32Array(1),
      returns: numbers(maxSteps),
      discounts: numbers(maxSteps),
      weights: numbers(maxSteps),
      isLast: numbers(maxSteps + 1),
      nextIsBest: numbers(1),
      masks: numbers(maxSteps + 1),
      state: numbers(policy.stateSize),
    };
  }

  add(
    { inputs, actions, starts, state }: Decision,
    { step, last }: { step: VecStep; last: ObservationInputArray },
  ): void {
    const { arrays, length } = this;
    if (length === 0) arrays.state.set(state);
    arrays.observations.set(inputs, length * this.#size);
    arrays.actions.set(actions, length * actions.length);
    arrays.masks[length] = starts[0];
    this.#rewards[length] = step.rewards[0];
    this.#terminated = step.terminated[0] === 1;
    this.hasEnded = this.#terminated || step.truncated[0] === 1;
    this.length++;
    arrays.last.set(last);
  }

  /** Ends it: its returns but for the value of what followed. */
  complete(gamma: number, nextAction?: number): void {
    const { arrays, length } = this;
    const rewards = this.#rewards.subarray(0, length);
    const none = new Uint8Array(length);
    nStepReturns(
      { rewards, terminated: none, truncated: none, lastValues: [0] },
      {
        numEnvs: 1,
        numSteps: length,
        gamma,
        out: arrays.returns.subarray(0, length),
      },
    );
    for (let t = 0; t < arrays.weights.length; t++) {
      arrays.weights[t] = Number(t < length);
      const isCounted = t < length && !this.#terminated;
      arrays.discounts[t] = isCounted ? gamma ** (length - t) : 0;
    }
    arrays.observations.set(arrays.last, length * this.#size);
    arrays.masks[length] = 0;
    arrays.isLast.fill(0)[length] = 1;
    arrays.nextIsBest[0] = Number(nextAction === undefined);
    arrays.nextAction[0] = nextAction ?? 0;
  }

  clear(): void {
    this.length = 0;
  }

  save(): StateTree {
    return {
      arrays: Object.fromEntries(
        Object.entries(this.arrays).map(([name, it]) => [name, it.slice()]),
      ),
      rewards: this.#rewards.slice(),
      length: this.length,
      hasEnded: this.hasEnded,
      terminated: this.#terminated,
    };
  }

  load(state: StateTree): void {
    const saved = state as Record<string, StateTree>;
    const arrays = saved.arrays as Record<string, Float32Array>;
    for (const [name, it] of Object.entries(this.arrays)) it.set(arrays[name]);
    this.#rewards.set(saved.rewards as Float64Array);
    this.length = saved.length as number;
    this.hasEnded = saved.hasEnded as boolean;
    this.#terminated = saved.terminated as boolean;
  }
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
export class Windows implements Pick<Experience, "length" | "due" | "draw"> {
  /** Shapes and types of a window. */
  readonly batch: Experience["batch"];
  readonly #options: WindowsOptions;
  readonly #read: (given: ObservationArray) => ObservationInputArray;
  readonly #size: number;
  readonly #ready: Window[] = [];
  readonly #free: Window[];
  #open: Window;

  /**
   * Creates an empty window.
   *
   * @param runtime The agent's runtime.
   * @param options Length, discount, Sarsa or not.
   */
  constructor(runtime: AgentRuntime, options: WindowsOptions) {
    const { policy, observations, numEnvs } = runtime;
    const { distribution, observationInput, stateSize } = policy;
    if (numEnvs !== 1) {
      throw new RangeError(
        `Cannot run a worker with numEnvs = ${numEnvs}: expected 1, and more workers`,
      );
    }
    this.#options = options;
    this.#read = observations.reader(1);
    this.#size = observations.encoder.observationSize;
    // Sarsa may have two to learn from where an episode ends.
    const all = [0, 1, 2].map(() => new Window(runtime, options));
    [this.#open, ...this.#free] = all;
    const type = (
      rows: number,
      { shape = [], dtype = "float32" }: Partial<TensorType> = {},
    ): TensorType => ({ shape: [rows, ...shape], dtype });
    const { maxSteps } = options;
    this.batch = {
      observations: type(maxSteps + 1, observationInput),
      last: type(1, observationInput),
      actions: type(maxSteps, {
        shape: distribution.actionShape,
        dtype: distribution.actionDtype,
      }),
      nextAction: type(1, { dtype: "int32" }),
      nextIsBest: type(1),
      returns: type(maxSteps),
      discounts: type(maxSteps),
      weights: type(maxSteps),
      isLast: type(maxSteps + 1),
      ...(stateSize > 0 && {
        masks: type(maxSteps + 1),
        state: type(1, { shape: [stateSize] }),
      }),
    };
  }

  /** Steps of the open window. */
  get length(): number {
    return this.#open.length;
  }

  /** True where the window that is drawn ended an episode. */
  get hasEnded(): boolean {
    return this.#ready[0].hasEnded;
  }

  /**
   * Adds a step.
   *
   * @param decision The decision.
   * @param step The environment's answer; copied.
   */
  add(decision: Decision, step: VecStep): void {
    const { maxSteps, takesNextAction } = this.#options;
    if (takesNextAction && this.#open.length > 0) {
      this.#complete(decision.actions[0]);
    }
    const last = this.#read(nextObservations(step, this.#size));
    this.#open.add(decision, { step, last });
    const { length, hasEnded } = this.#open;
    // The next action after a cut is unknown: the best one stands for it.
    if (hasEnded || !takesNextAction && length === maxSteps) this.#complete();
  }

  #complete(nextAction?: number): void {
    this.#open.complete(this.#options.gamma, nextAction);
    this.#ready.push(this.#open);
    this.#open = this.#free.pop()!;
  }

  /** Counts the windows that are complete. */
  due(): number {
    return this.#ready.length;
  }

  /** Gives the arrays of the oldest of them. */
  draw(): Arrays {
    return this.#ready[0].arrays;
  }

  /** Forgets the oldest of them. */
  drop(): void {
    const window = this.#ready.shift()!;
    window.clear();
    this.#free.push(window);
  }

  /** Saves the open window. */
  save(): StateTree {
    return this.#open.save();
  }

  /** Restores what `save` gave. */
  load(state: StateTree): void {
    this.#open.load(state);
  }
}
