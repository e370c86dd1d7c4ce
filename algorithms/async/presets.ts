import texts from "./presets/texts.json" with { type: "json" };

/**
 * Tuned settings as YAML texts by method and environment id; `ALE` covers all ids that
 * start with `ALE/`, and `paper` has the paper's settings, for any environment. Keys
 * are those of the method and of a run: `env`, `totalTimesteps`, `workers` and others.
 */
export const asyncPresets: Readonly<
  Record<string, Readonly<Record<string, string>>>
> = {
  "a3c": {
    "CartPole-v1": texts["a3c_cartpole_v1.yaml"],
    "Acrobot-v1": texts["a3c_acrobot_v1.yaml"],
    "ALE": texts["a3c_atari.yaml"],
    "paper": texts["a3c_paper.yaml"],
  },
  "async-q": {
    "CartPole-v1": texts["async_q_cartpole_v1.yaml"],
    "ALE": texts["async_one_step_atari.yaml"],
    "paper": texts["async_one_step_paper.yaml"],
  },
  "async-nstep-q": {
    "CartPole-v1": texts["async_nstep_q_cartpole_v1.yaml"],
    "ALE": texts["async_nstep_q_atari.yaml"],
    "paper": texts["async_nstep_q_paper.yaml"],
  },
  "async-sarsa": {
    "CartPole-v1": texts["async_sarsa_cartpole_v1.yaml"],
    "ALE": texts["async_one_step_atari.yaml"],
    "paper": texts["async_one_step_paper.yaml"],
  },
};
