import {
  compile,
  type Engine,
  type ResidentState,
  type TensorType,
} from "@bellman/compute";
import type { Params, RandomStream } from "@bellman/compute";
import type {
  ActorCritic,
  ActorCriticOutput,
  ObservationInputArray,
} from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";

/** What is remembered between two steps of a recurrent model. */
export interface Memory {
  /** State before the step `[numEnvs, stateSize]`. */
  readonly state: Float32Array;
  /** `[numEnvs]`, 1 where an episode starts at the step. */
  readonly starts: Float32Array;
}

/** What one step of acting gives; the arrays are written anew by the next. */
export interface Acted {
  /** Actions as sampled, row-major `[numEnvs, ...actionShape]`. */
  readonly actions: Float32Array | Int32Array;
  /** Estimated returns `[numEnvs]`. */
  readonly values: Float32Array;
  /** State after the step, of recurrent models. */
  readonly state?: Float32Array;
}

/** What a compiled policy acts on. */
export interface ActingInputs {
  readonly params: ResidentState<Params>;
  readonly observations: ObservationInputArray;
  readonly memory: Memory;
  /** Random numbers, where actions are sampled. */
  readonly noise?: Float32Array;
}

/** Observations whose values a rollout needs. */
export interface RolloutObservations {
  readonly params: ResidentState<Params>;
  /** Those that were acted on `[numEnvs * numSteps, ...]`. */
  readonly observations: ObservationInputArray;
  /** Those after the last step `[numEnvs, ...]`. */
  readonly last: ObservationInputArray;
  readonly numSteps: number;
}

/** Estimated returns of a rollout's observations. */
export interface RolloutValues {
  /** `[numEnvs * numSteps]` */
  readonly values: Float32Array;
  /** `[numEnvs]` */
  readonly lastValues: Float32Array;
}

/** How a policy is compiled. */
export interface ActingOptions {
  /** Copies of the environment. */
  readonly numEnvs: number;
  /** Shapes and types of the parameters. */
  readonly params: Readonly<Record<string, TensorType>>;
  readonly engine?: Engine;
  readonly threads?: number | "auto";
}

type Tensors = Readonly<Record<string, tf.Tensor>>;

/** Which of a model's results a compiled function returns. */
type Results = (
  model: ActorCritic,
  output: ActorCriticOutput,
  given: { params: Params; noise?: tf.Tensor },
) => Record<string, tf.Tensor | undefined>;

/** A model's compiled acting and its parts, each made at its first use. */
export class Acting {
  readonly #model: ActorCritic;
  readonly #options: ActingOptions;
  readonly #made = new Map<string, (inputs: ActingInputs) => Acted>();
  #rolloutValues:
    | ((given: Omit<RolloutObservations, "numSteps">) => RolloutValues)
    | undefined;

  constructor(model: ActorCritic, options: ActingOptions) {
    this.#model = model;
    this.#options = options;
  }

  /** Random actions, values and the state after the step. */
  sample(inputs: ActingInputs): Acted {
    return this.#function("sample", (model, output, given) => ({
      actions: model.sample(given.params, output, {
        noise: given.noise as tf.Tensor2D,
      }),
      values: output.value,
      state: output.state,
    }))(inputs);
  }

  /** The likeliest actions, and the state after the step. */
  mode(inputs: ActingInputs): Acted {
    return this.#function("mode", (model, output) => ({
      actions: model.mode(output),
      state: output.state,
    }))(inputs);
  }

  /** Random actions and the state after the step, without values. */
  explore(inputs: ActingInputs): Acted {
    return this.#function("explore", (model, output, given) => ({
      actions: model.sample(given.params, output, {
        noise: given.noise as tf.Tensor2D,
      }),
      state: output.state,
    }))(inputs);
  }

  /** Values alone. */
  values(inputs: ActingInputs): Float32Array {
    return this.#function("values", (_, output) => ({
      values: output.value,
    }))(inputs).values;
  }

  /** Values of a rollout's observations and of those after it. */
  rolloutValues(
    { params, observations, last, numSteps }: RolloutObservations,
  ): RolloutValues {
    this.#rolloutValues ??= this.#compileRollout(numSteps);
    return this.#rolloutValues({ params, observations, last });
  }

  #compileRollout(
    numSteps: number,
  ): (given: Omit<RolloutObservations, "numSteps">) => RolloutValues {
    const model = this.#model;
    const { numEnvs, params, engine, threads } = this.#options;
    const { shape, dtype } = model.observationInput;
    const rows = numEnvs * numSteps;
    const { run } = bound(compile((given) => {
      const { observations, last } = given as unknown as Tensors;
      const all = model.encode(tf.concat([observations, last]));
      const { value } = model.apply(given.params as Params, all);
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
    }));
    return (given) => run(given) as RolloutValues;
  }

  #function(name: string, results: Results): (inputs: ActingInputs) => Acted {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const usesNoise = name === "sample" || name === "explore";
    const made = this.#compile(name, { results, usesNoise });
    this.#made.set(name, made);
    return made;
  }

  #compile(
    name: string,
    { results, usesNoise }: { results: Results; usesNoise: boolean },
  ): (inputs: ActingInputs) => Acted {
    const model = this.#model;
    const { numEnvs, params, engine, threads } = this.#options;
    const { observationInput, stateSize, noise } = model;
    const float32 = (...shape: number[]): TensorType => ({
      shape,
      dtype: "float32",
    });
    const recurrent = stateSize > 0;
    const { run } = bound(compile((given) => {
      const { observations, state, starts } = given as unknown as Tensors;
      const encoded = model.encode(observations);
      const output = model.apply(
        given.params as Params,
        encoded,
        recurrent
          ? { state: state as tf.Tensor2D, masks: starts as tf.Tensor1D }
          : undefined,
      );
      return results(model, output, given as never);
    }, {
      name: `acting (${name})`,
      engine,
      threads,
      inputs: {
        params,
        observations: {
          shape: [numEnvs, ...observationInput.shape],
          dtype: observationInput.dtype,
        },
        ...(usesNoise && { noise: float32(numEnvs, noise.size) }),
        ...(recurrent &&
          { state: float32(numEnvs, stateSize), starts: float32(numEnvs) }),
      },
    }));
    return ({ params, observations, memory, noise }) =>
      run(
        recurrent
          ? { params, observations, noise, ...memory }
          : { params, observations, noise },
      ) as unknown as Acted;
  }
}

/** A compiled function whose `run` can be called on its own. */
function bound<T extends { run(inputs: never): unknown }>(
  compiled: T,
): { run: (inputs: unknown) => unknown } {
  return { run: (inputs) => compiled.run(inputs as never) };
}

/** An array for observations of some copies. */
export function observationBuffer(
  { observationInput, observationSize }: ActorCritic,
  numEnvs: number,
): ObservationInputArray {
  const size = numEnvs * observationSize;
  switch (observationInput.dtype) {
    case "float32":
      return new Float32Array(size);
    case "int32":
      return new Int32Array(size);
    case "uint8":
      return new Uint8Array(size);
  }
}

/** Fills an array with the kind of noise that a model samples from. */
export function drawNoise(
  model: ActorCritic,
  random: RandomStream,
  noise: Float32Array,
): void {
  if (model.noise.kind === "uniform") random.fillUniform(noise);
  else random.fillNormal(noise);
}
