import { ARRAYS, type TensorData, type TensorType } from "@bellman/compute";
import { copyArrays, restoreArrays } from "@bellman/files";
import {
  choicesOf,
  mapParts,
  nextActionMasks,
  nextObservations,
  type ObservationBatch,
  observationBuffer,
  type ObservationInputArrays,
  partOf,
  type Policy,
} from "@bellman/policies";
import type { StateTree } from "@bellman/types";
import type * as tf from "@tensorflow/tfjs";
import { FLAG, NUMBER, rowsOf } from "./_tensor_types.ts";
import type { BuildContext, Memory, PolicyStep, Sample } from "./algorithm.ts";

/** Options of {@link NStepRollout}. */
export interface NStepRolloutOptions {
  /** Largest number of steps of a rollout window. */
  readonly maxSteps: number;
  /** Discount of a step. */
  readonly gamma: number;
  /**
   * Bootstrap from the next action taken, as Sarsa does, which delays learning by a
   * step.
   *
   * @default false
   */
  readonly takesNextAction?: boolean;
}

/** Batch of an {@link NStepRollout}. */
export interface NStepBatch {
  /** Encoded observations of the steps, and the one after the last `[maxSteps + 1, ...]`. */
  readonly observations: tf.Tensor;
  /** Actions `[maxSteps, ...]`. */
  readonly actions: tf.Tensor;
  /** Row of the observation after the last step `[1]`. */
  readonly lastRow: tf.Tensor1D;
  /** Next action taken, if any `[1]`. */
  readonly nextAction: tf.Tensor;
  /** 1 if there is no next action, so that the best one is used `[1]`. */
  readonly nextIsBest: tf.Tensor1D;
  /**
   * Discounted sums of rewards from each step to the last, without bootstrapping
   * `[maxSteps]`.
   */
  readonly returns: tf.Tensor1D;
  /** Discounts of the bootstrap value, which the update adds `[maxSteps]`. */
  readonly discounts: tf.Tensor1D;
  /** 1 for a step, 0 for padding `[maxSteps]`. */
  readonly weights: tf.Tensor1D;
  /** Recurrent state before the first step `[1, stateSize]`; recurrent only. */
  readonly state?: tf.Tensor2D;
  /** 1 where an episode starts `[maxSteps + 1]`; recurrent only. */
  readonly masks?: tf.Tensor1D;
  /** 1 where a choice is allowed `[maxSteps + 1, choices]`; with masks only. */
  readonly actionMasks?: tf.Tensor2D;
}

/**
 * Rollout windows of one environment for n-step methods, each learned from once. A
 * window ends after `maxSteps` steps or with its episode; padding has weight 0. Returns
 * lack the bootstrap value, which the update adds: {@link NStepBatch}.
 *
 * @example
 * ```ts
 * import { NStepRollout } from "@bellman/agent";
 * import { Observations, stochasticPolicy } from "@bellman/policies";
 * import type { Space } from "@bellman/types";
 * import { assertEquals } from "@std/assert";
 *
 * const observationSpace: Space = { type: "discrete", n: 4 };
 * const actionSpace: Space = { type: "discrete", n: 2 };
 * const windows = new NStepRollout(
 *   { observations: new Observations(observationSpace), numEnvs: 1 },
 *   stochasticPolicy({ observationSpace, actionSpace }),
 *   { maxSteps: 3, gamma: 0.9 },
 * );
 * // Three steps, and the observation after them.
 * assertEquals(windows.batch.observations.shape, [4, 1]);
 * ```
 */
export class NStepRollout implements Memory<NStepBatch> {
  /** Shapes and types of a window. */
  batch: Memory<NStepBatch>["batch"];
  readonly #options: NStepRolloutOptions;
  readonly #read: (given: ObservationBatch) => ObservationInputArrays;
  /** Arrays by the names of the batch, with one more row: Sarsa may have two windows. */
  readonly #arrays: Record<string, TensorData> = {};
  /** Arrays of the window that was taken last. */
  readonly #window: Record<string, TensorData> = {};
  /** Observations, likewise. */
  readonly #seen: ObservationInputArrays;
  readonly #windowSeen: ObservationInputArrays;
  readonly #rewards: Float64Array;
  #length = 0;
  /** True where the last step ended its episode, and where it terminated. */
  readonly #end = { ended: false, terminated: false };

  /**
   * Creates an empty window.
   *
   * @param context Observations of an agent in one environment.
   * @param policy Policy that acts.
   * @param options Length, discount, Sarsa or not.
   * @throws {RangeError} If there are more environments.
   */
  constructor(
    context: Pick<BuildContext, "observations" | "numEnvs" | "masked">,
    policy: Policy,
    options: NStepRolloutOptions,
  ) {
    const { observations, numEnvs } = context;
    if (numEnvs !== 1) {
      throw new RangeError(
        `Cannot learn from windows with numEnvs = ${numEnvs}: expected 1`,
      );
    }
    const { maxSteps } = options, { observationInput, stateSize } = policy;
    const { actionShape: shape, actionDtype: dtype } = policy.distribution;
    const action = { shape, dtype };
    this.#options = options;
    this.#read = observations.reader(1);
    this.#rewards = new Float64Array(maxSteps + 1);
    const types: Record<string, TensorType> = {
      actions: rowsOf(maxSteps, action),
      lastRow: rowsOf(1, { shape: [], dtype: "int32" }),
      nextAction: rowsOf(1, action),
      nextIsBest: rowsOf(1, NUMBER),
      returns: rowsOf(maxSteps, NUMBER),
      discounts: rowsOf(maxSteps, NUMBER),
      weights: rowsOf(maxSteps, NUMBER),
      ...(stateSize > 0 && {
        masks: rowsOf(maxSteps + 1, NUMBER),
        state: { ...NUMBER, shape: [1, stateSize] },
      }),
      ...(context.masked && {
        actionMasks: rowsOf(maxSteps + 1, {
          ...FLAG,
          shape: [choicesOf(policy)],
        }),
      }),
    };
    const seen = rowsOf(maxSteps + 1, observationInput);
    this.batch = { observations: seen, ...types } as Memory<
      NStepBatch
    >["batch"];
    this.#seen = observationBuffer(policy, maxSteps + 2);
    this.#windowSeen = observationBuffer(policy, maxSteps + 1);
    for (const [name, { shape, dtype }] of Object.entries(types)) {
      const [rows, ...row] = shape;
      const width = row.reduce((product, it) => product * it, 1);
      const array = new ARRAYS[dtype]((rows + 1) * width);
      this.#arrays[name] = array;
      this.#window[name] = new ARRAYS[dtype](rows * width);
    }
  }

  /** Number of steps not learned from yet. */
  get length(): number {
    return this.#length;
  }

  /** True if the current window ended an episode. */
  get hasEnded(): boolean {
    return this.#end.ended && this.#length <= this.#options.maxSteps;
  }

  /**
   * Adds a step.
   *
   * @param step Actions, and the environment's step; copied.
   */
  add(step: PolicyStep): void {
    const { inputs, actions, actionMasks, starts, state } = step;
    const arrays = this.#arrays, at = this.#length++;
    if (state.length > 0) {
      if (at === 0) arrays.state.set(state);
      arrays.masks[at] = starts[0];
    }
    this.#write(inputs, at);
    arrays.actions.set(actions, at * actions.length);
    this.#rewards[at] = step.step.rewards[0];
    this.#write(this.#read(nextObservations(step.step)), at + 1);
    if (actionMasks) {
      const size = actionMasks.length;
      arrays.actionMasks.set(actionMasks, at * size);
      arrays.actionMasks.set(nextActionMasks(step.step, size), (at + 1) * size);
    }
    this.#end.terminated = step.step.terminated[0] === 1;
    this.#end.ended = this.#end.terminated || step.step.truncated[0] === 1;
  }

  /** Ends the episode at the last step; what is not learned from yet is then overdue. */
  endEpisodes(): void {
    if (this.#length > 0) this.#end.ended = true;
  }

  /** Number of windows of a finished episode, which the next step would overwrite. */
  get overdue(): number {
    return this.#end.ended ? this.ready() : 0;
  }

  /** Writes an observation. */
  #write(row: ObservationInputArrays, at: number): void {
    mapParts(
      row,
      (numbers, part) =>
        partOf(this.#seen, part).set(numbers, at * numbers.length),
    );
  }

  /** Returns the number of complete windows. */
  ready(): number {
    const { maxSteps, takesNextAction = false } = this.#options;
    if (this.#end.ended) return Math.ceil(this.#length / maxSteps);
    const complete = this.#length - Number(takesNextAction);
    return complete > 0 ? Math.floor(complete / maxSteps) : 0;
  }

  /** Takes the oldest window; the next call overwrites its arrays. */
  sample(): Sample {
    const { maxSteps, gamma } = this.#options;
    const window = this.#window, count = Math.min(this.#length, maxSteps);
    for (const name in window) {
      window[name].set(this.#arrays[name].subarray(0, window[name].length));
    }
    mapParts(
      this.#windowSeen,
      (into, part) =>
        into.set(partOf(this.#seen, part).subarray(0, into.length)),
    );
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
    window.nextIsBest[0] = Number(isNewest);
    const { actions } = this.#arrays, { nextAction } = window;
    const at = count * nextAction.length;
    nextAction.set(actions.subarray(at, at + nextAction.length));
    this.#drop();
    return { batch: { ...window, observations: this.#windowSeen } };
  }

  /** Drops the oldest one. */
  #drop(): void {
    const { maxSteps } = this.#options;
    this.#length = Math.max(0, this.#length - maxSteps);
    if (this.#length === 0) return;
    const { actions, actionMasks } = this.#arrays, rows = maxSteps + 2;
    const shift = (array: TensorData) =>
      array.copyWithin(0, maxSteps * array.length / rows);
    mapParts(this.#seen, shift);
    if (actionMasks) shift(actionMasks);
    actions.copyWithin(0, this.#window.actions.length);
    this.#rewards.copyWithin(0, maxSteps);
  }

  /** Saves the steps to learn from. */
  save(): StateTree {
    return {
      arrays: copyArrays({ ...this.#arrays, observations: this.#seen }),
      rewards: this.#rewards.slice(),
      length: this.#length,
      ...this.#end,
    };
  }

  /** Restores what `save` returned; a wrong state changes nothing. */
  load(state: StateTree): void {
    const saved = state as Record<string, StateTree>;
    const { arrays, rewards, length, ...end } = saved;
    restoreArrays({
      arrays: { ...this.#arrays, observations: this.#seen },
      rewards: this.#rewards,
    }, { arrays, rewards });
    this.#length = length as number;
    Object.assign(this.#end, end);
  }
}
