import {
  type CompiledStep,
  compileStep,
  type Engine,
  type OptimizerState,
  type Params,
  type TensorData,
  type TensorType,
} from "@bellman/compute";
import type { ActorCritic } from "@bellman/policies";
import type * as tf from "@tensorflow/tfjs";
import type { A2CStatistics, A2CUpdate } from "./update_types.ts";

/** What a learner holds. */
export interface LearnerState {
  readonly params: Params;
  readonly optimizer: OptimizerState;
}

/** What one update learns from; arrays of `numEnvs * numSteps` rows. */
export interface LearnerInputs {
  readonly observations: TensorData;
  readonly actions: TensorData;
  readonly advantages: Float32Array;
  readonly returns: Float32Array;
  /** Recurrent models only: state before the first step. */
  readonly state?: Float32Array;
  /** Recurrent models only: 1 where an episode starts. */
  readonly masks?: Float32Array;
  readonly learningRate: number;
  readonly valueLearningRate: number;
  readonly entropyCoefficient: number;
}

/** A compiled update and the parameters that it moves. */
export type Learner = CompiledStep<
  LearnerState,
  { readonly [K in keyof LearnerInputs]: TensorType },
  { stats: A2CStatistics }
>;

/** Compiles an update for rollouts of one size. */
export function makeLearner(
  model: ActorCritic,
  update: A2CUpdate,
  { state, numEnvs, numSteps, engine, threads }: {
    state: LearnerState;
    numEnvs: number;
    numSteps: number;
    engine?: Engine;
    threads?: number | "auto";
  },
): Learner {
  const rows = numEnvs * numSteps;
  const { observationInput, distribution, stateSize } = model;
  const float32 = (...shape: number[]): TensorType => ({
    shape,
    dtype: "float32",
  });
  const types = {
    observations: {
      shape: [rows, ...observationInput.shape],
      dtype: observationInput.dtype,
    },
    actions: {
      shape: [rows, ...distribution.actionShape],
      dtype: distribution.actionDtype,
    },
    advantages: float32(rows),
    returns: float32(rows),
    ...(stateSize > 0 && {
      state: float32(numEnvs, stateSize),
      masks: float32(rows),
    }),
    learningRate: float32(),
    valueLearningRate: float32(),
    entropyCoefficient: float32(),
  };
  const step = (held: LearnerState, inputs: unknown) => {
    const given = inputs as Record<keyof LearnerInputs, tf.Tensor>;
    const { learningRate, valueLearningRate, entropyCoefficient } = given;
    const { params, optimizerState, stats } = update(
      held.params,
      held.optimizer,
      { ...given, observations: model.encode(given.observations) } as never,
      { learningRate, valueLearningRate, entropyCoefficient } as never,
    );
    return { state: { params, optimizer: optimizerState }, stats };
  };
  return compileStep(step, {
    state,
    inputs: types,
    name: "the update of A2C",
    engine,
    threads,
  }) as unknown as Learner;
}
