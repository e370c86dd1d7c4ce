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
interface Wanted {
  /** Actions and, of recurrent models, the state after the step. */
  readonly actions?: "sampled" | "likeliest";
  readonly values?: boolean;
}

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
    return this.#run("sample", { actions: "sampled", values: true }, inputs);
  }

  /** The likeliest actions, and the state after the step. */
  mode(inputs: ActingInputs): Acted {
    return this.#run("mode", { actions: "likeliest" }, inputs);
  }

  /** Random actions and the state after the step, without values. */
  explore(inputs: ActingInputs): Acted {
    return this.#run("explore", { actions: "sampled" }, inputs);
  }

  /** Values alone. */
  values(inputs: ActingInputs): Float32Array {
    return this.#run("values", { values: true }, inputs).values;
  }

  #run(name: string, wanted: Wanted, inputs: ActingInputs): Acted {
    let run = this.#made.get(name);
    if (run === undefined) {
      run = this.#compile(name, wanted);
      this.#made.set(name, run);
    }
    return run(inputs);
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

  #compile(name: string, wanted: Wanted): (inputs: ActingInputs) => Acted {
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
      return resultsOf(model, output, {
        wanted,
        params: given.params as Params,
        noise: given.noise as tf.Tensor2D,
      });
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
        ...(wanted.actions === "sampled" &&
          { noise: float32(numEnvs, noise.size) }),
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

/** The results that are wanted; the others are undefined. */
function resultsOf(
  model: ActorCritic,
  output: ActorCriticOutput,
  { wanted, params, noise }: {
    wanted: Wanted;
    params: Params;
    noise: tf.Tensor2D;
  },
): Record<string, tf.Tensor | undefined> {
  const { actions, values } = wanted;
  return {
    actions: actions === "sampled"
      ? model.sample(params, output, { noise })
      : actions && model.mode(output),
    values: values ? output.value : undefined,
    state: actions && output.state,
  };
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
