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
  /** Numbers of an observation, as the environment gives it and as it is kept. */
  readonly #sizes: { given: number; kept: number };
  /** Rows of steps that are to be learned from, and the observation after them. */
  readonly #steps: {
    observations: ObservationInputArray;
    actions: Float32Array | Int32Array;
    rewards: Float64Array;
    masks: Float32Array;
    state: Float32Array;
  };
  /** Arrays of the oldest window, by the names of the batch. */
  readonly #window;
  #length = 0;
  /** 1 where the last step ended its episode, and where it had no future. */
  readonly #end = { ended: 0, terminated: 0 };

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
    const { maxSteps, takesNextAction = false } = options;
    const { actionShape, actionDtype } = distribution;
    const { observationSize: kept } = policy;
    this.#options = options;
    this.#read = observations.reader(1);
    this.#sizes = { given: observations.encoder.observationSize, kept };
    // Sarsa may have two to learn from where an episode ends.
    const rows = maxSteps + Number(takesNextAction);
    const width = actionShape.reduce((product, it) => product * it, 1);
    const actions = new (actionDtype === "int32" ? Int32Array : Float32Array)(
      rows * width,
    );
    const steps = this.#steps = {
      observations: observationBuffer(policy, rows + 1),
      actions,
      rewards: new Float64Array(rows),
      masks: new Float32Array(rows + 1),
      state: new Float32Array(stateSize),
    };
    this.#window = {
      observations: steps.observations.subarray(0, (maxSteps + 1) * kept),
      last: observationBuffer(policy, 1),
      actions: actions.subarray(0, maxSteps * width),
      nextAction: new Int32Array(1),
      nextIsBest: new Float32Array(1),
      returns: new Float32Array(maxSteps),
      discounts: new Float32Array(maxSteps),
      weights: new Float32Array(maxSteps),
      isLast: new Float32Array(maxSteps + 1),
      masks: steps.masks.subarray(0, maxSteps + 1),
      state: steps.state,
    };
    const type = (
      rows: number,
      { shape = [], dtype = "float32" }: Partial<TensorType> = {},
    ): TensorType => ({ shape: [rows, ...shape], dtype });
    this.batch = {
      observations: type(maxSteps + 1, observationInput),
      last: type(1, observationInput),
      actions: type(maxSteps, { shape: actionShape, dtype: actionDtype }),
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

  /** Steps that are to be learned from. */
  get length(): number {
    return this.#length;
  }

  /** True where the window that is drawn ended an episode. */
  get hasEnded(): boolean {
    return this.#end.ended === 1 && this.#length <= this.#options.maxSteps;
  }

  /**
   * Adds a step.
   *
   * @param decision The decision.
   * @param step The environment's answer; copied.
   */
  add(decision: Decision, step: VecStep): void {
    const { inputs, actions, starts, state } = decision;
    const { given, kept } = this.#sizes;
    const steps = this.#steps, at = this.#length++;
    if (at === 0) steps.state.set(state);
    steps.observations.set(inputs, at * kept);
    steps.actions.set(actions, at * actions.length);
    steps.masks[at] = starts[0];
    steps.rewards[at] = step.rewards[0];
    const last = this.#read(nextObservations(step, given));
    steps.observations.set(last, (at + 1) * kept);
    this.#end.terminated = step.terminated[0];
    this.#end.ended = step.terminated[0] | step.truncated[0];
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
    const steps = this.#steps, window = this.#window, { kept } = this.#sizes;
    const count = Math.min(this.#length, maxSteps);
    const isNewest = count === this.#length;
    const hasFuture = !(isNewest && this.#end.terminated);
    let sum = 0;
    for (let t = maxSteps - 1; t >= 0; t--) {
      const isStep = t < count;
      window.weights[t] = Number(isStep);
      window.discounts[t] = isStep && hasFuture ? gamma ** (count - t) : 0;
      if (isStep) window.returns[t] = sum = steps.rewards[t] + gamma * sum;
    }
    window.last.set(
      steps.observations.subarray(count * kept, (count + 1) * kept),
    );
    window.masks[count] = 0;
    window.isLast.fill(0)[count] = 1;
    // The next action after a cut is unknown: the best one stands for it.
    window.nextIsBest[0] = Number(isNewest);
    window.nextAction[0] = isNewest ? 0 : steps.actions[count];
    return window;
  }

  /** Forgets the oldest of them. */
  drop(): void {
    const { maxSteps } = this.#options, steps = this.#steps;
    this.#length = Math.max(0, this.#length - maxSteps);
    if (this.#length === 0) return;
    steps.observations.copyWithin(0, maxSteps * this.#sizes.kept);
    steps.actions.copyWithin(0, this.#window.actions.length);
    steps.rewards.copyWithin(0, maxSteps);
  }

  /** Saves the steps that are to be learned from. */
  save(): StateTree {
    const steps = Object.entries(this.#steps);
    return {
      steps: Object.fromEntries(steps.map(([name, it]) => [name, it.slice()])),
      length: this.#length,
      ...this.#end,
    };
  }

  /** Restores what `save` gave. */
  load(state: StateTree): void {
    const { steps, length, ended, terminated } = state as Record<
      string,
      StateTree
    >;
    for (const [name, it] of Object.entries(this.#steps)) {
      it.set((steps as Record<string, Float32Array>)[name]);
    }
    this.#length = length as number;
    Object.assign(this.#end, { ended, terminated });
  }
}
