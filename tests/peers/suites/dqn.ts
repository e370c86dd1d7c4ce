import { besideOnnx, timeOf, withXla } from "./comparison.ts";
import type { Program, Suite } from "./suite.ts";

const SMALL = { hidden: [64, 64], warmup: 2000, steps: 20_000 };
const LARGE = { hidden: [256, 256], warmup: 2000, steps: 10_000 };
const WIDE = { hidden: [512], batch: 32 };

const ours = (task: object): Program => ({
  language: "deno",
  file: "bellman_dqn.ts",
  task,
});
const sb3 = (task: object): Program => ({
  language: "python",
  file: "sb3_dqn.py",
  task,
});
const update = (task: object): Program => ({
  language: "deno",
  file: "bellman_dqn_update.ts",
  task,
});

const rate = (what: string, size: string, wanted: number) =>
  ({
    what,
    ours: [size, "value"],
    theirs: [`sb3 ${size}`, "value"],
    unit: "steps/s",
    wanted,
  }) as const;
const jax = (wanted: number) =>
  timeOf(["jax", "update_ms"], { what: "JAX's update", wanted });

/** DQN beside stable-baselines3 and JAX, and its options beside the plain one. */
export const DQN_SUITES: Readonly<Record<string, Suite>> = {
  dqn: {
    about: "DQN, CartPole-v1, batch 64, an update each second step, " +
      "everything included, one thread",
    programs: {
      "64-64": ours(SMALL),
      "sb3 64-64": sb3(SMALL),
      "256-256": ours(LARGE),
      "sb3 256-256": sb3(LARGE),
    },
    comparisons: [
      rate("stable-baselines3, 64-64", "64-64", 4),
      rate("stable-baselines3, 256-256", "256-256", 1.8),
    ],
  },
  "dqn-update": withXla({
    about: "DQN's update, CartPole's sizes: double, 256-256, batch 64; " +
      "Rainbow's and the plain one of 512, batch 32; one thread",
    programs: {
      ours: update({}),
      jax: { language: "python", file: "jax_dqn_update.py" },
      plain: update(WIDE),
      rainbow: update({ ...WIDE, rainbow: true }),
    },
    comparisons: [
      jax(1),
      {
        what: "the plain update to Rainbow's",
        ours: ["rainbow", "update_ms"],
        theirs: ["plain", "update_ms"],
        unit: "ms",
        wanted: 0.5,
      },
    ],
  }, [besideOnnx("update_ms", "ms"), jax(1)]),
};
