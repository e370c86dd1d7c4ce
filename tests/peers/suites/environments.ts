import { ratesOf } from "./comparison.ts";
import type { Suite } from "./suite.ts";

/** File of what Gymnasium did, for ours to follow. */
const MUJOCO_COURSE = ".venv/env-peers/course";

/** Environments beside the libraries that they come from. */
export const ENVIRONMENTS: Readonly<Record<string, Suite>> = {
  atari: {
    about: "Pong, 8 copies, 84x84x4, lives, FIRE, no-op starts, clipped " +
      "rewards; steps of 4 frames; one thread and two",
    peers: "env-peers",
    cores: 2,
    programs: {
      ours: { language: "deno", file: "bellman_atari.ts" },
      ale: { language: "python", file: "ale_py_atari.py" },
      envpool: { language: "python", file: "envpool_atari.py" },
    },
    comparisons: ratesOf(
      ["ale-py's AtariVectorEnv, one thread", "one", "ale", 1],
      ["ale-py's AtariVectorEnv, two threads", "two", "ale", 0.95],
      ["EnvPool, one thread", "one", "envpool", 1.15],
      ["EnvPool, two threads", "two", "envpool", 1.15],
    ),
  },
  "atari-a2c": {
    about: "A2C with the Nature CNN on Pong, 16 copies, 5 steps, everything " +
      "included, two cores",
    cores: 2,
    programs: {
      ours: { language: "deno", file: "bellman_atari_a2c.ts" },
      processes: { language: "python", file: "sb3_atari_a2c.py" },
      alone: {
        language: "python",
        file: "sb3_atari_a2c.py",
        task: { processes: false },
      },
    },
    comparisons: ratesOf(
      ["stable-baselines3, copies in processes", "value", "processes", 1.2],
      ["stable-baselines3, copies one after the other", "value", "alone", 1.2],
    ),
  },
  mujoco: {
    about: "HalfCheetah-v5, 16 copies, one thread and two, and how far all " +
      "environments on MuJoCo stray from Gymnasium's in 1,000 steps",
    peers: "env-peers",
    cores: 2,
    programs: {
      ours: { language: "deno", file: "bellman_mujoco.ts" },
      envpool: { language: "python", file: "envpool_mujoco.py" },
      gymnasium: { language: "python", file: "gymnasium_mujoco.py" },
      // The first records what the second follows.
      course: {
        language: "python",
        file: "gymnasium_course.py",
        task: { folder: MUJOCO_COURSE },
      },
      followed: {
        language: "deno",
        file: "bellman_mujoco_course.ts",
        task: { folder: MUJOCO_COURSE },
      },
    },
    comparisons: ratesOf(
      ["EnvPool, two threads", "two", "envpool", 1.2],
      ["Gymnasium's AsyncVectorEnv, two threads", "two", "gymnasium", 1.5],
      ["EnvPool, one thread", "one", "envpool", 1.2],
      ["Gymnasium's SyncVectorEnv, one thread", "one", "gymnasium", 0],
    ),
    bounds: [
      ["observations", "observation", 1e-9],
      ["rewards", "reward", 1e-12],
      ["what is told of a step", "info", 1e-12],
      ["ends of episodes", "ends", 0],
    ].map(([what, figure, atMost]) => ({
      what: `largest difference of ${what} from Gymnasium's`,
      figure: ["followed", figure as string],
      unit: figure === "ends" ? "steps" : "(relative)",
      atMost: atMost as number,
    })),
  },
  gymnasium: {
    about: "Gymnasium's environments over the bridge, 16 copies, beside its " +
      "SyncVectorEnv in Python alone; all on one core",
    peers: "env-peers",
    programs: {
      ours: { language: "deno", file: "bellman_gymnasium.ts" },
      sync: { language: "python", file: "gymnasium_sync.py" },
    },
    comparisons: ratesOf(
      ["SyncVectorEnv of CartPole-v1", "CartPole-v1", "sync", 0.6],
      ["SyncVectorEnv of LunarLander-v3", "LunarLander-v3", "sync", 0.85],
    ),
  },
};
