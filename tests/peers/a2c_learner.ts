import { type A2CState, a2cUpdate, initA2CState } from "@bellman/a2c";
import {
  type CompiledStep,
  compileStep,
  type Engine,
  type Params,
  rmspropTf1,
  type TensorData,
  type TensorType,
} from "@bellman/compute";
import type { ActorCritic, ObservationInput } from "@bellman/policies";
import type * as tf from "@tensorflow/tfjs";

/** Batch of an update of A2C. */
export interface LearnerInputs {
  readonly observations: TensorData;
  readonly actions: TensorData;
  readonly advantages: TensorData;
  readonly returns: TensorData;
  readonly learningRate: number;
  readonly entropyCoefficient: number;
}

/** A2C's update with RMSProp, compiled for some rows. */
export type Learner = CompiledStep<
  A2CState,
  { readonly [K in keyof LearnerInputs]: TensorType },
  object
>;

/** Compiles A2C's update of a model: observations as they come, bytes too. */
export function makeLearner(
  model: ActorCritic,
  { params, rows, engine = "onnx", threads = 1 }: {
    params: Params;
    rows: number;
    engine?: Engine;
    threads?: number;
  },
): Learner {
  const optimizer = rmspropTf1();
  const update = a2cUpdate(model, { optimizer });
  const { shape, dtype } = model.observationInput as ObservationInput;
  const column: TensorType = { shape: [rows], dtype: "float32" };
  const number: TensorType = { shape: [], dtype: "float32" };
  const state = initA2CState(params, { optimizer });
  const step = (held: typeof state, inputs: unknown) => {
    const { learningRate, entropyCoefficient, observations, ...batch } =
      inputs as Record<keyof LearnerInputs, tf.Tensor>;
    return update(
      held,
      { ...batch, observations: model.encode(observations) } as never,
      { learningRate, entropyCoefficient } as never,
    );
  };
  return compileStep(step, {
    state,
    inputs: {
      observations: { shape: [rows, ...shape], dtype },
      actions: { shape: [rows], dtype: "int32" },
      advantages: column,
      returns: column,
      learningRate: number,
      entropyCoefficient: number,
    },
    engine,
    threads,
  }) as unknown as Learner;
}
