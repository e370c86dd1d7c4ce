import type { Space } from "@bellman/types";
import type { FunctionOptions } from "./_body.ts";
import type { Policy } from "./policy.ts";
import { stochasticPolicy } from "./stochastic_policy.ts";

/** Options of {@link qPolicy}. */
export interface QPolicyOptions extends FunctionOptions {
  /** Space of one action, which is discrete. */
  readonly actionSpace: Space;
}

/**
 * Makes a greedy policy of a Q function; exploration is separate.
 *
 * @param options Spaces and layers.
 * @returns The policy; its output `policy` holds the values of all actions.
 * @throws {TypeError} If actions are not discrete.
 * @throws {RangeError} If the network is recurrent.
 *
 * @example
 * ```ts
 * import { qPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const policy = qPolicy({
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 3 },
 * });
 * const best = policy.mode({ policy: tf.tensor2d([[0, 2, 1]]) });
 * assertEquals(best.arraySync(), [1]);
 * ```
 */
export function qPolicy(options: QPolicyOptions): Policy {
  const { type } = options.actionSpace;
  if (type !== "discrete") {
    throw new TypeError(
      `Cannot learn values of ${type} actions: expected discrete actions`,
    );
  }
  const policy = stochasticPolicy(options);
  // Values serve as logits: the best action is the likeliest one.
  return { ...policy, sample: (_, output) => policy.mode(output) };
}
