import {
  descend,
  type Descent,
  type Optimizer,
  polyak,
} from "@bellman/compute";
import type { CriticStep } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { temperatureLoss } from "./losses.ts";
import type {
  SacDiagnostics,
  SacNumbers,
  SacState,
  SacUpdateResult,
} from "./model.ts";

/** Returns the temperature before the update: learned, or fixed. */
export function temperatureOf(
  { temperature }: SacState,
  { alpha }: SacNumbers,
): tf.Scalar {
  const { logAlpha } = temperature;
  if (logAlpha !== undefined) return tf.exp(logAlpha as tf.Scalar);
  if (alpha !== undefined) return tf.clone(alpha);
  throw new TypeError(
    "Cannot update without a temperature: as the state has none that is learned, inputs.alpha must be given",
  );
}

/** Gradient steps of policy and critics, and the temperature used for them. */
export interface NetworkSteps {
  readonly critics: CriticStep;
  readonly actor: Descent<{ logProb: tf.Tensor1D }>;
  readonly alpha: tf.Scalar;
}

/**
 * Finishes an update: steps the temperature, if it is learned, and updates the target
 * networks.
 */
export function afterSteps(
  state: SacState,
  { critics, actor, alpha }: NetworkSteps,
  options: TemperatureStepOptions,
): SacUpdateResult {
  const { logProb } = actor.aux, { tau } = options.inputs;
  const temperature = temperatureStep(state, logProb, options);
  return {
    state: {
      ...temperature.state,
      policy: actor.params,
      critics: critics.params,
      targets: polyak(state.targets, critics.params, { tau }),
      policySlots: actor.slots,
      criticSlots: critics.slots,
    },
    stats: {
      ...critics.stats as SacDiagnostics,
      q_loss: critics.loss,
      policy_loss: actor.loss,
      temperature: alpha,
      entropy: tf.neg(tf.mean(logProb)) as tf.Scalar,
      ...temperature.stats,
    },
    results: { tdErrors: critics.tdErrors },
  };
}

/** Inputs of a temperature step. */
interface TemperatureStepOptions {
  readonly targetEntropy: number | tf.Scalar;
  readonly optimizer: Optimizer;
  readonly inputs: SacNumbers;
}

/** Takes one gradient step of the temperature, if it is learned. */
function temperatureStep(
  { temperature, temperatureSlots }: SacState,
  logProb: tf.Tensor1D,
  { targetEntropy, optimizer, inputs }: TemperatureStepOptions,
): {
  state: Pick<SacState, "temperature" | "temperatureSlots">;
  stats: { temperature_loss?: tf.Scalar };
} {
  if (temperature.logAlpha === undefined) {
    return { state: { temperature: {}, temperatureSlots: {} }, stats: {} };
  }
  const { learningRate, temperatureLearningRate = learningRate } = inputs;
  const { params, slots, loss } = descend(
    ({ logAlpha }) => ({
      loss: temperatureLoss(logAlpha as tf.Scalar, logProb, { targetEntropy }),
    }),
    { params: temperature, slots: temperatureSlots },
    { optimizer, learningRate: temperatureLearningRate },
  );
  return {
    state: { temperature: params, temperatureSlots: slots },
    stats: { temperature_loss: loss },
  };
}
