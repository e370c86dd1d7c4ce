import { type Ridge, type RidgeSettings, sigmoid, type Sums } from "./ridge.ts";

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
  /** Computes the chances of {@linkcode Prediction.best}. */
  readonly best: (prediction: Prediction, factor: number) => Float64Array;
}

/** Prediction of the rewards of some actions, from which an exploration makes chances. */
export interface Prediction {
  /** Expected reward of each action. */
  readonly means: Float64Array;
  /** Center of each action's score: its expected reward, or the logit of that. */
  readonly centers: Float64Array;
  /** Standard deviation of each action's score; computed when it is read. */
  readonly deviations: Float64Array;
  /** Number of rewards learned, discounted. */
  readonly total: number;
  /**
   * Computes the chance of each action that its score is the largest one, as if all
   * deviations were multiplied by a factor.
   */
  best(factor: number): Float64Array;
}

/** Features of actions: those of the context, or of each action with a shared model. */
export type FeaturesOf = (action: number) => Float64Array;

/** Predicts the rewards of some actions. */
export function predict(
  { shared, logistic, beta, best }: Model,
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
  const { total } = ridge, x = (at: number) => features(actions[at]);
  // Of a constant feature, the sums are the rewards and their number.
  const share = ({ gram: [count = 0], moment: [sum = 0] }: Sums) =>
    Math.min(1 - 1e-9, Math.max(1e-9, (1 + sum) / (2 + count)));
  const spread = ({ gram: [count = 0] }: Sums, mean: number) =>
    Math.sqrt(mean * (1 - mean) / (3 + count));
  const centers = beta
    ? of((i) => share(ridge.regression(i)))
    : of((i, at) => ridge.mean(i, x(at)));
  return {
    means: logistic ? centers.map(sigmoid) : centers,
    centers,
    get deviations() {
      const scale = logistic ? 1 : ridge.noise;
      return of((i, at) =>
        beta
          ? spread(ridge.regression(i), centers[at])
          : scale * Math.sqrt(ridge.variance(i, x(at)))
      );
    },
    total,
    best(factor) {
      return best(this, factor);
    },
  };
}
