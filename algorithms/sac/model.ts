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
 */
export type SacPolicy<
  D extends StochasticPolicy["distribution"] = StochasticPolicy["distribution"],
> = Pick<StochasticPolicy<D>, "distribution" | "init" | "apply">;

/**
 * What learns continuous actions: a policy, and the form that both Q functions
 * have. Actions lie in [-1, 1].
 */
export interface SacModel {
  /** The policy. */
  readonly policy: SacPolicy<ReparameterizedDistribution>;
  /** The form of both Q functions. */
  readonly qf: QFunction;
}

/** A {@link SacModel} with a V function. */
export interface SacValueModel extends SacModel {
  /** The V function, and the form of its target network. */
  readonly vf: ValueFunction;
}

/**
 * What learns discrete actions: a policy that gives logits, and the form that
 * both Q functions have, which give the values of all actions.
 */
export interface DiscreteSacModel {
  /** The policy. */
  readonly policy: SacPolicy;
  /** The form of both Q functions. */
  readonly qf: DiscreteQFunction;
}
