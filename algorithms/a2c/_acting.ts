import { compile, type Params, type ResidentState } from "@bellman/compute";
import {
  type ActorCritic,
  compilePolicy,
  type ObservationInputArray,
  type PolicyCompilation,
  type PolicyInputs,
} from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";

/** What one step of acting gives; the arrays are written anew by the next. */
export interface Acted {
  /** Actions as sampled, row-major `[numEnvs, ...actionShape]`. */
  readonly actions: Float32Array | Int32Array;
  /** Estimated returns `[numEnvs]`. */
  readonly values: Float32Array;
  /** State after the step, of recurrent models. */
  readonly state?: Float32Array;
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

/** How a policy is compiled, and for how many copies of the environment. */
export type ActingOptions = PolicyCompilation & { readonly numEnvs: number };

/** Which of a model's results a compiled function returns. */
interface Wanted {
  /** Random actions and, of recurrent models, the state after the step. */
  readonly actions?: boolean;
  readonly values?: boolean;
}

/** A model's compiled acting and its parts, each made at its first use. */
export class Acting {
  readonly #model: ActorCritic;
  readonly #options: ActingOptions;
  readonly #made = new Map<string, (inputs: PolicyInputs) => Acted>();
  #rolloutValues:
    | ((given: Omit<RolloutObservations, "numSteps">) => RolloutValues)
    | undefined;

  constructor(model: ActorCritic, options: ActingOptions) {
    this.#model = model;
    this.#options = options;
  }

  /** Random actions, values and the state after the step. */
  sample(inputs: PolicyInputs): Acted {
    return this.#run("sample", { actions: true, values: true }, inputs);
  }

  /** Random actions and the state after the step, without values. */
  explore(inputs: PolicyInputs): Acted {
    return this.#run("explore", { actions: true }, inputs);
  }

  /** Values alone. */
  values(inputs: PolicyInputs): Float32Array {
    return this.#run("values", { values: true }, inputs).values;
  }

  #run(name: string, wanted: Wanted, inputs: PolicyInputs): Acted {
    let run = this.#made.get(name);
    if (run === undefined) {
      run = this.#compile(name, wanted);
      this.#made.set(name, run);
    }
    return run(inputs);
  }

  #compile(
    name: string,
    { actions, values }: Wanted,
  ): (inputs: PolicyInputs) => Acted {
    const model = this.#model;
    return compilePolicy(model, (output, { params, noise }) => ({
      actions: actions ? model.sample(params, output, { noise }) : undefined,
      values: values ? output.value : undefined,
      state: actions ? output.state : undefined,
    }), {
      ...this.#options,
      name: `acting (${name})`,
      sampled: actions,
    }) as (inputs: PolicyInputs) => unknown as (inputs: PolicyInputs) => Acted;
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
    const compiled = compile((given) => {
      const { observations, last } = given as unknown as Readonly<
        Record<string, tf.Tensor>
      >;
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
    });
    return (given) => compiled.run(given as never) as RolloutValues;
  }
}
