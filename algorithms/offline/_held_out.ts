import type { AgentState, DataBatch, Update } from "@bellman/agent";
import { type Params, tidy } from "@bellman/compute";
import type { Policy } from "@bellman/policies";
import type { StatisticTitles } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";

/** Titles of the statistics of learning from data. */
export const STATISTICS: StatisticTitles = {
  heldout_loss: ["Loss of held-out steps"],
  heldout_accuracy: ["Share of held-out actions that are the most likely"],
  q_abs_mean: ["Mean absolute Q value"],
  clipped_weights: ["Share of the policy's weights at weightMax"],
};

/** Steps with what a policy did in them. */
type Steps = Pick<DataBatch, "observations" | "actions"> & Partial<DataBatch>;

/**
 * Makes an update that then reports the loss of held-out steps, and for discrete actions
 * how many of these are the most likely ones.
 *
 * @param update Update of the training state.
 * @param policy Policy, to tell the most likely actions.
 * @param lossOf Returns the loss of steps and the most likely actions.
 */
export function judging<S extends AgentState, B, I>(
  update: Update<S, B, I>,
  policy: Pick<Policy, "distribution">,
  lossOf: (
    params: Params,
    steps: Steps,
  ) => { loss: tf.Scalar; mode: tf.Tensor },
): Update<S, B, I> {
  return (before, batch, inputs) =>
    tidy(() => {
      const { state, stats, ...rest } = update(before, batch, inputs);
      const { heldObservations, heldActions, heldStarts, heldActionMasks } =
        batch as Partial<DataBatch>;
      const { loss, mode } = lossOf(state.policy, {
        observations: heldObservations!,
        actions: heldActions!,
        starts: heldStarts,
        actionMasks: heldActionMasks,
      });
      const right = policy.distribution.actionDtype === "int32" &&
        tf.mean(tf.cast(tf.equal(mode, heldActions!), "float32"));
      return {
        ...rest,
        state,
        stats: {
          ...stats,
          heldout_loss: loss,
          ...right && { heldout_accuracy: right },
        },
      };
    });
}
