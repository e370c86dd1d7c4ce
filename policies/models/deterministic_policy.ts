import type { BoxSpace } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { checkSquashable } from "../distributions/_shared.ts";
import { sizeOf } from "../networks/_layers.ts";
import { observationEncoder } from "../networks/observations.ts";
import { bodyWithHead, type FunctionOptions } from "./_body.ts";
import type { Policy, PolicyOutput } from "./policy.ts";

/** Options of {@link deterministicPolicy}. */
export interface DeterministicPolicyOptions extends FunctionOptions {
  /** Action space, with finite bounds. */
  readonly actionSpace: BoxSpace;
}

/**
 * Makes a deterministic policy with actions in [-1, 1] by tanh, as in DDPG and TD3;
 * exploration noise is added elsewhere.
 *
 * Source: Silver et al. 2014 (https://proceedings.mlr.press/v32/silver14.html).
 *
 * @param options Spaces and layers.
 * @returns The policy; its output `policy` holds the actions.
 * @throws {TypeError} If the actions are whole numbers, or the observation space is
 * a dict or tuple.
 * @throws {RangeError} If the network is recurrent, its name, inputs or options do
 * not fit, or actions have no finite bounds.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { deterministicPolicy } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const box = { type: "box", low: -2, high: 2, dtype: "float32" } as const;
 * const policy = deterministicPolicy({
 *   observationSpace: { ...box, shape: [3] },
 *   actionSpace: { ...box, shape: [1] },
 * });
 * const params = policy.init(new RandomStream(1));
 * const output = policy.apply(params, tf.ones([4, 3]));
 * const [[action]] = policy.mode(output).arraySync() as number[][];
 * assert(Math.abs(action) < 1);
 * ```
 */
export function deterministicPolicy(
  options: DeterministicPolicyOptions,
): Policy {
  const { actionSpace: { shape }, observationSpace } = options;
  checkSquashable(options.actionSpace);
  const parameterSize = sizeOf(shape);
  const { init, apply } = bodyWithHead(options, { outputs: parameterSize });
  const mode = (output: PolicyOutput) =>
    tf.reshape(output.policy, [-1, ...shape]);
  return {
    ...observationEncoder(observationSpace),
    stateSize: 0,
    distribution: { parameterSize, actionShape: shape, actionDtype: "float32" },
    noise: { kind: "normal", size: 0 },
    usesStateDependentExploration: false,
    squashesActions: true,
    init,
    apply: (params, observations) => ({
      policy: tf.tidy(() => tf.tanh(apply(params, observations).output)),
    }),
    sample: (_, output) => mode(output),
    mode,
  };
}
