import {
  compile,
  type Engine,
  type Params,
  type ResidentState,
  type TensorType,
} from "@bellman/compute";
import {
  type ObservationArray,
  observationBuffer,
  scope,
} from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import type { SacVariant } from "./variants.ts";

/** How values are computed. */
export interface ActionValuesOptions {
  /** Shapes and types of the critics' parameters. */
  readonly types: Readonly<Record<string, TensorType>>;
  /** The newest parameters of the critics. */
  readonly critics: () => ResidentState<Params>;
  readonly engine?: Engine;
  readonly threads?: number | "auto";
}

type Estimate = (
  observation: ObservationArray,
  actions: ArrayLike<number>,
) => Float32Array;

/** What the first Q function says of actions in one state. */
export class ActionValues {
  readonly #variant: SacVariant;
  readonly #options: ActionValuesOptions;
  /** Compiled functions by the number of actions. */
  readonly #made = new Map<number, Estimate>();

  constructor(form: SacVariant, options: ActionValuesOptions) {
    this.#variant = form;
    this.#options = options;
  }

  /** Values of actions `[count, ...]`; of discrete ones, of all there are. */
  of(observation: ObservationArray, actions: ArrayLike<number>): Float32Array {
    const { distribution, squashesActions } = this.#variant.policy;
    const size = distribution.actionShape.reduce((all, it) => all * it, 1);
    const count = squashesActions ? actions.length / size : 1;
    let estimate = this.#made.get(count);
    if (estimate === undefined) {
      estimate = this.#compile(count);
      this.#made.set(count, estimate);
    }
    return estimate(observation, actions);
  }

  #compile(count: number): Estimate {
    const { policy, estimate } = this.#variant;
    const { types, critics, engine, threads } = this.#options;
    const { observationInput, observationShape, distribution } = policy;
    const { shape, dtype } = observationInput;
    const compiled = compile((given) => {
      const inputs = given as unknown as Record<string, tf.Tensor>;
      const observations = tf.tile(
        policy.encode(inputs.observation),
        [count, ...observationShape.map(() => 1)],
      );
      const params = scope(given.critics as Params, "qf1");
      return { values: estimate(params, observations, inputs.actions) };
    }, {
      name: "values of actions",
      engine,
      threads,
      inputs: {
        critics: types,
        observation: { shape: [1, ...shape], dtype },
        ...(policy.squashesActions && {
          actions: {
            shape: [count, ...distribution.actionShape],
            dtype: "float32" as const,
          },
        }),
      },
    });
    const seen = observationBuffer(policy, 1);
    return (observation, actions) => {
      const { values } = compiled.run({
        critics: critics(),
        observation: policy.observationArray(observation, seen),
        actions: Float32Array.from(actions),
      } as never);
      return Float32Array.from(values as Float32Array);
    };
  }
}
