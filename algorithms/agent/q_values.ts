import { compile, paramTypes, type ResidentState } from "@bellman/compute";
import {
  type DictOf,
  mapParts,
  type ObservationBatch,
  type Policy,
} from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import type {
  AgentState,
  BuildContext,
  StateActionValues,
} from "./algorithm.ts";
import { rowsOf } from "./_tensor_types.ts";

/**
 * Estimates Q-values in one state.
 *
 * @param observation One observation, as the environment gives it.
 * @param actions Actions `[count, ...]` as the policy samples them; left out for
 * discrete actions, which returns all values.
 * @returns Values `[count]`, a new array.
 */
export type QValues = (
  observation: ObservationBatch,
  actions?: ArrayLike<number>,
) => Float32Array;

/** Estimates an agent's Q function, compiled for each number of actions. */
export function qValuesOf(
  { part, estimate }: StateActionValues,
  { context, policy, start, present }: {
    readonly context: BuildContext;
    readonly policy: Policy;
    /** Initial state, for the shapes. */
    readonly start: AgentState;
    readonly present: () => ResidentState<AgentState>;
  },
): QValues {
  const { observations, learned, actionSpace } = context;
  const { engine, threads } = learned.compilation;
  const { observationInput, distribution } = policy;
  const { actionShape, actionDtype } = distribution;
  const types = paramTypes(start[part]);
  const isDiscrete = actionSpace.type === "discrete";
  const size = actionShape.reduce((product, it) => product * it, 1);
  const read = observations.reader(1);
  const compileFor = (count: number) =>
    compile((given) => {
      const { params, observation, actions } = given;
      const one = policy.encode(observation as DictOf<tf.Tensor>);
      const all = tf.tile(one, [count, ...one.shape.slice(1).map(() => 1)]);
      return { values: estimate(params, all, actions) };
    }, {
      engine,
      threads,
      name: "values of actions",
      inputs: {
        params: types,
        observation: mapParts(observationInput, (part) => rowsOf(1, part)),
        ...(!isDiscrete && {
          actions: rowsOf(count, { shape: actionShape, dtype: actionDtype }),
        }),
      },
    });
  const made = new Map<number, ReturnType<typeof compileFor>>();
  return (observation, actions = []) => {
    if (!isDiscrete && actions.length === 0) {
      throw new TypeError(
        `Cannot estimate values of no actions: expected ${actionSpace.type} actions [count, ${actionShape}] as the second argument`,
      );
    }
    const count = isDiscrete ? 1 : actions.length / size;
    const compiled = made.get(count) ?? compileFor(count);
    made.set(count, compiled);
    const { values } = compiled.run({
      params: present()[part],
      observation: read(observation) as never,
      ...(!isDiscrete && {
        actions: actionDtype === "int32"
          ? Int32Array.from(actions)
          : Float32Array.from(actions),
      }),
    });
    return Float32Array.from(values as Float32Array);
  };
}
