import type * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import type { Policy, PolicyOutput, Recurrence } from "./policy.ts";

/** What an {@link ActorCritic} computes from observations. */
export interface ActorCriticOutput extends PolicyOutput {
  /** Estimated returns `[batch]`. */
  readonly value: tf.Tensor1D;
}

/** A policy and a value function over one or two trunks; all of it is pure. */
export interface ActorCritic extends Policy {
  /**
   * Computes action distributions and values.
   *
   * @param params Parameters as `init` makes them.
   * @param observations Encoded observations `[batch, ...observationShape]`,
   * env-major.
   * @param recurrence State and episode starts, of recurrent models. Without
   * it each row starts from a state of zeros.
   */
  apply(
    params: Params,
    observations: tf.Tensor,
    recurrence?: Recurrence,
  ): ActorCriticOutput;
}
