import type {
  DiscreteQFunction,
  QFunction,
  ReparameterizedDistribution,
  StochasticPolicy,
  ValueFunction,
} from "@bellman/policies";

/**
 * What an update needs of a policy: how its parameters start, what it says of
 * observations, and the family of its action distributions.
 *
 * @example
 * ```ts
 * import type { SacPolicy } from "@bellman/sac";
 * import { type ReparameterizedDistribution, stochasticPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const policy: SacPolicy<ReparameterizedDistribution> = stochasticPolicy({
 *   observationSpace: { type: "discrete", n: 5 },
 *   actionSpace: { type: "box", shape: [2], low: -1, high: 1, dtype: "float32" },
 * });
 * assertEquals(policy.distribution.noise.size, 2);
 * ```
 */
export type SacPolicy<
  D extends StochasticPolicy["distribution"] = StochasticPolicy["distribution"],
> = Pick<StochasticPolicy<D>, "distribution" | "init" | "apply">;

/**
 * What learns continuous actions: a policy, and the form that both Q functions
 * have. Actions lie in [-1, 1].
 *
 * @example
 * ```ts
 * import type { SacModel } from "@bellman/sac";
 * import { qFunction, stochasticPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
 * const spaces = {
 *   observationSpace: { ...box, shape: [3] },
 *   actionSpace: { ...box, shape: [1] },
 * };
 * const model: SacModel = {
 *   policy: stochasticPolicy(spaces),
 *   qf: qFunction(spaces),
 * };
 * assertEquals(model.policy.distribution.actionShape, [1]);
 * ```
 */
export interface SacModel {
  /** The policy. */
  readonly policy: SacPolicy<ReparameterizedDistribution>;
  /** The form of both Q functions. */
  readonly qf: QFunction;
}

/**
 * A {@link SacModel} with a V function.
 *
 * @example
 * ```ts
 * import type { SacValueModel } from "@bellman/sac";
 * import { qFunction, stochasticPolicy, valueFunction } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
 * const spaces = {
 *   observationSpace: { ...box, shape: [3] },
 *   actionSpace: { ...box, shape: [1] },
 * };
 * const model: SacValueModel = {
 *   policy: stochasticPolicy({ ...spaces, distribution: "mixture" }),
 *   qf: qFunction(spaces),
 *   vf: valueFunction(spaces),
 * };
 * assertEquals(Object.keys(model), ["policy", "qf", "vf"]);
 * ```
 */
export interface SacValueModel extends SacModel {
  /** The V function, and the form of its target network. */
  readonly vf: ValueFunction;
}

/**
 * What learns discrete actions: a policy that gives logits, and the form that
 * both Q functions have, which give the values of all actions.
 *
 * @example
 * ```ts
 * import type { DiscreteSacModel } from "@bellman/sac";
 * import { discreteQFunction, stochasticPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const spaces = {
 *   observationSpace: { type: "discrete", n: 5 },
 *   actionSpace: { type: "discrete", n: 3 },
 * } as const;
 * const model: DiscreteSacModel = {
 *   policy: stochasticPolicy(spaces),
 *   qf: discreteQFunction(spaces),
 * };
 * assertEquals(model.policy.distribution.parameterSize, 3);
 * ```
 */
export interface DiscreteSacModel {
  /** The policy. */
  readonly policy: SacPolicy;
  /** The form of both Q functions. */
  readonly qf: DiscreteQFunction;
}
