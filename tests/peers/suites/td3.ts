import { besideOnnx, rateOf, timeOf, withXla } from "./comparison.ts";
import type { Suite } from "./suite.ts";

const SPAN = {
  algorithm: "TD3",
  warmup: 600,
  steps: 1000,
  repeats: 3,
  seed: 0,
};
const sbx = rateOf(["sbx's TD3 (JAX)", "value", "sbx", 1.2]);
const jax = (wanted: number) =>
  timeOf(["jax", "update_ms"], { what: "JAX's update", wanted });

/** TD3 beside stable-baselines3, sbx and JAX. */
export const TD3_SUITES: Readonly<Record<string, Suite>> = {
  td3: withXla({
    about: "TD3, Pendulum-v1, 256-256, batch 256, one update per step, " +
      "everything included, one thread",
    programs: {
      ours: { language: "deno", file: "bellman_sac.ts", task: SPAN },
      sb3: { language: "python", file: "sb3_sac.py", task: SPAN },
      sbx: { language: "python", file: "sbx_sac.py", task: SPAN },
    },
    comparisons: [
      rateOf(["stable-baselines3's TD3", "value", "sb3", 2]),
      sbx,
    ],
  }, [besideOnnx("value", "steps/s"), sbx]),
  "td3-update": withXla({
    about: "TD3's update: two critics and an actor of 256-256, batch 256, " +
      "every second one also the actor and the targets, one thread",
    programs: {
      ours: { language: "deno", file: "bellman_td3_update.ts" },
      jax: { language: "python", file: "jax_td3_update.py" },
    },
    comparisons: [jax(0)],
  }, [besideOnnx("update_ms", "ms"), jax(1)]),
};
