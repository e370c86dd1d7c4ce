import type { FixtureRunner } from "./comparison.ts";

/**
 * What runs a fixture, by the name that the fixture gives itself. A runner is
 * loaded when it is needed, so that one that is broken leaves the others be.
 */
export const runners: Readonly<Record<string, () => Promise<FixtureRunner>>> = {
  a2c_update: async () => (await import("./a2c_update.ts")).a2cUpdateRunner,
  acer_loss: async () => (await import("./acer_loss.ts")).acerLossRunner,
  acer_retrace: async () =>
    (await import("./acer_retrace.ts")).acerRetraceRunner,
  acer_update: async () => (await import("./acer_update.ts")).acerUpdateRunner,
  acktr_kfac: async () => (await import("./kfac.ts")).acktrKfacRunner,
  async_q: async () => (await import("./async_q.ts")).asyncQRunner,
  atari_preproc: async () =>
    (await import("./atari_preproc.ts")).atariPreprocRunner,
  buffers: async () => (await import("./buffers.ts")).buffersRunner,
  env_dynamics: async () =>
    (await import("./env_dynamics.ts")).envDynamicsRunner,
  lstm_entropy_ortho: async () =>
    (await import("./lstm_entropy_ortho.ts")).lstmEntropyOrthoRunner,
  returns: async () => (await import("./returns.ts")).returnsRunner,
  sac_logprobs: async () =>
    (await import("./sac_logprobs.ts")).sacLogprobsRunner,
  sac_modern_update: async () =>
    (await import("./sac_modern_update.ts")).sacModernUpdateRunner,
  sac_update: async () => (await import("./sac_update.ts")).sacUpdateRunner,
  schedules: async () => (await import("./schedules.ts")).schedulesRunner,
  tf_kfac: async () => (await import("./kfac.ts")).tfKfacRunner,
};
