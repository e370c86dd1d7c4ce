import { RolloutBuffer, type RolloutBufferState } from "@bellman/buffers";
import {
  type Params,
  selectEngine,
  type TensorData,
  type TensorType,
} from "@bellman/compute";
import {
  type ActorCriticOutput,
  choicesOf,
  compilePolicy,
  mapParts,
  nameParts,
  observationBuffer,
  type ObservationInputArrays,
  type Observed,
  partOf,
  partsNamed,
  type PerPart,
  type PolicyMemory,
  type PolicyOutput,
} from "@bellman/policies";
import type { StateTree, Statistics, VecStep } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { FLAG, namedRowsOf, NUMBER, rowsOf } from "./_tensor_types.ts";
import type { Arrays, Tensors } from "./context.ts";
import type {
  AgentRuntime,
  Decision,
  Experience,
  ExperienceSpec,
} from "./experience.ts";
import { nextObservations } from "./observations.ts";

/** A complete rollout; arrays are env-major, `[numEnvs, numSteps]`. */
export interface RolloutData {
  /** Parallel environments. */
  readonly numEnvs: number;
  /** Steps of each environment. */
  readonly numSteps: number;
  /** Rewards. */
  readonly rewards: Float64Array;
  /** 1 where an episode reached an end state. */
  readonly terminated: Uint8Array;
  /** 1 where an episode was truncated. */
  readonly truncated: Uint8Array;
  /** Values of the observations that were acted on. */
  readonly values: Float32Array;
  /** Values of the last observations of episodes that were truncated. */
  readonly finalValues: Float32Array;
  /** Values of the observations after the last step `[numEnvs]`. */
  readonly lastValues: Float32Array;
}

/** Quantities that are learned from a rollout. */
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
  /** 1 where an episode reached an end state. */
  readonly terminated: tf.Tensor;
  /** 1 where an episode was truncated. */
  readonly truncated: tf.Tensor;
  /** Values of the observations that were acted on. */
  readonly values: tf.Tensor;
  /** Values of the last observations of episodes that were truncated. */
  readonly finalValues: tf.Tensor;
  /** Values of the observations after the last step `[numEnvs]`. */
  readonly lastValues: tf.Tensor;
}

/** Quantities that are learned from a rollout, as tensors. */
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

/** Options of {@link rollout}. */
export interface RolloutOptions {
  /** Steps of each environment between two updates. */
  readonly numSteps: number;
  /**
   * Time at which the policy's `value` is taken: at each step, with the actions,
   * or once at the end for all steps, where it has a separate network.
   *
   * @default never: all values are 0
   */
  readonly values?: "acting" | "end";
  /**
   * True where the value of the last observation counts where a time limit cut
   * an episode; false treats truncation as termination.
   *
   * @default true
   */
  readonly bootstrapTruncated?: boolean;
  /**
   * Further policy results that each step is recorded with, by name: their types, and
   * how they follow from an output.
   *
   * @default none
   */
  readonly recorded?: Readonly<
    Record<string, TensorType & { of(output: PolicyOutput): tf.Tensor }>
  >;
  /** Names of the float32 inputs of the update that `targets` computes. */
  readonly inputs: readonly string[];
  /**
   * Computes these inputs of a complete rollout.
   *
   * @param data The rollout.
   */
  targets(data: RolloutData): RolloutTargets;
  /**
   * Computes the same on tensors, as a pure function, for a loop on the device.
   *
   * @param data The rollout.
   * @default none: no loop on the device
   */
  tensorTargets?(data: RolloutTensors): TensorTargets;
}

/**
 * Creates an experience of the steps since the last update, which are learned from
 * once, as one batch: `observations` as the policy saw them, `actions`, what
 * `targets` computes, `actionMasks` where actions are masked and, of recurrent
 * policies, `state` before the first step `[numEnvs, stateSize]` and `masks`, 1 where
 * an episode starts.
 *
 * @param options Number of steps, values and targets.
 * @returns The `experience` of an algorithm's parts.
 *
 * @example
 * ```ts
 * import { rollout } from "@bellman/agent";
 * import { generalizedAdvantageEstimation } from "@bellman/returns";
 * import { assertEquals } from "@std/assert";
 *
 * const experience = rollout({
 *   numSteps: 20,
 *   values: "end",
 *   inputs: ["advantages", "returns"],
 *   targets: (data) => ({
 *     inputs: generalizedAdvantageEstimation(data, { ...data, gamma: 0.99 }),
 *   }),
 * });
 * assertEquals(experience.kind, "rollout");
 * ```
 */
export function rollout(
  options: RolloutOptions,
): ExperienceSpec<RolloutOptions> {
  return {
    kind: "rollout",
    options,
    make: (runtime) => new Rollout(options, runtime),
  };
}

class Rollout implements Experience {
  readonly batch: Readonly<Record<string, TensorType>>;
  readonly record: Experience["record"];
  readonly #options: RolloutOptions;
  readonly #policy: AgentRuntime["policy"];
  /** Names of what steps are recorded with in addition to values. */
  readonly #recorded: readonly string[];
  /** True where the update computes values and targets. */
  readonly #isPrepared: boolean;
  #stats: Statistics = {};
  readonly #values: Values | undefined;
  readonly #read: (given: Observed) => ObservationInputArrays;
  /** All observations of a rollout and those after it, for values at the end. */
  readonly #all: ObservationInputArrays | undefined;
  /** Observations after the last step, where values are taken. */
  readonly #last: ObservationInputArrays;
  readonly #buffer: RolloutBuffer;
  readonly #data: RolloutData;
  /** Results of `targets`; rewards in 32 bits, where the update computes them. */
  readonly #inputs: Readonly<Record<string, Float32Array>>;
  readonly #drawn: Arrays;
  readonly #none: Float32Array;
  /** Recurrent state before the first step. */
  readonly #initialState: Float32Array;

  constructor(options: RolloutOptions, runtime: AgentRuntime) {
    const { numSteps, values, inputs, bootstrapTruncated = true } = options;
    const { numEnvs, policy, observations, masked } = runtime;
    const { observationInput, distribution, stateSize } = policy;
    const { actionShape: shape, actionDtype: dtype } = distribution;
    const rows = numEnvs * numSteps;
    const isRecurrent = stateSize > 0;
    this.#options = { ...options, bootstrapTruncated };
    this.#recorded = Object.keys(options.recorded ?? {});
    this.#policy = policy;
    const isPrepared = valuesWithinUpdate(options, runtime);
    this.#isPrepared = isPrepared;
    this.#values = values && valuesOf(runtime);
    this.#read = observations.reader(numEnvs);
    if (values === "end" && !isPrepared) {
      this.#all = observationBuffer(policy, rows + numEnvs);
    }
    this.#last = this.#all
      ? mapParts(
        this.#all,
        (all) => all.subarray(all.length - all.length / (numSteps + 1)),
      )
      : observationBuffer(policy, values ? numEnvs : 0);
    if (values === "acting" || options.recorded) {
      this.record = (output) => ({
        ...(values === "acting" && { values: valueOf(output) }),
        ...recordedOf(options, output),
      });
    }
    const recorded = {
      ...nameParts("observations", observationInput as PerPart<TensorType>),
      actions: { shape, dtype },
      ...mapNames(this.#recorded, (name) => {
        const { shape, dtype } = options.recorded![name];
        return { shape, dtype };
      }),
      ...(isRecurrent && { masks: NUMBER }),
      ...(masked && { actionMasks: { ...FLAG, shape: [choicesOf(policy)] } }),
    };
    this.#buffer = new RolloutBuffer({
      numEnvs,
      numSteps,
      fields: {
        ...recorded,
        rewards: { shape: [], dtype: "float64" },
        terminated: FLAG,
        truncated: FLAG,
        values: NUMBER,
        finalValues: NUMBER,
      },
    });
    const data = <T>(field: string) => this.#buffer.data(field) as T;
    this.#data = {
      numEnvs,
      numSteps,
      rewards: data("rewards"),
      terminated: data("terminated"),
      truncated: data("truncated"),
      values: data("values"),
      finalValues: data("finalValues"),
      lastValues: new Float32Array(numEnvs),
    };
    this.#none = new Float32Array(numEnvs);
    this.#initialState = new Float32Array(numEnvs * stateSize);
    const computed = isPrepared ? ["rewards"] : inputs;
    const given = isPrepared ? PREPARED : {};
    this.#inputs = mapNames(computed, () => new Float32Array(rows));
    const types: Record<string, TensorType> = {
      ...recorded,
      ...given,
      ...mapNames(computed, () => NUMBER),
    };
    this.batch = {
      ...mapNames(Object.keys(types), (name) => rowsOf(rows, types[name])),
      ...(isPrepared &&
        namedRowsOf("lastObservations", numEnvs, observationInput)),
      ...(isRecurrent && {
        state: rowsOf(numEnvs, { ...NUMBER, shape: [stateSize] }),
      }),
    };
    this.#drawn = {
      ...mapNames(
        Object.keys({ ...recorded, ...given }),
        (name) => data<TensorData>(name),
      ),
      ...this.#inputs,
      ...(isPrepared && nameParts("lastObservations", this.#last)),
      ...(isRecurrent && { state: this.#initialState }),
    };
  }

  get length(): number {
    return this.#buffer.length * this.#data.numEnvs;
  }

  add(decision: Decision, step: VecStep): void {
    const { inputs, actions, actionMasks, recorded, state, starts } = decision;
    const { rewards, terminated, truncated } = step;
    if (this.#buffer.full) throw unlearned("rollout");
    const finalValues = this.#finalValues(decision, step);
    if (this.#buffer.length === 0) this.#initialState.set(state);
    this.#buffer.add({
      ...mapNames(this.#recorded, (name) => recorded[name]!),
      ...nameParts("observations", inputs),
      actions,
      rewards,
      terminated,
      truncated,
      values: recorded.values ?? this.#none,
      finalValues,
      ...(state.length > 0 && { masks: starts }),
      ...(actionMasks && { actionMasks }),
    });
    if (this.#values) setParts(this.#last, this.#read(step.observations));
    if (this.#buffer.full) this.#end(decision, step);
  }

  /** Computes values of the last observations of episodes that were truncated. */
  #finalValues({ nextState }: Decision, step: VecStep): Float32Array {
    const { terminated, truncated } = step;
    const isCut = this.#options.bootstrapTruncated &&
      truncated.some((cut, i) => cut > terminated[i]);
    if (this.#values === undefined || !isCut) return this.#none;
    const last = nextObservations(step);
    // The episode continues as far as the value is concerned: its state stays.
    const memory = { state: nextState!, starts: this.#none };
    return this.#values(this.#read(last), memory);
  }

  /** Ends a rollout with the values of the observations after it. */
  #end({ nextState }: Decision, { terminated, truncated }: VecStep): void {
    if (this.#options.values !== "acting") return;
    const ends = terminated.map((end, i) => end | truncated[i]);
    const starts = Float32Array.from(ends);
    const memory = { state: nextState!, starts };
    this.#data.lastValues.set(this.#values!(this.#last, memory));
  }

  endEpisodes(state: Float32Array): void {
    const { length, full } = this.#buffer;
    const { numEnvs, numSteps, terminated, truncated, finalValues } =
      this.#data;
    const running = Array.from(
      { length: numEnvs },
      (_, env) => env * numSteps + length - 1,
    ).filter((row) => !(terminated[row] || truncated[row]));
    if (length === 0 || full || running.length === 0) return;
    const values = this.#options.bootstrapTruncated
      ? this.#values?.(this.#last, { state, starts: this.#none })
      : undefined;
    for (const row of running) {
      truncated[row] = 1;
      if (values) finalValues[row] = values[Math.floor(row / numSteps)];
    }
  }

  get updatesPerStep(): number {
    const { numSteps, numEnvs } = this.#data;
    return 1 / (numSteps * numEnvs);
  }

  due(): number {
    return this.#buffer.full ? 1 : 0;
  }

  draw(): Arrays {
    if (this.#isPrepared) {
      this.#inputs.rewards.set(this.#data.rewards);
      return this.#drawn;
    }
    this.#valueAll();
    const { bootstrapTruncated, targets } = this.#options;
    const { terminated, truncated } = this.#data;
    const { inputs, stats = {} } = targets(
      bootstrapTruncated ? this.#data : {
        ...this.#data,
        terminated: terminated.map((end, i) => end | truncated[i]),
      },
    );
    for (const name in this.#inputs) {
      this.#inputs[name].set(targetOf(inputs, name));
    }
    this.#stats = stats;
    return this.#drawn;
  }

  /** Computes the values of all observations, where they are taken at the end. */
  #valueAll(): void {
    if (this.#all === undefined) return;
    const { values, lastValues } = this.#data;
    setParts(this.#all, partsNamed("observations", this.#drawn));
    const all = this.#values!(this.#all);
    values.set(all.subarray(0, values.length));
    lastValues.set(all.subarray(values.length));
  }

  /** Encodes observations, and computes values and targets where the update is to. */
  prepare(drawn: Tensors, params: Params): { batch: Tensors; stats?: Tensors } {
    const policy = this.#policy, { numEnvs, numSteps } = this.#data;
    const observations = policy.encode(partsNamed("observations", drawn));
    if (!this.#isPrepared) return { batch: { ...drawn, observations } };
    const valuesOf = (encoded: tf.Tensor) =>
      valueOf(policy.apply(params, encoded));
    const byStep = (rows: tf.Tensor) =>
      tf.transpose(
        tf.reshape(tf.cast(rows, "float32"), [numEnvs, numSteps]),
      );
    const { inputs, stats = {} } = targetsOfTensors(this.#options, {
      ...mapNames(
        ["rewards", "terminated", "truncated", "finalValues"] as const,
        (name) => byStep(drawn[name]),
      ),
      values: byStep(valuesOf(observations)),
      lastValues: valuesOf(
        policy.encode(partsNamed("lastObservations", drawn)),
      ),
    });
    return {
      batch: {
        observations,
        ...mapNames(["actions", ...this.#recorded], (name) => drawn[name]),
        ...(drawn.actionMasks && { actionMasks: drawn.actionMasks }),
        ...mapNames(
          this.#options.inputs,
          (name) => tf.reshape(tf.transpose(targetOf(inputs, name)), [-1]),
        ),
      },
      stats,
    };
  }

  learned(): Statistics {
    this.#buffer.clear();
    return this.#stats;
  }

  save(): StateTree {
    return {
      buffer: this.#buffer.save(),
      initialState: this.#initialState.slice(),
      lastValues: this.#data.lastValues.slice(),
      lastObservations: mapParts(this.#last, (part) => part.slice()),
    };
  }

  load(state: StateTree): void {
    const saved = state as Record<string, StateTree>;
    this.#buffer.load(saved.buffer as RolloutBufferState);
    this.#initialState.set(saved.initialState as Float32Array);
    this.#data.lastValues.set(saved.lastValues as Float32Array);
    // Older files lack them, but hold no full rollout: only a reset needs them then.
    const last = saved.lastObservations as ObservationInputArrays | undefined;
    if (last !== undefined) setParts(this.#last, last);
  }
}

/** Fields that the update computes targets from. */
const PREPARED = { terminated: FLAG, truncated: FLAG, finalValues: NUMBER };

/**
 * True where the update computes values and targets itself: a call of XLA takes
 * longer than the values do.
 */
function valuesWithinUpdate(
  { values, tensorTargets }: RolloutOptions,
  { compilation }: AgentRuntime,
): boolean {
  return values === "end" && tensorTargets !== undefined &&
    selectEngine(compilation.engine).name === "xla";
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
  source: PerPart<TensorData>,
): void {
  mapParts(target, (part, name) => part.set(partOf(source, name)));
}

type Values = (
  inputs: ObservationInputArrays,
  memory?: PolicyMemory,
) => Float32Array;

/** Returns a value function of the latest parameters, compiled for each number of rows. */
function valuesOf({ policy, compilation, params }: AgentRuntime): Values {
  const compileFor = (rows: number) =>
    compilePolicy(policy, (output) => ({ values: valueOf(output) }), {
      ...compilation,
      name: "values",
      numEnvs: rows,
    });
  const compiled = new Map<number, ReturnType<typeof compileFor>>();
  return (observations, memory) => {
    const numbers = Object.values(nameParts("", observations))
      .reduce((sum, { length }) => sum + length, 0);
    const rows = numbers / policy.observationSize;
    const run = compiled.get(rows) ?? compileFor(rows);
    compiled.set(rows, run);
    return run({ params: params(), observations, memory })
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
