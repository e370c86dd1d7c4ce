import type * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import type { Policy, PolicyOutput, Recurrence } from "./policy.ts";

/**
 * What an {@link ActorCritic} computes from observations.
 *
 * @example
 * ```ts
 * import { actorCritic, type ActorCriticOutput } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const model = actorCritic({
 *   observationSpace: { type: "box", shape: [4], low: -1, high: 1, dtype: "float32" },
 *   actionSpace: { type: "discrete", n: 2 },
 *   network: "mlp",
 * });
 * const params = model.init(new RandomStream(0));
 * const output: ActorCriticOutput = model.apply(params, tf.zeros([3, 4]));
 * assertEquals([output.policy.shape, output.value.shape], [[3, 2], [3]]);
 * ```
 */
export interface ActorCriticOutput extends PolicyOutput {
  /** Estimated returns `[batch]`. */
  readonly value: tf.Tensor1D;
}

/**
 * A policy and a value function over one or two trunks; all of it is pure.
 *
 * @example
 * ```ts
 * import { actorCritic, type ActorCritic } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const model: ActorCritic = actorCritic({
 *   observationSpace: { type: "box", shape: [4], low: -1, high: 1, dtype: "float32" },
 *   actionSpace: { type: "discrete", n: 2 },
 *   network: "mlp",
 * });
 * assertEquals([model.observationSize, model.stateSize], [4, 0]);
 * ```
 */
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
