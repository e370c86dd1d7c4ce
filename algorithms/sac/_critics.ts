import type { LossValue, Params } from "@bellman/compute";
import { nest, scope } from "@bellman/policies";
import type { RandomSource } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import {
  criticLoss,
  type CriticLossOptions,
  entropyBonus,
  type SoftValueOptions,
} from "./loss.ts";
import type { DiscreteSacBatch } from "./update_types.ts";

/** What both Q functions say. */
export interface Estimates<T extends tf.Tensor = tf.Tensor1D> {
  qf1: T;
  qf2: T;
  [name: string]: T;
}

/** New parameters of both Q functions. */
export function initCritics(
  { init }: { init(random: RandomSource): Params },
  random: RandomSource,
): Params {
  return { ...nest(init(random), "qf1"), ...nest(init(random), "qf2") };
}

/** What a function of the parameters makes of each Q function. */
export function ofBoth<T extends tf.Tensor>(
  critics: Params,
  estimate: (params: Params) => T,
): Estimates<T> {
  return {
    qf1: estimate(scope(critics, "qf1")),
    qf2: estimate(scope(critics, "qf2")),
  };
}

/** The smaller estimate of each action, against overestimation. */
export function smaller<T extends tf.Tensor>({ qf1, qf2 }: Estimates<T>): T {
  return tf.minimum(qf1, qf2) as T;
}

/** The sum of both losses: no parameter is in both, so each has its own. */
export function bothLosses(
  estimates: Estimates,
  targets: tf.Tensor1D,
  options: CriticLossOptions,
): LossValue<Estimates> {
  const { qf1, qf2 } = estimates;
  const loss = tf.add(
    criticLoss(qf1, targets, options),
    criticLoss(qf2, targets, options),
  ) as tf.Scalar;
  return { loss, aux: estimates };
}

/** The bonus of a batch; none where it holds no observations in between. */
export function entropiesBetween(
  batch: Pick<DiscreteSacBatch, "betweenObservations" | "betweenDiscounts">,
  logProbs: (observations: tf.Tensor) => tf.Tensor1D,
  options: Pick<SoftValueOptions, "alpha"> = {},
): tf.Tensor1D | undefined {
  const { betweenObservations, betweenDiscounts } = batch;
  if (betweenObservations === undefined) return undefined;
  return entropyBonus(
    logProbs(betweenObservations),
    betweenDiscounts!,
    options,
  );
}
