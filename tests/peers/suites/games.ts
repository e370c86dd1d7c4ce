import type { Program, Suite } from "./suite.ts";

const PPO = {
  numSteps: 32,
  epochs: 10,
  minibatches: 2,
  gamma: 1,
  hiddenSizes: [64, 64],
  activation: "tanh",
  valueNetwork: "separate",
};

const ours = (task: object): Program => ({
  language: "deno",
  file: "bellman_games.ts",
  task,
});
const dqn = (env: string): Program =>
  ours({
    ...{ algorithm: "dqn", env, numEnvs: 16, warmup: 4096, steps: 32_768 },
    config: { hiddenSizes: [64, 64] },
  });
const groups = (count: number): Program =>
  ours({ config: PPO, opponents: { groups: count } });

/** Games against snapshots of the learner, beside MaskablePPO of sb3-contrib. */
export const GAMES: Suite = {
  about:
    "Games by turns, everything included, one thread: PPO of 64-64 and 10 " +
    "epochs of minibatches of 1,024 (MaskablePPO: 64, and a step is a move of " +
    "either seat), DQN of 64-64 with 16 worlds",
  programs: {
    ppo: groups(4),
    "MaskablePPO": { language: "python", file: "sb3_games.py" },
    "1 group": groups(1),
    "8 groups": groups(8),
    "16 groups": groups(16),
    "dqn TicTacToe-v0": dqn("TicTacToe-v0"),
    "dqn ConnectFour-v0": dqn("ConnectFour-v0"),
  },
  comparisons: [{
    what: "MaskablePPO of sb3-contrib, ConnectFour",
    ours: ["ppo", "value"],
    theirs: ["MaskablePPO", "value"],
    unit: "steps/s",
    wanted: 12,
  }],
  bounds: [
    {
      what: "opponents' share of the time, 4 groups",
      figure: ["ppo", "opponents_share"],
      unit: "",
      atMost: 0.2,
    },
    ...["1 group", "ppo", "8 groups", "16 groups"].map((it) => ({
      what: `opponents' time, ${it === "ppo" ? "4 groups" : it}`,
      figure: [it, "opponents_ms"] as const,
      unit: "ms",
    })),
    ...["dqn TicTacToe-v0", "dqn ConnectFour-v0"].map((it) => ({
      what: it,
      figure: [it, "value"] as const,
      unit: "steps/s",
    })),
  ],
};
