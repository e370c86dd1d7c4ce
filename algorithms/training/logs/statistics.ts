/** Statistic of a run, as logs name it. */
export interface StatisticInfo {
  /** Name in logs: its group, a slash, the quantity and what was made of it. */
  readonly name: string;
  /** Title in words, for plots and reports. */
  readonly title: string;
  /** Names in the original implementations, and in runs of before the groups. */
  readonly aliases: readonly string[];
}

function info(
  name: string,
  title: string,
  ...aliases: readonly string[]
): StatisticInfo {
  return { name, title, aliases };
}

/**
 * Statistics with their other names: `time/` and `rollout/` are of training,
 * `eval/` of an evaluation, `train/` of the last update. An algorithm returns
 * those of an update without the group.
 */
export const STATISTICS: readonly StatisticInfo[] = [
  info(
    "time/steps",
    "Environment steps",
    "total_timesteps",
    "time/total_timesteps",
  ),
  info("time/updates", "Updates", "nupdates", "train/n_updates"),
  info("time/episodes", "Episodes"),
  info(
    "time/seconds",
    "Seconds of training",
    "time_elapsed",
    "time/time_elapsed",
  ),
  info(
    "time/steps_per_second",
    "Environment steps per second",
    "fps",
    "time/fps",
  ),
  info("rollout/return_mean", "Return", "eprewmean", "rollout/ep_rew_mean"),
  info(
    "rollout/length_mean",
    "Episode length",
    "eplenmean",
    "rollout/ep_len_mean",
  ),
  info(
    "eval/return_mean",
    "Evaluation: mean return",
    "eval_return_mean",
    "eval/mean_reward",
  ),
  info(
    "eval/return_std",
    "Evaluation: standard deviation of returns",
    "eval_return_std",
  ),
  info("eval/return_min", "Evaluation: lowest return", "eval_return_min"),
  info("eval/return_median", "Evaluation: median return", "eval_return_median"),
  info("eval/return_max", "Evaluation: highest return", "eval_return_max"),
  info(
    "eval/length_mean",
    "Evaluation: mean episode length",
    "eval_length_mean",
    "eval/mean_ep_length",
  ),
  info("eval/episodes_cut", "Evaluation: episodes cut"),
  info("train/loss", "Loss"),
  info("train/policy_loss", "Policy loss", "loss_policy", "actor_loss"),
  info(
    "train/truncated_loss",
    "Policy loss: truncated importance sampling",
    "loss_f",
  ),
  info("train/bias_correction_loss", "Policy loss: bias correction", "loss_bc"),
  info("train/policy_kl_loss", "Policy loss: divergence"),
  info(
    "train/policy_regularization_loss",
    "Policy loss: regularization",
    "policy_reg_loss",
  ),
  info("train/value_loss", "Value loss", "vf_loss"),
  info("train/q_loss", "Q loss", "loss_q", "critic_loss"),
  info("train/temperature_loss", "Temperature loss", "ent_coef_loss"),
  info("train/entropy", "Policy entropy", "policy_entropy"),
  info("train/temperature", "Temperature", "ent_coef"),
  info("train/explained_variance", "Explained variance", "ev"),
  info("train/value_mean", "Value: mean", "vf-avg"),
  info("train/value_std", "Value: standard deviation", "vf-std"),
  info("train/q_mean", "Q value: mean", "q"),
  info("train/target_mean", "Target of the Q value: mean", "target"),
  info("train/q1_mean", "First Q value: mean", "qf1-avg"),
  info("train/q1_std", "First Q value: standard deviation", "qf1-std"),
  info("train/q2_mean", "Second Q value: mean", "qf2-avg"),
  info("train/q2_std", "Second Q value: standard deviation", "qf2-std"),
  info("train/q_difference", "Difference of both Q values", "mean-qf-diff"),
  info(
    "train/q1_bellman_error",
    "First Q value: squared Bellman error",
    "mean-sq-bellman-error1",
  ),
  info(
    "train/q2_bellman_error",
    "Second Q value: squared Bellman error",
    "mean-sq-bellman-error2",
  ),
  info("train/grad_norm", "Gradient norm", "norm_grads"),
  info("train/policy_grad_norm", "Gradient norm: policy", "norm_grads_policy"),
  info("train/q_grad_norm", "Gradient norm: Q function", "norm_grads_q"),
  info("train/kl_gradient_norm", "Gradient norm: divergence", "avg_norm_k"),
  info("train/gain_gradient_norm", "Gradient norm: gain", "avg_norm_g"),
  info(
    "train/projected_gradient_norm",
    "Gradient norm: projected gain",
    "avg_norm_grads_f",
  ),
  info(
    "train/kl_gain_product",
    "Product of the gradients of divergence and gain",
    "avg_norm_k_dot_g",
  ),
  info(
    "train/trust_region_adjustment",
    "Adjustment by the trust region",
    "avg_norm_adj",
  ),
  info(
    "train/trust_region_factor",
    "Factor of the trust region",
    "trust_region",
  ),
  info("train/steps_skipped", "Steps skipped"),
  info("train/steps_dropped", "Steps dropped"),
  info("train/epsilon", "Exploration rate"),
  info("train/learning_rate", "Learning rate"),
];

const byName = new Map(STATISTICS.map((it) => [it.name, it]));

/** Names by every other name; an update's statistic has also that without its group. */
const byAlias = new Map(
  STATISTICS.flatMap(({ name, aliases }) => {
    const short = name.startsWith("train/") ? [name.slice(6)] : [];
    return [...short, ...aliases].map((alias) => [alias, name]);
  }),
);

/**
 * Returns the name of a statistic in logs from that of an original
 * implementation, or from that in an algorithm's update.
 *
 * @param name Any of its names, see {@link STATISTICS}.
 * @returns The name with its group; one that is not known is returned as it is.
 *
 * @example
 * ```ts
 * import { statisticName } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(statisticName("eprewmean"), "rollout/return_mean");
 * assertEquals(statisticName("qf1-avg"), "train/q1_mean");
 * assertEquals(statisticName("value_loss"), "train/value_loss");
 * assertEquals(statisticName("my/own"), "my/own");
 * ```
 */
export function statisticName(name: string): string {
  return byAlias.get(name) ?? name;
}

/**
 * Returns the title of a statistic, in words.
 *
 * @param name Any of its names.
 * @returns That of {@link STATISTICS}, or the words of its name.
 *
 * @example
 * ```ts
 * import { statisticTitle } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(statisticTitle("train/q1_std"), "First Q value: standard deviation");
 * assertEquals(statisticTitle("train/my_own_loss"), "My own loss");
 * ```
 */
export function statisticTitle(name: string): string {
  const known = byName.get(statisticName(name));
  if (known !== undefined) return known.title;
  const words = name.slice(name.lastIndexOf("/") + 1).replaceAll(/[_-]+/g, " ")
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * Returns the name of an update's statistic in logs.
 *
 * @param name Name in the update; one with a group keeps it.
 */
export function groupedName(name: string): string {
  return name.includes("/") ? name : `train/${name}`;
}
