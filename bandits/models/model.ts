import { type Ridge, type RidgeSettings, sigmoid } from "./ridge.ts";

/**
 * Model of rewards: what `linear` and `arms` return. It holds settings alone, so that one
 * may serve several bandits.
 */
export interface Model extends RidgeSettings {
  /** Function that made it. */
  readonly name: "linear" | "arms";
  /** True where one regression of the actions' features serves all actions. */
  readonly shared: boolean;
  /** True for beta distributions of rewards from 0 to 1. */
  readonly beta: boolean;
}

/** Prediction of the rewards of some actions, from which an exploration makes chances. */
export interface Prediction {
  /** Expected reward of each action. */
  readonly means: Float64Array;
  /** Center of each action's score: its expected reward, or the logit of that. */
  readonly centers: Float64Array;
  /** Standard deviation of each action's score; computed when it is read. */
  readonly deviations: Float64Array;
  /** Parameters of beta distributions, if the scores have such ones. */
  readonly betas?: readonly [alpha: Float64Array, beta: Float64Array];
  /** Number of rewards learned, discounted. */
  readonly total: number;
}

/** Features of actions: those of the context, or of each action with a shared model. */
export type FeaturesOf = (action: number) => Float64Array;

/** Predicts the rewards of some actions. */
export function predict(
  { shared, logistic, beta }: Model,
  ridge: Ridge,
  [actions, features]: readonly [actions: ArrayLike<number>, FeaturesOf],
): Prediction {
  const of = (compute: (regression: number, at: number) => number) => {
    const numbers = new Float64Array(actions.length);
    for (let i = 0; i < numbers.length; i++) {
      numbers[i] = compute(shared ? 0 : actions[i], i);
    }
    return numbers;
  };
  const { total } = ridge;
  if (beta) {
    const hits = of((i) => ridge.regression(i).moment[0] ?? 0);
    const misses = of((i, at) => (ridge.regression(i).gram[0] ?? 0) - hits[at]);
    const betas = [
      hits.map((it) => it + 1),
      misses.map((it) => it + 1),
    ] as const;
    const sums = of((_, at) => betas[0][at] + betas[1][at]);
    const means = of((_, at) => betas[0][at] / sums[at]);
    const deviations = of((_, at) =>
      Math.sqrt(means[at] * (1 - means[at]) / (sums[at] + 1))
    );
    return { means, centers: means, deviations, betas, total };
  }
  const centers = of((i, at) => ridge.mean(i, features(actions[at])));
  return {
    means: logistic ? centers.map(sigmoid) : centers,
    centers,
    get deviations() {
      const scale = logistic ? 1 : ridge.noise;
      return of((i, at) =>
        scale * Math.sqrt(ridge.variance(i, features(actions[at])))
      );
    },
    total,
  };
}
