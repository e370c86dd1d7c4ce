import {
  type CompiledStep,
  compileStep,
  type Engine,
  type TensorData,
  type TensorType,
} from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import type { SacConfig } from "./config.ts";
import {
  rowsOf,
  type SacVariant,
  takesBetween,
  type VariantState,
} from "./variants.ts";

/** What one update learns from and how far it goes. */
export type LearnerInputs = Readonly<Record<string, TensorData | number>>;

/** A compiled update and all that it moves. */
export type Learner = CompiledStep<
  VariantState,
  Readonly<Record<string, TensorType>>,
  { stats: Readonly<Record<string, tf.Tensor>>; tdErrors: tf.Tensor1D }
>;

const HYPERPARAMETERS = [
  "learningRate",
  "criticLearningRate",
  "temperatureLearningRate",
  "tau",
  "rewardScale",
] as const;

/** Compiles an update for batches of one size. */
export function makeLearner(
  form: SacVariant,
  { state, config, engine, threads }: {
    state: VariantState;
    config: SacConfig;
    engine?: Engine;
    threads?: number | "auto";
  },
): Learner {
  const types = {
    ...batchTypes(form, config),
    ...Object.fromEntries(
      hyperparametersOf(config).map((name) => [name, float32()]),
    ),
  };
  const { policy, update, firstAction } = form;
  const step = (held: VariantState, inputs: unknown) => {
    const given = inputs as Readonly<Record<string, tf.Tensor>>;
    const batch = {
      ...given,
      observations: policy.encode(given.observations),
      nextObservations: policy.encode(given.nextObservations),
      ...(takesBetween(config) && {
        betweenObservations: policy.encode(given.betweenObservations),
      }),
      ...(firstAction !== 0 && {
        actions: tf.sub(given.actions, tf.scalar(firstAction, "int32")),
      }),
      terminated: tf.cast(given.terminated, "float32"),
    };
    return update(held, batch, given);
  };
  return compileStep(step as never, {
    state,
    inputs: types,
    name: "the update of SAC",
    engine,
    threads,
  }) as unknown as Learner;
}

const float32 = (...shape: number[]): TensorType => ({
  shape,
  dtype: "float32",
});

/** Numbers that are given with each update. */
function hyperparametersOf(config: SacConfig): string[] {
  const isGiven = config.temperature !== null && config.critics === "twin_q";
  return [...HYPERPARAMETERS, ...(isGiven ? ["alpha"] : [])];
}

/** Shapes and types of a batch, as replay gives it. */
function batchTypes(
  { policy, noises }: SacVariant,
  config: SacConfig,
): Record<string, TensorType> {
  const { batchSize, nSteps, replay } = config;
  const { observationInput, distribution } = policy;
  const observations = (name: string): TensorType => ({
    shape: [rowsOf(name, config), ...observationInput.shape],
    dtype: observationInput.dtype,
  });
  return {
    observations: observations("observations"),
    nextObservations: observations("nextObservations"),
    ...(takesBetween(config) && {
      betweenObservations: observations("betweenObservations"),
      betweenDiscounts: float32(batchSize, nSteps - 1),
    }),
    actions: {
      shape: [batchSize, ...distribution.actionShape],
      dtype: distribution.actionDtype,
    },
    rewards: float32(batchSize),
    terminated: { shape: [batchSize], dtype: "uint8" },
    ...(nSteps > 1 && { discounts: float32(batchSize) }),
    ...(replay !== "uniform" && { weights: float32(batchSize) }),
    ...Object.fromEntries(
      noises.map((name) => [
        name,
        float32(rowsOf(name, config), distribution.noise.size),
      ]),
    ),
  };
}
