/** What people look for by words that no page has, and what there is instead. */
import type { Found } from "./terms.ts";

/** A topic: its words, what there is, and where to read on. */
type Topic = readonly [names: string, title: string, page: string, to: string];

const TOPICS: readonly Topic[] = [
  [
    "self-play, selfplay, opponent, league, multi-agent, multiagent, MARL, PettingZoo",
    "Self-play and several agents",
    "Not there: an environment may act for the others",
    "guides/own_environment.html",
  ],
  [
    "curriculum, domain randomization, procedural levels",
    "Curricula",
    "Not there by name: an environment may read its own progress, and a callback set it",
    "guides/callbacks_in_code.html",
  ],
  [
    "imitation, imitate, behavior cloning, behaviour cloning, BC, GAIL, DAgger, expert, demonstrations, offline RL, batch RL, CQL, IQL, D4RL, Minari",
    "Imitation, and learning from recorded data",
    "No algorithm for it yet; recorded steps are read and written as offline sets",
    "buffers/index.html#offline-sets",
  ],
  [
    "curiosity, intrinsic motivation, RND, ICM, novelty, go-explore",
    "Curiosity",
    "Not there: a wrapper of the environment may add rewards",
    "envs/index.html#a-custom-environment",
  ],
  [
    "model-based, world model, Dreamer, MuZero, AlphaZero, MCTS, planning, tree search",
    "Models of the world and planning",
    "Not there: all algorithms are model-free",
    "ARCHITECTURE.html",
  ],
  [
    "RLHF, GRPO, DPO, LLM, language model, transformer, decision transformer",
    "Language models",
    "Not there: policies are small networks",
    "policies/index.html",
  ],
  [
    "TRPO, NPG, natural policy gradient, REINFORCE, vanilla policy gradient, VPG",
    "Policy gradients: A2C, PPO, and ACKTR by natural gradients",
    "TRPO and REINFORCE are not there",
    "index.html",
  ],
  [
    "hyperparameter tuning, tune, Optuna, sweep, grid search",
    "Hyperparameters are found by a search",
    "Search hyperparameters",
    "guides/search.html",
  ],
  [
    "memory, LSTM, GRU, RNN, POMDP, partially observable, frame stacking",
    "Memory: recurrent policies and stacked frames",
    "@bellman/policies",
    "policies/index.html#what-is-in-it",
  ],
  [
    "invalid actions, illegal moves, action masking, MaskablePPO",
    "Masks of actions",
    "@bellman/envs",
    "envs/index.html#masks-of-actions",
  ],
  [
    "sparse rewards, HER, hindsight experience replay, goal-conditioned",
    "Goals in hindsight",
    "@bellman/buffers",
    "buffers/index.html#goals-in-hindsight",
  ],
  [
    "browser, website, web page, React, Vite, webpack, Next.js, frontend, web worker, freeze",
    "Train and play in pages",
    "In Node and in pages",
    "guides/node_and_pages.html",
  ],
  [
    "deploy, inference, serve, ONNX, production, export",
    "Trained policies elsewhere",
    "To production",
    "guides/to_production.html",
  ],
  [
    "stable-baselines3, SB3, sb3, Python, migrate, rl-zoo",
    "Coming from stable-baselines3",
    "Guides",
    "guides/from_stable_baselines3.html",
  ],
  [
    "fine-tuning, fine-tune, transfer learning, warm start, pretrained",
    "Start from a trained agent",
    "Commands",
    "cli/index.html#shared-agents",
  ],
  [
    "GPU, CUDA, accelerator, TPU, JAX",
    "On a GPU",
    "XLA",
    "compute/xla/index.html#on-a-gpu",
  ],
];

/** Entries of the index for the topics. */
export const topicEntries: readonly Omit<Found, "id">[] = TOPICS.map(
  ([names, title, page, address]) => ({
    ...{ title, names, page, address },
    text: "",
  }),
);
