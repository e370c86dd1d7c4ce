import { RolloutBuffer } from "@bellman/buffers";
import { compile, type Params, type TensorType } from "@bellman/compute";
import {
  type ActorCriticOutput,
  compilePolicy,
  type ObservationArray,
  type ObservationInputArray,
  type PolicyMemory,
  type PolicyOutput,
} from "@bellman/policies";
import type { StateTree, VecStep } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import type {
  AgentRuntime,
  Arrays,
  Decision,
  Experience,
} from "./definition.ts";
import { nextObservations } from "./observations.ts";

/** A complete rollout; arrays are env-major, `[numEnvs, numSteps]`. */
export interface RolloutData {
  /** Environments side by side. */
  readonly numEnvs: number;
  /** Steps of each environment. */
  readonly numSteps: number;
  /** Rewards. */
  readonly rewards: Float64Array;
  /** 1 where an episode reached an end state. */
  readonly terminated: Uint8Array;
  /** 1 where an episode was cut short. */
  readonly truncated: Uint8Array;
  /** Values of the observations that were acted on. */
  readonly values: Float32Array;
  /** Values of the last observations of episodes that were cut short. */
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

/** Options of {@link rollout}. */
export interface RolloutOptions {
  /** Steps of each environment between two updates. */
  readonly numSteps: number;
  /**
   * Time at which the policy's `value` is taken: at each step, with the actions,
   * or once at the end for all steps, where it has a network of its own.
   *
   * @default never: all values are 0
   */
  readonly values?: "acting" | "end";
  /**
   * True where the value of the last observation counts where a time limit cut
   * an episode; false takes the cut for an end.
   *
   * @default true
   */
  readonly bootstrapTruncated?: boolean;
  /** Names of the float32 inputs of the update that `targets` computes. */
  readonly inputs: readonly string[];
  /**
   * Computes these inputs of a complete rollout.
   *
   * @param data The rollout.
   */
  targets(data: RolloutData): RolloutTargets;
}

/**
 * Makes an experience of the steps since the last update, which are learned from
 * once, as one batch: `observations` as the policy saw them, `actions`, what
 * `targets` computes and, of recurrent policies, `state` before the first step
 * `[numEnvs, stateSize]` and `masks`, 1 where an episode starts.
 *
 * @param options Number of steps, values and targets.
 * @returns The `experience` of an algorithm's parts.
 *
 * @example
 * ```ts
 * import { rollout } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const experience = rollout({
 *   numSteps: 20,
 *   inputs: ["rewards"],
 *   targets: ({ rewards }) => ({ inputs: { rewards } }),
 * });
 * assertEquals(typeof experience, "function"); // of what the agent brings
 * ```
 */
export function rollout(
  options: RolloutOptions,
): (runtime: AgentRuntime) => Experience {
  return (runtime) => new Rollout(options, runtime);
}

const NUMBER = { shape: [], dtype: "float32" } as const;
const FLAG = { shape: [], dtype: "uint8" } as const;

class Rollout implements Experience {
  readonly batch: Readonly<Record<string, TensorType>>;
  stats: Readonly<Record<string, number>> | undefined;
  readonly record: Experience["record"];
  readonly #options: RolloutOptions;
  readonly #runtime: AgentRuntime;
  readonly #buffer: RolloutBuffer;
  readonly #inputs: Readonly<Record<string, Float32Array>>;
  readonly #drawn: Arrays;
  readonly #data: RolloutData;
  readonly #values: Values | undefined;
  readonly #none: Float32Array;
  /** Recurrent state before the first step. */
  readonly #initialState: Float32Array;
  readonly #lastValues: Float32Array;

  constructor(options: RolloutOptions, runtime: AgentRuntime) {
    const { numSteps, values, inputs } = options;
    const { numEnvs, policy } = runtime;
    const { observationInput, distribution, stateSize } = policy;
    const rows = numEnvs * numSteps;
    const isRecurrent = stateSize > 0;
    const actions = {
      shape: distribution.actionShape,
      dtype: distribution.actionDtype,
    };
    this.#options = options;
    this.#runtime = runtime;
    this.#none = new Float32Array(numEnvs);
    this.#initialState = new Float32Array(numEnvs * stateSize);
    this.#lastValues = new Float32Array(numEnvs);
    this.#values = values && new Values(runtime);
    if (values === "acting") {
      this.record = (output: PolicyOutput) => ({ values: valueOf(output) });
    }
    this.#buffer = new RolloutBuffer({
      numEnvs,
      numSteps,
      fields: {
        observations: observationInput,
        actions,
        rewards: { shape: [], dtype: "float64" },
        terminated: FLAG,
        truncated: FLAG,
        values: NUMBER,
        finalValues: NUMBER,
        ...(isRecurrent && { starts: NUMBER }),
      },
    });
    const data = <T>(field: string) => this.#buffer.data(field) as T;
    this.#inputs = Object.fromEntries(
      inputs.map((name) => [name, new Float32Array(rows)]),
    );
    this.#drawn = {
      observations: data("observations"),
      actions: data("actions"),
      ...this.#inputs,
      ...(isRecurrent && {
        state: this.#initialState,
        masks: data<Float32Array>("starts"),
      }),
    };
    this.#data = {
      numEnvs,
      numSteps,
      rewards: data("rewards"),
      terminated: data("terminated"),
      truncated: data("truncated"),
      values: data("values"),
      finalValues: data("finalValues"),
      lastValues: this.#lastValues,
    };
    const each = ({ shape, dtype }: TensorType) => ({
      shape: [rows, ...shape],
      dtype,
    });
    this.batch = {
      observations: each(observationInput),
      actions: each(actions),
      ...Object.fromEntries(inputs.map((name) => [name, each(NUMBER)])),
      ...(isRecurrent && {
        state: { shape: [numEnvs, stateSize], dtype: "float32" },
        masks: each(NUMBER),
      }),
    };
  }

  get length(): number {
    return this.#buffer.length * this.#runtime.numEnvs;
  }

  get full(): boolean {
    return this.#buffer.full;
  }

  add(decision: Decision, step: VecStep): void {
    const { inputs, actions, recorded, memory } = decision;
    const { rewards, terminated, truncated } = step;
    const finalValues = this.#finalValues(decision, step);
    if (this.#buffer.length === 0) this.#initialState.set(memory.state);
    this.#buffer.add({
      observations: inputs,
      actions,
      rewards,
      terminated,
      truncated,
      values: recorded.values ?? this.#none,
      finalValues,
      ...(this.#initialState.length > 0 && { starts: memory.starts }),
    });
    if (this.#buffer.full) this.#end(decision, step);
  }

  /** Values of the last observations of episodes that were cut short. */
  #finalValues({ nextState }: Decision, step: VecStep): Float32Array {
    const { bootstrapTruncated = true } = this.#options;
    if (this.#values === undefined || !bootstrapTruncated) return this.#none;
    const { terminated, truncated } = step;
    const isCut = truncated.some((cut, i) => cut > terminated[i]);
    if (!isCut) return this.#none;
    const { size } = this.#runtime.observations.encoder;
    const last = nextObservations(step, size);
    // The episode continues as far as the value is concerned: its state stays.
    return this.#values.of(last, { state: nextState!, starts: this.#none });
  }

  /** Ends a rollout with the values that it still lacks. */
  #end({ nextState }: Decision, step: VecStep): void {
    if (this.#values === undefined) return;
    const observations = step.observations as ObservationArray;
    if (this.#options.values === "end") {
      const { values, lastValues } = this.#values.ofRollout(
        this.#drawn.observations as ObservationInputArray,
        observations,
      );
      this.#data.values.set(values);
      this.#lastValues.set(lastValues);
      return;
    }
    const starts = Float32Array.from(
      step.terminated,
      (end, i) => end | step.truncated[i],
    );
    const last = this.#values.of(observations, { state: nextState!, starts });
    this.#lastValues.set(last);
  }

  due(): number {
    return this.#buffer.full ? 1 : 0;
  }

  draw(): Arrays {
    const { bootstrapTruncated = true, targets } = this.#options;
    const { terminated, truncated } = this.#data;
    const { inputs, stats } = targets(
      bootstrapTruncated ? this.#data : {
        ...this.#data,
        terminated: terminated.map((end, i) => end | truncated[i]),
      },
    );
    for (const name in this.#inputs) this.#inputs[name].set(inputs[name]);
    this.stats = stats;
    return this.#drawn;
  }

  learned(): void {
    this.#buffer.clear();
  }

  save(): StateTree {
    return {
      buffer: this.#buffer.save(),
      initialState: this.#initialState.slice(),
      lastValues: this.#lastValues.slice(),
    };
  }

  load(state: StateTree): void {
    const saved = state as Record<string, StateTree>;
    this.#buffer.load(saved.buffer as never);
    this.#initialState.set(saved.initialState as Float32Array);
    this.#lastValues.set(saved.lastValues as Float32Array);
  }
}

function valueOf(output: PolicyOutput): tf.Tensor1D {
  return (output as ActorCriticOutput).value;
}

/** Values by the newest parameters, each compiled at its first use. */
class Values {
  readonly #runtime: AgentRuntime;
  readonly #read: (given: ObservationArray) => ObservationInputArray;
  #ofStep: ReturnType<typeof compilePolicy<PolicyOutput, "values">> | undefined;
  #ofRollout: ReturnType<typeof compileRollout> | undefined;

  constructor(runtime: AgentRuntime) {
    this.#runtime = runtime;
    this.#read = runtime.observations.reader(runtime.numEnvs);
  }

  /** Values of observations `[numEnvs, ...]`. */
  of(observations: ObservationArray, memory: PolicyMemory): Float32Array {
    const { policy, compilation, numEnvs, params } = this.#runtime;
    this.#ofStep ??= compilePolicy(
      policy,
      (output) => ({ values: valueOf(output) }),
      { ...compilation, name: "values", numEnvs },
    );
    const { values } = this.#ofStep({
      params: params(),
      observations: this.#read(observations),
      memory,
    });
    return values as Float32Array;
  }

  /** Values of a rollout's observations and of those after it. */
  ofRollout(
    observations: ObservationInputArray,
    last: ObservationArray,
  ): Record<"values" | "lastValues", Float32Array> {
    this.#ofRollout ??= compileRollout(
      this.#runtime,
      observations.length / this.#runtime.policy.observationSize,
    );
    return this.#ofRollout({
      params: this.#runtime.params(),
      observations,
      last: this.#read(last),
    });
  }
}

/** Compiles one evaluation of a whole rollout, of so many rows. */
function compileRollout(
  { policy, compilation, numEnvs }: AgentRuntime,
  rows: number,
) {
  const { params, engine, threads } = compilation;
  const { shape, dtype } = policy.observationInput;
  const compiled = compile((given) => {
    const inputs = given as unknown as Record<string, tf.Tensor>;
    const all = policy.encode(tf.concat([inputs.observations, inputs.last]));
    const value = valueOf(policy.apply(given.params as Params, all));
    const [values, lastValues] = tf.split(value, [rows, numEnvs]);
    return { values, lastValues };
  }, {
    name: "the values of a rollout",
    engine,
    threads,
    inputs: {
      params,
      observations: { shape: [rows, ...shape], dtype },
      last: { shape: [numEnvs, ...shape], dtype },
    },
  });
  return (
    given: Readonly<Record<"params" | "observations" | "last", unknown>>,
  ) =>
    compiled.run(given as never) as Record<
      "values" | "lastValues",
      Float32Array
    >;
}
