import type { StatisticTitles } from "@bellman/types";

/** Statistic of a run, as logs name it. */
export interface StatisticInfo {
  /** Name in logs: group, slash, quantity and aggregate. */
  readonly name: string;
  /** Title for plots and reports. */
  readonly title: string;
  /** Names in other implementations. */
  readonly aliases: readonly string[];
}

function info(
  name: string,
  title: string,
  ...aliases: readonly string[]
): StatisticInfo {
  return { name, title, aliases };
}

const statistics: StatisticInfo[] = [
  info(
    "time/steps",
    "Environment steps",
    "total_timesteps",
    "time/total_timesteps",
  ),
  info("time/updates", "Updates", "nupdates"),
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
  info("rollout/success_rate", "Success rate"),
  info(
    "eval/return_mean",
    "Evaluation: mean return",
    "eval/mean_reward",
  ),
  info(
    "eval/return_std",
    "Evaluation: standard deviation of returns",
  ),
  info("eval/return_min", "Evaluation: lowest return"),
  info("eval/return_median", "Evaluation: median return"),
  info("eval/return_max", "Evaluation: highest return"),
  info(
    "eval/length_mean",
    "Evaluation: mean episode length",
    "eval/mean_ep_length",
  ),
  info("eval/success_rate", "Evaluation: success rate"),
  info("eval/episodes_cut", "Evaluation: episodes cut"),
  info("self_play/elo", "Elo rating", "elo", "Self-play/ELO"),
  info("self_play/win_rate", "Win rate of the last 100 games", "win_rate"),
  info("self_play/opponent_age", "Age of opponents in steps", "opponent_age"),
  info("train/loss", "Loss"),
  info("train/policy_loss", "Policy loss", "loss_policy", "actor_loss"),
  info("train/value_loss", "Value loss", "vf_loss"),
  info("train/q_loss", "Q loss", "loss_q", "critic_loss"),
  info("train/entropy", "Policy entropy", "policy_entropy"),
  info("train/explained_variance", "Explained variance", "ev"),
  info("train/grad_norm", "Gradient norm", "norm_grads"),
  info("train/learning_rate", "Learning rate"),
];

/**
 * Statistics with their aliases: `time/` and `rollout/` are of training, `eval/` of
 * evaluations, `self_play/` of games, `train/` of updates. Algorithms return those of
 * updates without the group; {@link addStatistics} adds those of a single algorithm.
 */
export const STATISTICS: readonly StatisticInfo[] = statistics;

const byName = new Map<string, StatisticInfo>();
/** Names by alias; an update's statistic also has its name without the group. */
const byAlias = new Map<string, string>();

for (const it of STATISTICS) remember(it);

function remember(statistic: StatisticInfo): void {
  const { name, aliases } = statistic;
  byName.set(name, statistic);
  const short = name.startsWith("train/") ? [name.slice(6)] : [];
  for (const alias of [...short, ...aliases]) byAlias.set(alias, name);
}

/**
 * Adds titles and aliases of an algorithm's update statistics, for plots, reports and
 * column names.
 *
 * @param titles Titles and aliases by name in an update. Known names keep their own.
 *
 * @example
 * ```ts
 * import { addStatistics, statisticName, statisticTitle } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * addStatistics({ clip_fraction: ["Share of clipped ratios", "clipfrac"] });
 * assertEquals(statisticName("clipfrac"), "train/clip_fraction");
 * assertEquals(statisticTitle("clipfrac"), "Share of clipped ratios");
 * ```
 */
export function addStatistics(titles: StatisticTitles): void {
  for (const [key, [title, ...aliases]] of Object.entries(titles)) {
    const name = groupedName(key);
    if (byName.has(name)) continue;
    const statistic = { name, title, aliases };
    statistics.push(statistic);
    remember(statistic);
  }
}

/**
 * Returns the log name of a statistic from its name in another implementation or in an
 * algorithm's update.
 *
 * @param name Any of its names; see {@link STATISTICS}.
 * @returns Name with its group; unknown names are returned unchanged.
 *
 * @example
 * ```ts
 * import { statisticName } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(statisticName("eprewmean"), "rollout/return_mean");
 * assertEquals(statisticName("vf_loss"), "train/value_loss");
 * assertEquals(statisticName("value_loss"), "train/value_loss");
 * assertEquals(statisticName("my/own"), "my/own");
 * ```
 */
export function statisticName(name: string): string {
  return byAlias.get(name) ?? name;
}

/**
 * Returns the title of a statistic.
 *
 * @param name Any of its names.
 * @returns Title of {@link STATISTICS}, or the words of an unknown name.
 *
 * @example
 * ```ts
 * import { statisticTitle } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(statisticTitle("train/grad_norm"), "Gradient norm");
 * assertEquals(statisticTitle("train/my_own_loss"), "My own loss");
 * ```
 */
export function statisticTitle(name: string): string {
  const known = byName.get(statisticName(name));
  if (known !== undefined) return known.title;
  // Games have statistics of each role.
  const [, role, own] = /^([^/]+)\/(self_play\/.+)$/.exec(name) ?? [];
  if (role !== undefined) return `${role}: ${statisticTitle(own)}`;
  const words = name.slice(name.lastIndexOf("/") + 1).replaceAll(/[_-]+/g, " ")
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * Returns the log name of an update's statistic.
 *
 * @param name Name in the update; one with a group stays the same.
 */
export function groupedName(name: string): string {
  return name.includes("/") ? name : `train/${name}`;
}
