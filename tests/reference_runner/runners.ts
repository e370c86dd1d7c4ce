import type { FixtureRunner } from "./comparison.ts";

/**
 * Modules that run fixtures, by the names that these give themselves. One is loaded
 * when it is needed, so that one that is broken leaves the others be.
 */
export const runners: Readonly<
  Record<string, () => Promise<{ runner: FixtureRunner }>>
> = {
  a2c_update: () => import("./a2c_update.ts"),
  acer_loss: () => import("./acer_loss.ts"),
  acer_retrace: () => import("./acer_retrace.ts"),
  acer_update: () => import("./acer_update.ts"),
  acktr_kfac: () => import("./acktr_kfac.ts"),
  async_q: () => import("./async_q.ts"),
  atari_preproc: () => import("./atari_preproc.ts"),
  bandits: () => import("./bandits.ts"),
  buffers: () => import("./buffers.ts"),
  dqn_update: () => import("./dqn_update.ts"),
  elo: () => import("./elo.ts"),
  env_dynamics: () => import("./env_dynamics.ts"),
  her_relabel: () => import("./her_relabel.ts"),
  lstm_entropy_ortho: () => import("./lstm_entropy_ortho.ts"),
  minari_file: () => import("./minari_file.ts"),
  offline_update: () => import("./offline_update.ts"),
  ope: () => import("./ope.ts"),
  pages: () => import("./pages.ts"),
  pettingzoo_games: () => import("./pettingzoo_games.ts"),
  ppo_update: () => import("./ppo_update.ts"),
  redq_droq_update: () => import("./sac_methods_update.ts"),
  returns: () => import("./returns.ts"),
  rliable: () => import("./rliable.ts"),
  sac_logprobs: () => import("./sac_logprobs.ts"),
  sac_modern_update: () => import("./sac_modern_update.ts"),
  sac_update: () => import("./sac_update.ts"),
  schedules: () => import("./schedules.ts"),
  td3_update: () => import("./td3_update.ts"),
  tf_kfac: () => import("./tf_kfac.ts"),
  tqc_crossq_update: () => import("./sac_methods_update.ts"),
};
