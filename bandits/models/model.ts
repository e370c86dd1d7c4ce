import { Ridge, type RidgeSettings, sigmoid } from "./ridge.ts";

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
export class Prediction {
  /** Expected reward of each action. */
  readonly means: Float64Array;
  /** Center of each action's score: its expected reward, or the logit of that. */
  readonly centers: Float64Array;
  /** Parameters of beta distributions, if the scores have such ones. */
  readonly betas?: readonly [alpha: Float64Array, beta: Float64Array];
  /** Number of rewards learned, discounted. */
  readonly total: number;
  #deviations: Float64Array | undefined;
  readonly #computeDeviations: () => Float64Array;

  /** Makes a prediction; the deviations are computed when they are read. */
  constructor(
    { means, centers = means, betas, total }: {
      means: Float64Array;
      centers?: Float64Array;
      betas?: readonly [Float64Array, Float64Array];
      total: number;
    },
    computeDeviations: () => Float64Array,
  ) {
    this.means = means;
    this.centers = centers;
    this.betas = betas;
    this.total = total;
    this.#computeDeviations = computeDeviations;
  }

  /** Standard deviation of each action's score. */
  get deviations(): Float64Array {
    return this.#deviations ??= this.#computeDeviations();
  }
}

/** Features of actions: those of the context, or of each action with a shared model. */
export type FeaturesOf = (action: number) => Float64Array;

/** Predicts the rewards of some actions. */
export function predict(
  { shared, logistic, beta }: Model,
  ridge: Ridge,
  [actions, features]: readonly [actions: ArrayLike<number>, FeaturesOf],
): Prediction {
  const of = (compute: (regression: number, action: number) => number) => {
    const numbers = new Float64Array(actions.length);
    for (let i = 0; i < numbers.length; i++) {
      numbers[i] = compute(shared ? 0 : actions[i], actions[i]);
    }
    return numbers;
  };
  const { total } = ridge;
  if (beta) {
    const sums = Array.from(actions, (it) => ridge.sums(it));
    const alphas = Float64Array.from(
      sums,
      ({ moment }) => 1 + (moment[0] ?? 0),
    );
    const betas = Float64Array.from(
      sums,
      ({ gram, moment }) => 1 + (gram[0] ?? 0) - (moment[0] ?? 0),
    );
    const means = alphas.map((a, i) => a / (a + betas[i]));
    return new Prediction(
      { means, betas: [alphas, betas], total },
      () =>
        means.map((it, i) =>
          Math.sqrt(it * (1 - it) / (alphas[i] + betas[i] + 1))
        ),
    );
  }
  const centers = of((i, action) => ridge.mean(i, features(action)));
  const means = logistic ? centers.map(sigmoid) : centers;
  return new Prediction({ means, centers, total }, () => {
    const scale = logistic ? 1 : ridge.noise;
    return of((i, action) =>
      scale * Math.sqrt(ridge.variance(i, features(action)))
    );
  });
}
