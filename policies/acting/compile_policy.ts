import {
  compile,
  type Engine,
  type Params,
  type ResidentState,
  type TensorType,
} from "@bellman/compute";
import type * as tf from "@tensorflow/tfjs";
import type { Policy, PolicyOutput } from "../models/policy.ts";
import type { ObservationInputArray } from "../networks/observation_encoder.ts";

/** Inputs of a compiled policy. */
export interface PolicyInputs {
  /** Parameters: arrays, or the state of a compiled step. */
  readonly params: ResidentState<Params>;
  /** Observations `[numEnvs, ...]`, in arrays of the policy's input type. */
  readonly observations: ObservationInputArray;
  /** Random numbers `[numEnvs, noise.size]`, where actions are sampled. */
  readonly noise?: Float32Array;
  /** Memory of recurrent policies. */
  readonly memory?: PolicyMemory;
}

/** Memory of a recurrent policy between two steps. */
export interface PolicyMemory {
  /** State before the step `[numEnvs, stateSize]`. */
  readonly state: Float32Array;
  /** `[numEnvs]`, 1 where an episode starts at the step. */
  readonly starts: Float32Array;
}

/** Compilation of a policy. */
export interface PolicyCompilation {
  /** Shapes and types of the parameters, by path. */
  readonly params: Readonly<Record<string, TensorType>>;
  /**
   * Engine that runs it: ONNX Runtime on a compiled graph, or TensorFlow.js.
   *
   * @default "auto"
   */
  readonly engine?: Engine;
  /**
   * Threads of ONNX Runtime.
   *
   * @default "auto"
   */
  readonly threads?: number | "auto";
}

/** Options of {@link compilePolicy}. */
export interface CompilePolicyOptions extends PolicyCompilation {
  /** Name in messages. */
  readonly name: string;
  /** Copies of the environment. */
  readonly numEnvs: number;
  /**
   * True where the results need noise.
   *
   * @default false
   */
  readonly sampled?: boolean;
}

/** Inputs that results are made of. */
export interface PolicyGiven {
  /** The parameters. */
  readonly params: Params;
  /** Noise `[numEnvs, noise.size]`, where it was asked for. */
  readonly noise: tf.Tensor2D;
}

/**
 * Compiles what a policy says of observations: their encoding, the network and
 * whatever is made of its output, as one function of arrays.
 *
 * @param policy The policy.
 * @param results Wanted parts of the policy's output, by name; those that
 * are undefined are left out.
 * @param options Copies, parameters, engine; and how to get the results.
 * @returns A function from inputs to arrays, that its next call writes anew.
 *
 * @example
 * ```ts
 * import { paramsToArrays, RandomStream, selectBackend } from "@bellman/compute";
 * import { compilePolicy, stochasticPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const policy = stochasticPolicy({
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 * });
 * const params = policy.init(new RandomStream(0));
 * const likeliest = compilePolicy(
 *   policy,
 *   (output) => ({ actions: policy.mode(output) }),
 *   { name: "acting", numEnvs: 3, params: params as never },
 * );
 * const { actions } = likeliest({
 *   params,
 *   observations: Int32Array.of(0, 1, 2),
 * });
 * assertEquals(actions.length, 3);
 * ```
 */
export function compilePolicy<
  O extends PolicyOutput,
  K extends string,
>(
  policy: CompilablePolicy<O>,
  results: (
    output: O,
    given: PolicyGiven,
  ) => Readonly<Record<K, tf.Tensor | undefined>>,
  options: CompilePolicyOptions,
): (inputs: PolicyInputs) => Readonly<Record<K, Float32Array | Int32Array>> {
  const { name, numEnvs, params, engine, threads, sampled } = options;
  const { observationInput, stateSize, noise } = policy;
  const float32 = (...shape: number[]): TensorType => ({
    shape: [numEnvs, ...shape],
    dtype: "float32",
  });
  const recurrent = stateSize > 0;
  const compiled = compile((given) => {
    const inputs = given as unknown as Readonly<Record<string, tf.Tensor>>;
    const params = given.params as Params;
    const output = policy.apply(
      params,
      policy.encode(inputs.observations),
      recurrent
        ? {
          state: inputs.state as tf.Tensor2D,
          masks: inputs.starts as tf.Tensor1D,
        }
        : undefined,
    );
    return results(output, { params, noise: inputs.noise as tf.Tensor2D });
  }, {
    name,
    engine,
    threads,
    inputs: {
      params,
      observations: {
        shape: [numEnvs, ...observationInput.shape],
        dtype: observationInput.dtype,
      },
      ...(sampled && { noise: float32(noise.size) }),
      ...(recurrent && { state: float32(stateSize), starts: float32() }),
    },
  });
  const run = (inputs: unknown) => compiled.run(inputs as never) as never;
  return recurrent
    ? ({ params, observations, noise, memory }) =>
      run({ params, observations, noise, ...memory })
    : run;
}

/**
 * The members of a policy that {@link compilePolicy} needs.
 *
 * @typeParam O What the policy makes of observations.
 */
export interface CompilablePolicy<O extends PolicyOutput = PolicyOutput>
  extends Pick<Policy, "observationInput" | "stateSize" | "noise" | "encode"> {
  /** Computes action distributions, as {@link Policy} does. */
  apply(...inputs: Parameters<Policy["apply"]>): O;
}
