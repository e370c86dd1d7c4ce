/** Hints for names of other libraries that do not exist here. */

/** Algorithms of other libraries, with the nearest one here. */
const ALGORITHMS: ReadonlyMap<string, string> = new Map([
  ...["ppo1", "ppo2"].map((it) => [it, "ppo"] as const),
  ...["recurrentppo", "recurrent_ppo", "ppo_lstm"].map((it) =>
    [it, "ppo, with '--set network=lstm'"] as const
  ),
  ...["maskableppo", "maskable_ppo", "ppo_mask"].map((it) =>
    [it, "ppo, which obeys the masks of environments"] as const
  ),
  ...["trpo", "ars"].map((it) =>
    [it, "ppo or acktr, which learn from rollouts as well"] as const
  ),
  ...["tqc", "crossq", "redq", "droq"].map((it) =>
    [it, `sac, with '--set method=${it}'`] as const
  ),
  ...["deepq", "ddqn"].map((it) => [it, "dqn"] as const),
  ["rainbow", "dqn, with '--preset rainbow'"],
  ...["qrdqn", "qr_dqn"].map((it) =>
    [it, "dqn, with '--set values=quantile'"] as const
  ),
  ["c51", "dqn, with '--set values=categorical --set valueRange=[LOW,HIGH]'"],
]);

/**
 * Suggests the nearest algorithm for one of another library.
 *
 * @param name Name of the algorithm.
 * @returns The hint; `undefined` for other names.
 */
export function hintAtAlgorithm(name: string): string | undefined {
  const near = ALGORITHMS.get(name.toLowerCase());
  return near && `${whereOf(near)}; expected ${near}`;
}

/** Tells whether settings make one of another library of the nearest one here. */
function whereOf(near: string): string {
  return near.includes("'--") ? "it is a setting here" : "it is not here";
}

/** Settings that are characteristic of an algorithm, as other libraries name them. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  ppo: ["n_epochs", "noptepochs", "clip_range", "cliprange", "nminibatches"],
  trpo: ["cg_damping", "cg_max_steps", "n_critic_updates"],
  ars: ["n_delta", "n_top", "delta_std"],
  td3: ["policy_delay", "target_policy_noise", "noise_type", "noise_std"],
  tqc: ["top_quantiles_to_drop_per_net"],
  dqn: ["exploration_fraction", "exploration_final_eps"],
};

/** Finds the algorithm that a setting belongs to. */
function algorithmOf(setting: string): string | undefined {
  return Object.keys(OWN).find((it) => OWN[it].includes(setting));
}

/**
 * Names the algorithm, here or of another library, that settings belong to.
 *
 * @param settings Settings that the current algorithm lacks.
 * @returns The hint; `undefined` if none is known.
 */
export function hintAtForeignFile(
  settings: readonly string[],
): string | undefined {
  const [name] = settings.flatMap((it) => algorithmOf(it) ?? []);
  if (name === undefined) return undefined;
  const telling = settings.filter((it) => algorithmOf(it) === name).join(", ");
  const near = ALGORITHMS.get(name);
  return `it is for ${name.toUpperCase()} (${telling})` +
    (near === undefined
      ? `; expected 'train ${name}'`
      : `; ${whereOf(near)}, expected a file for ${near}`);
}

/** Settings and options of other libraries, with their counterparts here. */
const SETTINGS: ReadonlyMap<string, string> = new Map([
  ["load_path", "--init-from RUN starts from the weights of a run"],
  ["save_path", "--out DIR names the run folder"],
  ["algo", "the algorithm stands without a name, as in 'train a2c'"],
  ["alg", "the algorithm stands without a name, as in 'train a2c'"],
  ["network_type", "'--set network=mlp' names the network"],
  ...["num_hidden", "num_layers", "net_arch", "hidden_dim", "layers"].map((
    it,
  ) => [it, "'--set hiddenSizes=[64, 64]' sizes the layers"] as const),
  [
    "batch_size",
    "an update learns from numSteps steps of each of numEnvs environments; 'minibatches' of ppo divide them",
  ],
  [
    "target_update_interval",
    "'targetInterval' of dqn counts updates: steps * gradientSteps / (trainFrequency * numEnvs)",
  ],
  ...["replay_buffer_class", "goal_selection_strategy", "n_sampled_goal"].map((
    it,
  ) => [it, "'--set hindsight={strategy: future, k: 4}' sets goals"] as const),
  ["initial_elo", "the first policy of a run has the rating 1200"],
  [
    "team_change",
    "the learner takes the next seat after each game; '--set opponents.seat=NAME' keeps one",
  ],
  ["epochs", "the length of a run is totalTimesteps, or --steps N"],
  ["device", "'--engine xla' computes on a GPU where XLA's plugin is of one"],
  ["verbose", "--quiet shows only the progress bar and the result"],
]);

/**
 * Suggests the counterpart of a setting or an option of another library.
 *
 * @param name Name of the setting, with `_` or `-`.
 * @returns The hint; `undefined` for other names.
 */
export function hintAtSetting(name: string): string | undefined {
  const setting = name.replaceAll("-", "_").toLowerCase();
  const algorithm = algorithmOf(setting);
  const isElsewhere = algorithm !== undefined && ALGORITHMS.has(algorithm);
  return SETTINGS.get(setting) ??
    (algorithm &&
      `that is ${algorithm.toUpperCase()}'s${
        isElsewhere ? `: ${whereOf(ALGORITHMS.get(algorithm)!)}` : ""
      }`);
}
