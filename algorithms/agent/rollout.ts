import * as tf from "@tensorflow/tfjs";
import { RolloutBuffer, type RolloutBufferState } from "@bellman/buffers";
import { scan, type TensorData, type TensorType } from "@bellman/compute";
import { loadAtomically, restoreArrays } from "@bellman/files";
import {
  type ActorCriticOutput,
  choicesOf,
  compilePolicy,
  type DictOf,
  mapParts,
  nextObservations,
  type ObservationBatch,
  observationBuffer,
  type ObservationInputArrays,
  partOf,
  type Policy,
  type PolicyMemory,
  type PolicyOutput,
} from "@bellman/policies";
import {
  explainedVariance,
  generalizedAdvantageEstimation,
} from "@bellman/returns";
import type { StateTree } from "@bellman/types";
import type { BuildContext, Memory, PolicyStep, Sample } from "./algorithm.ts";
import { FLAG, NUMBER, rowsOf } from "./_tensor_types.ts";

/** A complete rollout; arrays are env-major, `[numEnvs, numSteps]`. */
export interface RolloutData {
  /** Parallel environments. */
  readonly numEnvs: number;
  /** Steps of each environment. */
  readonly numSteps: number;
  /** Rewards. */
  readonly rewards: Float64Array;
  /** 1 where an episode terminated. */
  readonly terminated: Uint8Array;
  /** 1 where an episode was truncated. */
  readonly truncated: Uint8Array;
  /** Values of the observations before each step. */
  readonly values: Float32Array;
  /** Values of the final observations of truncated episodes. */
  readonly finalValues: Float32Array;
  /** Values of the observations after the last step `[numEnvs]`. */
  readonly lastValues: Float32Array;
}

/** Inputs of the update that `targets` computes, such as advantages. */
export interface RolloutTargets {
  /** Numbers `[numEnvs, numSteps]` by the names of `RolloutOptions.inputs`. */
  readonly inputs: Readonly<Record<string, ArrayLike<number>>>;
  /**
   * Statistics for the log.
   *
   * @default {}
   */
  readonly stats?: Readonly<Record<string, number>>;
}

/** A complete rollout as tensors, step-major: `[numSteps, numEnvs]`. */
export interface RolloutTensors {
  /** Rewards. */
  readonly rewards: tf.Tensor;
  /** 1 where an episode terminated. */
  readonly terminated: tf.Tensor;
  /** 1 where an episode was truncated. */
  readonly truncated: tf.Tensor;
  /** Values of the observations before each step. */
  readonly values: tf.Tensor;
  /** Values of the final observations of truncated episodes. */
  readonly finalValues: tf.Tensor;
  /** Values of the observations after the last step `[numEnvs]`. */
  readonly lastValues: tf.Tensor;
}

/** Inputs of the update that `tensorTargets` computes. */
export interface TensorTargets {
  /** Numbers `[numSteps, numEnvs]` by the names of `RolloutOptions.inputs`. */
  readonly inputs: Readonly<Record<string, tf.Tensor>>;
  /**
   * Scalars for the log.
   *
   * @default {}
   */
  readonly stats?: Readonly<Record<string, tf.Tensor>>;
}

/** Options of {@link Rollout}. */
export interface RolloutOptions {
  /** Steps of each environment between two updates. */
  readonly numSteps: number;
  /**
   * When to compute values: at each step with the actions, or at the end of the rollout
   * for all steps, if the value network is separate.
   *
   * @default never: all values are 0
   */
  readonly values?: "acting" | "end";
  /**
   * Bootstrap from the final observation of truncated episodes; false treats truncation
   * as termination.
   *
   * @default true
   */
  readonly bootstrapTruncated?: boolean;
  /**
   * Additional policy results to record at each step, by name: type, and function of
   * the policy's output.
   *
   * @default none
   */
  readonly recorded?: Readonly<
    Record<string, TensorType & { of(output: PolicyOutput): tf.Tensor }>
  >;
  /** Names of the float32 inputs of the update that `targets` computes. */
  readonly inputs: readonly string[];
  /**
   * Computes these inputs from a complete rollout.
   *
   * @param data The rollout.
   */
  targets(data: RolloutData): RolloutTargets;
  /**
   * Computes the same on tensors, as a pure function, for device loops.
   *
   * @param data The rollout.
   * @default none: no loop on the device
   */
  tensorTargets?(data: RolloutTensors): TensorTargets;
}

/** Batch of a {@link Rollout}; rows are `env * numSteps + step`. */
export type RolloutBatch = {
  /** Encoded observations `[batch, ...observationShape]`. */
  readonly observations: tf.Tensor;
  /** Actions, as sampled `[batch, ...actionShape]`. */
  readonly actions: tf.Tensor;
  /** Recurrent state before the first step `[numEnvs, stateSize]`; recurrent only. */
  readonly state?: tf.Tensor2D;
  /** Episode starts: 1 where an episode starts at the row `[batch]`; recurrent only. */
  readonly masks?: tf.Tensor1D;
  /** Action masks `[batch, distribution.masking.size]`, if there are some. */
  readonly actionMasks?: tf.Tensor2D;
};

/**
 * Rollout buffer: the transitions since the last update, learned from once, as one
 * batch. It has `observations` as the policy saw them, `actions`, the results of
 * `targets`, `recorded` results, `actionMasks` with action masking and, for recurrent
 * policies, `state` before the first step `[numEnvs, stateSize]` and episode starts
 * `masks`.
 *
 * @typeParam B Batch of the update.
 *
 * @example
 * ```ts
 * import { a2c, defaultA2CConfig } from "@bellman/a2c";
 * import { Agent, Rollout } from "@bellman/agent";
 * import { assert } from "@std/assert";
 *
 * // See `a2c.build`; an agent is made of these parts.
 * const agent = new Agent({
 *   ...a2c,
 *   build(config, context) {
 *     const parts = a2c.build(config, context);
 *     assert(parts.memory instanceof Rollout);
 *     return parts;
 *   },
 * }, {
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 2,
 * }, { config: { ...defaultA2CConfig, hiddenSizes: [8] }, engine: "eager" });
 * agent.close();
 * ```
 */
export class Rollout<B = RolloutBatch> implements Memory<B> {
  /** Shapes and types of a batch, by name. */
  readonly batch: Memory<B>["batch"];
  /** Number of steps, values and targets. */
  readonly options: RolloutOptions;
  /** Computes values and recorded results; undefined if there are none. */
  readonly record?: Memory["record"];
  readonly #context: BuildContext;
  readonly #policy: Policy;
  readonly #fields: Readonly<Record<string, DictOf<TensorType>>>;
  #held: RolloutArrays | undefined;

  /**
   * Creates an empty rollout buffer; its arrays are allocated at the first step.
   *
   * @param context Observations and number of environments.
   * @param policy Policy that acts.
   * @param options Number of steps, values and targets.
   */
  constructor(context: BuildContext, policy: Policy, options: RolloutOptions) {
    const { numSteps, values, recorded = {}, inputs } = options;
    const { numEnvs, masked } = context;
    const { observationInput, distribution, stateSize } = policy;
    const { actionShape: shape, actionDtype: dtype } = distribution;
    const rows = numEnvs * numSteps;
    this.options = options;
    this.#context = context;
    this.#policy = policy;
    if (values === "acting" || options.recorded) {
      this.record = (output) => ({
        ...(values === "acting" && { values: valueOf(output) }),
        ...recordedOf(options, output),
      });
    }
    this.#fields = {
      observations: observationInput,
      actions: { shape, dtype },
      ...mapNames(Object.keys(recorded), (name) => {
        const { shape, dtype } = recorded[name];
        return { shape, dtype };
      }),
      ...(stateSize > 0 && { masks: NUMBER }),
      ...(masked && { actionMasks: { ...FLAG, shape: [choicesOf(policy)] } }),
    };
    const types = { ...this.#fields, ...mapNames(inputs, () => NUMBER) };
    this.batch = {
      ...mapNames(Object.keys(types), (name) => rowsOf(rows, types[name])),
      ...(stateSize > 0 && {
        state: rowsOf(numEnvs, { ...NUMBER, shape: [stateSize] }),
      }),
    } as Memory<B>["batch"];
  }

  /** Arrays of the steps. */
  get #arrays(): RolloutArrays {
    return this.#held ??= makeArrays(this.#context, this.#policy, {
      options: this.options,
      fields: this.#fields,
    });
  }

  /**
   * Records a step; copied.
   *
   * @param step The decision, and the environments' answer.
   * @throws {Error} If an update is needed first.
   */
  add(step: PolicyStep): void {
    const { inputs, actions, actionMasks, recorded, state, starts } = step;
    const { rewards, terminated, truncated, observations } = step.step;
    const { buffer, none, initialState, last, valuesOf, read } = this.#arrays;
    if (buffer.full) throw unlearned("rollout");
    const finalValues = this.#finalValues(step);
    if (buffer.length === 0) initialState.set(state);
    buffer.add({
      ...mapNames(
        Object.keys(this.options.recorded ?? {}),
        (name) => recorded[name]!,
      ),
      observations: inputs,
      actions,
      rewards,
      terminated,
      truncated,
      values: recorded.values ?? none,
      finalValues,
      ...(state.length > 0 && { masks: starts }),
      ...(actionMasks && { actionMasks }),
    });
    if (valuesOf) setParts(last, read(observations));
    if (buffer.full) this.#end(step);
  }

  /** Computes values of the last observations of episodes that were truncated. */
  #finalValues({ nextState, step }: PolicyStep): Float32Array {
    const { terminated, truncated } = step;
    const { bootstrapTruncated = true } = this.options;
    const { none, valuesOf, read } = this.#arrays;
    const isCut = bootstrapTruncated &&
      truncated.some((cut, i) => cut > terminated[i]);
    if (valuesOf === undefined || !isCut) return none;
    // The episode continues as far as the value is concerned: its state stays.
    const memory = { state: nextState!, starts: none };
    return valuesOf(read(nextObservations(step)), memory);
  }

  /** Ends a rollout with the values of the observations after it. */
  #end({ nextState, step: { terminated, truncated } }: PolicyStep): void {
    if (this.options.values !== "acting") return;
    const { data, last, valuesOf } = this.#arrays;
    const ends = terminated.map((end, i) => end | truncated[i]);
    const starts = Float32Array.from(ends);
    data.lastValues.set(valuesOf!(last, { state: nextState!, starts }));
  }

  /**
   * Truncates the episodes that the last step left running.
   *
   * @param state Recurrent state after that step.
   */
  endEpisodes(state: Float32Array): void {
    if (this.#held === undefined) return;
    const { buffer, data, last, none, valuesOf } = this.#held;
    const { length, full } = buffer;
    const { numEnvs, numSteps, terminated, truncated, finalValues } = data;
    const running = Array.from(
      { length: numEnvs },
      (_, env) => env * numSteps + length - 1,
    ).filter((row) => !(terminated[row] || truncated[row]));
    if (length === 0 || full || running.length === 0) return;
    const { bootstrapTruncated = true } = this.options;
    const values = bootstrapTruncated
      ? valuesOf?.(last, { state, starts: none })
      : undefined;
    for (const row of running) {
      truncated[row] = 1;
      if (values) finalValues[row] = values[Math.floor(row / numSteps)];
    }
  }

  /** Returns 1 if the rollout is complete. */
  ready(): number {
    return this.#held?.buffer.full ? 1 : 0;
  }

  /** Computes the targets; the next step begins another rollout. */
  sample(): Sample {
    const { buffer, data, drawn, targets } = this.#arrays;
    const { bootstrapTruncated = true } = this.options;
    const { terminated, truncated } = data;
    this.#valueAll();
    const { inputs, stats } = this.options.targets(
      bootstrapTruncated ? data : {
        ...data,
        terminated: terminated.map((end, i) => end | truncated[i]),
      },
    );
    for (const name in targets) targets[name].set(targetOf(inputs, name));
    buffer.clear();
    return { batch: drawn, stats };
  }

  /** Computes the values of all observations, where they are taken at the end. */
  #valueAll(): void {
    const { all, data, drawn, valuesOf } = this.#arrays;
    if (all === undefined) return;
    const { values, lastValues } = data;
    setParts(all, drawn.observations);
    const computed = valuesOf!(all);
    values.set(computed.subarray(0, values.length));
    lastValues.set(computed.subarray(values.length));
  }

  /** Saves the steps so far. */
  save(): StateTree {
    const { buffer, initialState, data, last } = this.#arrays;
    return {
      buffer: buffer.save(),
      initialState: initialState.slice(),
      lastValues: data.lastValues.slice(),
      lastObservations: mapParts(last, (part) => part.slice()),
    };
  }

  /** Restores what `save` returned; a wrong state changes nothing. */
  load(state: StateTree): void {
    loadAtomically(state, {
      save: () => this.save(),
      load: (state) => this.#restore(state as Record<string, StateTree>),
    });
  }

  #restore(saved: Record<string, StateTree>): void {
    const { buffer, initialState, data, last } = this.#arrays;
    buffer.load(saved.buffer as RolloutBufferState);
    restoreArrays({ initialState, lastValues: data.lastValues }, saved);
    // Older files lack them, but hold no full rollout: only a reset needs them then.
    const { lastObservations } = saved;
    if (lastObservations === undefined) return;
    restoreArrays({ last }, { last: lastObservations });
  }
}

/** Arrays of a rollout. */
interface RolloutArrays {
  readonly buffer: RolloutBuffer;
  /** Views of it. */
  readonly data: RolloutData;
  /** Arrays of the batch. */
  readonly drawn: Sample["batch"];
  /** Those of it that `targets` computes. */
  readonly targets: Readonly<Record<string, Float32Array>>;
  /** Recurrent state before the first step. */
  readonly initialState: Float32Array;
  readonly none: Float32Array;
  readonly valuesOf: Values | undefined;
  readonly read: (given: ObservationBatch) => ObservationInputArrays;
  /** All observations of a rollout and those after it, for values at the end. */
  readonly all: ObservationInputArrays | undefined;
  /** Observations after the last step, where values are taken. */
  readonly last: ObservationInputArrays;
}

function makeArrays(
  context: BuildContext,
  policy: Policy,
  { options, fields }: {
    readonly options: RolloutOptions;
    readonly fields: Readonly<Record<string, DictOf<TensorType>>>;
  },
): RolloutArrays {
  const { numSteps, values, inputs } = options, { numEnvs } = context;
  const rows = numEnvs * numSteps;
  const all = values === "end"
    ? observationBuffer(policy, rows + numEnvs)
    : undefined;
  const buffer = new RolloutBuffer({
    numEnvs,
    numSteps,
    fields: {
      ...fields,
      rewards: { shape: [], dtype: "float64" },
      terminated: FLAG,
      truncated: FLAG,
      values: NUMBER,
      finalValues: NUMBER,
    },
  });
  const initialState = new Float32Array(numEnvs * policy.stateSize);
  const targets = mapNames(inputs, () => new Float32Array(rows));
  return {
    buffer,
    data: {
      numEnvs,
      numSteps,
      rewards: buffer.data("rewards"),
      terminated: buffer.data("terminated"),
      truncated: buffer.data("truncated"),
      values: buffer.data("values"),
      finalValues: buffer.data("finalValues"),
      lastValues: new Float32Array(numEnvs),
    },
    drawn: {
      ...mapNames(
        Object.keys(fields),
        (name) => (buffer as RolloutBuffer).data(name) as DictOf<TensorData>,
      ),
      ...targets,
      ...(policy.stateSize > 0 && { state: initialState }),
    },
    targets,
    initialState,
    none: new Float32Array(numEnvs),
    valuesOf: values && valuesOf(context, policy),
    read: context.observations.reader(numEnvs),
    all,
    last: all
      ? mapParts(
        all,
        (all) => all.subarray(all.length - all.length / (numSteps + 1)),
      )
      : observationBuffer(policy, values ? numEnvs : 0),
  };
}

/** Computes the targets of a rollout of tensors. */
export function targetsOfTensors(
  { bootstrapTruncated = true, tensorTargets }: RolloutOptions,
  data: RolloutTensors,
): TensorTargets {
  const { terminated, truncated } = data;
  if (bootstrapTruncated) return tensorTargets!(data);
  const ended = tf.maximum(terminated, truncated);
  return tensorTargets!({ ...data, terminated: ended });
}

/** Computes what a step is recorded with in addition to its value. */
export function recordedOf(
  { recorded = {} }: Pick<RolloutOptions, "recorded">,
  output: PolicyOutput,
): Record<string, tf.Tensor> {
  return mapNames(Object.keys(recorded), (name) => recorded[name].of(output));
}

/** Returns the error of a step before the update that is needed. */
export function unlearned(what: string): Error {
  return new Error(
    `Cannot record a step after a full ${what}: call update() to learn from it first`,
  );
}

function mapNames<K extends string, T>(
  names: readonly K[],
  value: (name: K) => T,
): Record<K, T> {
  return Object.fromEntries(
    names.map((name) => [name, value(name)]),
  ) as Record<K, T>;
}

/** Returns the values in a policy's output. */
export function valueOf(output: PolicyOutput): tf.Tensor1D {
  return (output as ActorCriticOutput).value;
}

/** Copies observations to the start of others. */
function setParts(
  target: ObservationInputArrays,
  source: DictOf<TensorData>,
): void {
  mapParts(target, (part, name) => part.set(partOf(source, name)));
}

type Values = (
  inputs: ObservationInputArrays,
  memory?: PolicyMemory,
) => Float32Array;

/** Returns a value function of the latest parameters, compiled for each number of rows. */
function valuesOf({ learned }: BuildContext, policy: Policy): Values {
  const compileFor = (rows: number) =>
    compilePolicy(policy, (output) => ({ values: valueOf(output) }), {
      ...learned.compilation,
      name: "values",
      numEnvs: rows,
    });
  const compiled = new Map<number, ReturnType<typeof compileFor>>();
  return (observations, memory) => {
    let numbers = 0;
    mapParts(observations, ({ length }) => numbers += length);
    const rows = numbers / policy.observationSize;
    const run = compiled.get(rows) ?? compileFor(rows);
    compiled.set(rows, run);
    return run({ params: learned.params, observations, memory })
      .values as Float32Array;
  };
}

/**
 * Returns the tensor or array of a name that `targets` was to compute.
 *
 * @throws {TypeError} If there is none.
 */
export function targetOf<T>(
  targets: Readonly<Record<string, T>>,
  name: string,
): T {
  const found = targets[name];
  if (found !== undefined) return found;
  const names = Object.keys(targets).join(", ") || "nothing";
  throw new TypeError(
    `Cannot learn from a rollout without '${name}', which its inputs name: targets gives ${names}`,
  );
}

/** Settings of {@link advantageTargets}, by their names in configurations. */
export interface AdvantageOptions {
  /** Discount factor of one step. */
  readonly gamma: number;
  /** GAE lambda, from 0 (one-step TD errors) to 1 (full returns). */
  readonly gaeLambda: number;
  /** Normalize advantages to mean 0 and standard deviation 1. */
  readonly normalizeAdvantage: boolean;
}

/**
 * Makes the targets of an on-policy actor-critic: `advantages` by generalized advantage
 * estimation (GAE), `returns`, and the statistic `explained_variance`, as functions of
 * arrays and of tensors.
 *
 * Source: Schulman et al. 2016 (https://arxiv.org/abs/1506.02438).
 *
 * @param options Discount factor, lambda, normalization.
 * @returns Options of `Rollout`.
 *
 * @example
 * ```ts
 * import { advantageTargets } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const options = { gamma: 0.99, gaeLambda: 1, normalizeAdvantage: false };
 * assertEquals(advantageTargets(options).inputs, ["advantages", "returns"]);
 * ```
 */
export function advantageTargets(
  { gamma, gaeLambda: lambda, normalizeAdvantage }: AdvantageOptions,
): Pick<RolloutOptions, "inputs" | "targets" | "tensorTargets"> {
  return {
    inputs: ["advantages", "returns"],
    targets(data) {
      const made = generalizedAdvantageEstimation(data, {
        ...data,
        gamma,
        lambda,
      });
      const { returns } = made;
      const advantages = normalizeAdvantage
        ? normalized(made.advantages)
        : made.advantages;
      return {
        inputs: { advantages, returns },
        stats: { explained_variance: explainedVariance(data.values, returns) },
      };
    },
    tensorTargets(data) {
      const made = tensorAdvantages(data, { gamma, lambda });
      const { returns } = made;
      const advantages = normalizeAdvantage
        ? normalizedTensor(made.advantages)
        : made.advantages;
      const explained_variance = tensorExplainedVariance(data.values, returns);
      return { inputs: { advantages, returns }, stats: { explained_variance } };
    },
  };
}

/** Shifts and scales numbers to mean 0 and standard deviation 1. */
function normalized(values: ArrayLike<number>): Float32Array {
  const numbers = Array.from(values);
  const mean = numbers.reduce((sum, it) => sum + it, 0) / numbers.length;
  const variance = numbers.reduce((sum, it) => sum + (it - mean) ** 2, 0) /
    numbers.length;
  const scale = 1 / (Math.sqrt(variance) + 1e-8);
  return Float32Array.from(numbers, (it) => (it - mean) * scale);
}

function normalizedTensor(values: tf.Tensor): tf.Tensor {
  const { mean, variance } = tf.moments(values);
  return tf.div(tf.sub(values, mean), tf.add(tf.sqrt(variance), 1e-8));
}

/** Largest number of steps that is unrolled, which is faster. */
const MAX_UNROLLED = 16;

/**
 * Computes advantages by GAE as `generalizedAdvantageEstimation` of `@bellman/returns`,
 * as a pure function of tensors.
 *
 * @param data Rollout `[numSteps, numEnvs]`.
 * @param options Discount factor and lambda.
 * @returns Advantages and returns `[numSteps, numEnvs]`.
 *
 * @example
 * ```ts
 * import { tensorAdvantages } from "@bellman/agent";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const { returns } = tensorAdvantages({
 *   rewards: tf.tensor2d([[1], [1]]),
 *   values: tf.tensor2d([[2], [4]]),
 *   terminated: tf.tensor2d([[0], [0]]),
 *   truncated: tf.tensor2d([[0], [1]]),
 *   finalValues: tf.tensor2d([[0], [8]]),
 *   lastValues: tf.tensor1d([100]), // of the next episode
 * }, { gamma: 0.5, lambda: 1 });
 * assertEquals([...returns.dataSync()], [3.5, 5]);
 * ```
 */
export function tensorAdvantages(
  data: RolloutTensors,
  { gamma, lambda }: { readonly gamma: number; readonly lambda: number },
): { advantages: tf.Tensor; returns: tf.Tensor } {
  const { lastValues, values, ...rows } = data;
  const length = values.shape[0];
  const { results } = scan({
    valueTp1: lastValues as tf.Tensor,
    advantage: tf.zerosLike(lastValues) as tf.Tensor,
  }, {
    length,
    rows: { ...rows, values },
    isReversed: true,
    isUnrolled: length <= MAX_UNROLLED,
    body({ valueTp1, advantage }, row) {
      const goesOn = tf.sub(1, row.terminated);
      const runs = tf.mul(goesOn, tf.sub(1, row.truncated));
      // After an end, another value follows, or none.
      const cut = tf.mul(tf.mul(goesOn, row.truncated), row.finalValues);
      const following = tf.add(tf.mul(runs, valueTp1), cut);
      const delta = tf.sub(
        tf.add(row.rewards, tf.mul(following, gamma)),
        row.values,
      );
      const rest = tf.mul(tf.mul(runs, advantage), gamma * lambda);
      const next = tf.add(delta, rest);
      return {
        state: { valueTp1: row.values, advantage: next },
        results: { advantages: next },
      };
    },
  });
  const { advantages } = results;
  return { advantages, returns: tf.add(advantages, values) };
}

/**
 * Computes the explained variance as `explainedVariance` of `@bellman/returns`, as a
 * pure function of tensors.
 *
 * @param predictions Predictions.
 * @param targets True values; as many.
 * @returns A scalar of at most 1; NaN where the targets do not vary.
 *
 * @example
 * ```ts
 * import { tensorExplainedVariance } from "@bellman/agent";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const targets = tf.tensor1d([1, 2, 3]);
 * assertEquals(tensorExplainedVariance(targets, targets).dataSync()[0], 1);
 * ```
 */
export function tensorExplainedVariance(
  predictions: tf.Tensor,
  targets: tf.Tensor,
): tf.Scalar {
  const squares = (x: tf.Tensor) =>
    tf.sum(tf.square(tf.sub(x, tf.mean(x)))) as tf.Scalar;
  const ofTargets = squares(targets);
  const ofErrors = squares(tf.sub(targets, predictions));
  const varies = tf.greater(tf.max(targets), tf.min(targets));
  const share = tf.sub(1, tf.div(ofErrors, ofTargets));
  return tf.where(varies, share, NaN) as tf.Scalar;
}
