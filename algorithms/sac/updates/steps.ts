import type { ReplayBatch } from "@bellman/agent";
import {
  descend,
  type Descent,
  type Optimizer,
  type Params,
  polyak,
  tidy,
} from "@bellman/compute";
import {
  type CriticPass,
  type CriticStep,
  meanEstimates,
  pickCritics,
  smallestEstimates,
  valueEstimates,
} from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { temperatureLoss } from "./losses.ts";
import type {
  SacCriticStatistics,
  SacDiagnostics,
  SacNumbers,
  SacState,
  SacTargetOptions,
  SacUpdateResult,
  SacUpdates,
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

/** Gradient steps that make an update; the policy's is taken against the new critics. */
export interface Steps<I extends SacNumbers> extends TemperatureOptions {
  critics(state: SacState, batch: ReplayBatch, inputs: I): CriticStep;
  policy(
    state: SacState,
    batch: ReplayBatch,
    given: { readonly inputs: I; readonly critics: Params },
  ): Descent<{ [path: string]: tf.Tensor; logProb: tf.Tensor1D }>;
}

/** Makes the update of critics, policy and temperature, and that of the critics alone. */
export function updatesOf<I extends SacNumbers>(
  steps: Steps<I>,
): SacUpdates<I> {
  return {
    critics: (state, batch, inputs) =>
      tidy(() =>
        afterCritics(state, steps.critics(state, batch, inputs), inputs)
      ),
    learn: (state, batch, inputs) =>
      tidy(() => {
        const step = steps.critics(state, batch, inputs);
        const { state: after, stats, ...rest } = afterCritics(
          state,
          step,
          inputs,
        );
        const critics = step.params;
        const actor = steps.policy(state, batch, { inputs, critics });
        const { logProb, ...running } = actor.aux;
        const temperature = temperatureStep(state, logProb, {
          ...{ batch, inputs },
          ...steps,
        });
        return {
          ...rest,
          state: {
            ...after,
            ...temperature.state,
            policy: { ...state.policy, ...actor.params, ...running },
            policySlots: actor.slots,
          },
          stats: {
            ...stats,
            policy_loss: actor.loss,
            temperature: temperatureOf(state, inputs),
            entropy: tf.neg(tf.mean(logProb)) as tf.Scalar,
            ...temperature.stats,
          },
        };
      }),
  };
}

/** Finishes the step of the critics: updates the target networks. */
function afterCritics(
  state: SacState,
  critics: CriticStep,
  { tau }: SacNumbers,
): SacUpdateResult<SacState, SacCriticStatistics> {
  return {
    state: {
      ...state,
      critics: critics.params,
      criticSlots: critics.slots,
      targets: movedTargets(state, critics.params, { tau }),
    },
    stats: { ...critics.stats as SacDiagnostics, q_loss: critics.loss },
    results: { tdErrors: critics.tdErrors },
  };
}

/** Moves the target networks towards the critics, where there are some. */
function movedTargets(
  { targets }: SacState,
  critics: Params,
  options: Pick<SacNumbers, "tau">,
): Params {
  const hasTargets = Object.keys(targets).length > 0;
  return hasTargets ? polyak(targets, critics, options) : targets;
}

/** Options of the temperature's step. */
interface TemperatureOptions {
  readonly optimizer: Optimizer;
  targetEntropy(batch: ReplayBatch): number | tf.Scalar;
}

/** Takes one gradient step of the temperature, if it is learned. */
function temperatureStep(
  { temperature, temperatureSlots: slots }: SacState,
  logProb: tf.Tensor1D,
  { batch, inputs, optimizer, ...options }: TemperatureOptions & {
    readonly batch: ReplayBatch;
    readonly inputs: SacNumbers;
  },
): {
  state: Pick<SacState, "temperature" | "temperatureSlots">;
  stats: { temperature_loss?: tf.Scalar };
} {
  if (temperature.logAlpha === undefined) {
    return { state: { temperature: {}, temperatureSlots: {} }, stats: {} };
  }
  const { learningRate, temperatureLearningRate = learningRate } = inputs;
  const targetEntropy = options.targetEntropy(batch);
  const step = descend(
    ({ logAlpha }) => ({
      loss: temperatureLoss(logAlpha as tf.Scalar, logProb, { targetEntropy }),
    }),
    { params: temperature, slots },
    { optimizer, learningRate: temperatureLearningRate },
  );
  return {
    state: { temperature: step.params, temperatureSlots: step.slots },
    stats: { temperature_loss: step.loss },
  };
}

/** Passes of a critic that drop units each on their own: the first one and their number. */
const PASSES = {
  targets: [0, 1],
  critics: [1, 1],
  both: [0, 2],
  policy: [2, 1],
};

/** Slices the uniform numbers that drop units of a critic in a pass; none without dropout. */
export function unitsOf(
  { dropout }: Pick<SacNumbers, "dropout">,
  pass: keyof typeof PASSES,
  { critic, rows }: { readonly critic: number; readonly rows: number },
): tf.Tensor2D | undefined {
  if (dropout === undefined) return undefined;
  const [first, count] = PASSES[pass];
  return tf.slice(dropout, (3 * critic + first) * rows, count * rows);
}

/** Returns the target networks that make the targets of an update: all, or drawn ones. */
export function chosenTargets(
  { targets }: SacState,
  { criticOrder }: Pick<SacNumbers, "criticOrder">,
  { targetCritics }: Pick<SacTargetOptions, "targetCritics">,
): Params {
  if (Object.keys(targets).length === 0) {
    throw new TypeError(
      "Cannot estimate next values without target networks: expected a state that has them, or targetNetworks: false",
    );
  }
  if (!targetCritics) return targets;
  if (criticOrder !== undefined) {
    return pickCritics(targets, criticOrder, targetCritics);
  }
  throw new TypeError(
    `Cannot draw ${targetCritics} target critics: expected inputs.criticOrder, a permutation`,
  );
}

/** Returns the value of actions that the policy maximizes, from estimates of them. */
export function policyValueOf({ policyValue = "smallest" }: SacTargetOptions) {
  const join = policyValue === "mean" ? meanEstimates : smallestEstimates;
  return (estimates: CriticPass["estimates"]): tf.Tensor1D =>
    join(valueEstimates(estimates));
}
