/** Forms of the update as one type, for the tests that hold for all. */
import { type Params, RandomStream } from "@bellman/compute";
import type { QFunctionOptions } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { discreteSacUpdate } from "../updates/discrete_update.ts";
import {
  initSacState,
  sacUpdate,
  type SacUpdateOptions,
} from "../updates/update.ts";
import {
  continuousBatch,
  continuousModel,
  discreteBatch,
  discreteModel,
  HIDDEN_SIZE,
} from "./models.ts";

/** A state of any form: its parts by name. */
export type AnyState = Record<string, Params>;

/** What any update returns. */
export interface AnyResult {
  state: AnyState;
  stats: Record<string, tf.Scalar>;
  tdErrors: tf.Tensor1D;
}

/** One form of the update and what it takes: the noise is in the batch. */
export interface Form {
  readonly name: string;
  readonly state: AnyState;
  readonly hyperparameters: Readonly<Record<string, number>>;
  /** Whether rows are normalized together, and critics have no targets. */
  readonly isJoint?: boolean;
  batch(seed: number): Params;
  update(
    state: AnyState,
    batch: Params,
    hyperparameters: Record<string, tf.Scalar>,
  ): AnyResult;
}

/** Makes an update take the noise that is in the batch. */
export function withNoises(update: unknown): Form["update"] {
  const apply = update as (...given: unknown[]) => {
    state: AnyState;
    stats: Record<string, tf.Scalar>;
    results: { tdErrors: tf.Tensor1D };
  };
  return (state, { noise, nextNoise, ...others }, numbers) => {
    const { criticOrder, dropout, ...batch } = others;
    const { results, ...made } = apply(state, batch, {
      ...numbers,
      ...{ noise, nextNoise },
      ...(criticOrder && { criticOrder }),
      ...(dropout && { dropout }),
    });
    return { ...made, ...results };
  };
}

/** Rates of an update. */
export const RATES = { learningRate: 0.01, tau: 0.1 };

function boxForm(name: string, initialAlpha: number | null): Form {
  const model = continuousModel();
  const random = new RandomStream(1);
  const state = initSacState(model, random, { initialAlpha });
  return {
    name,
    state: { ...state },
    hyperparameters: {
      ...RATES,
      ...(initialAlpha === null && { alpha: 0.3 }),
    },
    batch: (seed) => continuousBatch(seed),
    update: withNoises(sacUpdate(model).learn),
  };
}

/** Critics of TQC, CrossQ, REDQ or DroQ. */
function methodForm(
  name: string,
  layers: Partial<QFunctionOptions>,
  { numCritics = 2, ...options }: SacUpdateOptions & { numCritics?: number },
): Form {
  const model = continuousModel(layers);
  const { targetCritics, targetNetworks } = options;
  const random = new RandomStream(1);
  const state = initSacState(model, random, { numCritics, targetNetworks });
  return {
    name,
    state: { ...state },
    hyperparameters: RATES,
    isJoint: targetNetworks === false,
    batch(seed) {
      const batch = continuousBatch(seed), rows = batch.rewards.size;
      const { shape, size } = tf.zeros([3 * numCritics * rows, HIDDEN_SIZE]);
      const order = Array.from({ length: numCritics }, (_, i) => i);
      return {
        ...batch,
        ...(targetCritics && {
          criticOrder: tf.tensor([order.reverse()], undefined, "int32"),
        }),
        ...(layers.dropout && {
          dropout: tf.tensor(
            new RandomStream(seed).fillUniform(new Float32Array(size)),
            shape,
          ),
        }),
      };
    },
    update: withNoises(sacUpdate(model, options).learn),
  };
}

function discreteForm(): Form {
  const model = discreteModel();
  const hyperparameters = {
    ...RATES,
    criticLearningRate: 0.02,
    temperatureLearningRate: 0.03,
  };
  return {
    name: "discrete",
    state: { ...initSacState(model, new RandomStream(1)) },
    hyperparameters,
    batch: (seed) => discreteBatch(seed),
    update: withNoises(discreteSacUpdate(model).learn),
  };
}

/** Every form. */
export const FORMS: readonly Form[] = [
  boxForm("learned temperature", 0.5),
  boxForm("fixed temperature", null),
  methodForm("quantiles", { quantiles: 5 }, {
    droppedQuantiles: 1,
    policyValue: "mean",
  }),
  methodForm("batch normalization", { normalization: "batch" }, {
    targetNetworks: false,
  }),
  methodForm("drawn targets", {}, {
    numCritics: 4,
    targetCritics: 2,
    policyValue: "mean",
  }),
  methodForm("dropout", { normalization: "layer", dropout: 0.3 }, {
    policyValue: "mean",
  }),
  discreteForm(),
];

/** Hyperparameters of a form as tensors. */
export function scalarsOf(
  numbers: Readonly<Record<string, number>>,
): Record<string, tf.Scalar> {
  return Object.fromEntries(
    Object.entries(numbers).map(([name, it]) => [name, tf.scalar(it)]),
  );
}

/** All numbers of a state, by part and path. */
export function numbersOf(state: AnyState): Record<string, Float32Array> {
  const numbers: Record<string, Float32Array> = {};
  for (const [part, params] of Object.entries(state)) {
    for (const [path, it] of Object.entries(params)) {
      numbers[`${part}.${path}`] = it.dataSync<"float32">().slice();
    }
  }
  return numbers;
}
