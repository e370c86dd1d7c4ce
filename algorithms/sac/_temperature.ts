import type { Optimizer, Params } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { descend, type Descent } from "./_descend.ts";
import { temperatureLoss } from "./policy_loss.ts";
import type { SacHyperparameters, SacState } from "./update_types.ts";

/** The temperature's part of a state: empty where it is not learned. */
export function initTemperature(initialAlpha: number | null): Params {
  if (initialAlpha === null) return {};
  if (!(initialAlpha > 0 && initialAlpha < Infinity)) {
    throw new RangeError(
      `Cannot start with a temperature of ${initialAlpha}: expected a number above 0`,
    );
  }
  return { logAlpha: tf.scalar(Math.log(initialAlpha)) };
}

/** The temperature before the update: learned, or given. */
export function temperatureOf(
  { temperature }: SacState,
  { alpha }: SacHyperparameters,
): tf.Scalar {
  const { logAlpha } = temperature;
  if (logAlpha !== undefined) return tf.exp(logAlpha as tf.Scalar);
  if (alpha !== undefined) return tf.clone(alpha);
  throw new TypeError(
    "Cannot update without a temperature: as the state has none that is learned, hyperparameters.alpha must be given",
  );
}

/** What a step of the temperature gives; the loss only where it is learned. */
export type TemperatureStep =
  & Pick<Descent<Params>, "params" | "slots">
  & { loss?: tf.Scalar };

/** One step of the temperature; nothing where it is fixed. */
export function temperatureStep(
  { temperature, temperatureSlots }: SacState,
  logProb: tf.Tensor1D,
  { targetEntropy, ...options }: {
    targetEntropy: number;
    optimizer: Optimizer;
    learningRate: tf.Scalar;
  },
): TemperatureStep {
  if (temperature.logAlpha === undefined) return { params: {}, slots: {} };
  return descend(
    ({ logAlpha }) => ({
      loss: temperatureLoss(logAlpha as tf.Scalar, logProb, { targetEntropy }),
    }),
    { params: temperature, slots: temperatureSlots },
    options,
  );
}
