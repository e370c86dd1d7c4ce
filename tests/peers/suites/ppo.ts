import { isXlaInstalled } from "@bellman/compute/xla";
import type { Comparison, Program, Suite } from "./suite.ts";

/** Work of a comparison: sizes, and the steps that are timed. */
interface Work {
  readonly numEnvs: number;
  readonly env?: "frames";
  readonly network?: "lstm" | "cnn";
  /** Steps of our programs and of JAX's, and of stable-baselines3's. */
  readonly steps?: number;
  readonly warmup?: number;
  readonly sb3?: { readonly warmup: number; readonly steps: number };
}

const ours = (task: Work): Program => ({
  language: "deno",
  file: "bellman_ppo.ts",
  task,
});

const sb3 = ({ sb3: span, ...task }: Work): Program => ({
  language: "python",
  file: "sb3_ppo.py",
  task: { ...task, ...span },
});

const jax = (file: string, task: Work): Program => ({
  language: "python",
  file,
  task,
});

const device = (task: Work): Program => ({
  language: "deno",
  file: "bellman_device_ppo.ts",
  task,
});

function compare(
  what: string,
  [program, peer]: readonly [string, string],
  wanted: number,
): Comparison {
  const ours = [program, "value"] as const, theirs = [peer, "value"] as const;
  return { what, ours, theirs, unit: "steps/s", wanted };
}

const FEW: Work = { numEnvs: 8 };
const MANY: Work = { numEnvs: 64, sb3: { warmup: 8192, steps: 32_768 } };
const LOOP: Work = { numEnvs: 64, steps: 65_536 };
const WIDE: Work = { numEnvs: 1024, steps: 262_144 };
const MEMORY: Work = { numEnvs: 16, network: "lstm" };
const IMAGES: Work = {
  numEnvs: 8,
  env: "frames",
  network: "cnn",
  warmup: 1024,
  steps: 2048,
  sb3: { warmup: 1024, steps: 2048 },
};

/** PPO beside stable-baselines3, RecurrentPPO and JAX. */
export const PPO_SUITES: Readonly<Record<string, Suite>> = {
  ppo: {
    about: "PPO, 128 steps, 4 epochs of 4 minibatches, separate 64-64 tanh, " +
      "everything included, one thread",
    programs: {
      few: ours(FEW),
      "sb3 few": sb3(FEW),
      many: ours(MANY),
      "sb3 many": sb3(MANY),
      host: jax("jax_host_ppo.py", LOOP),
      lstm: ours(MEMORY),
      "sb3 lstm": sb3(MEMORY),
      images: ours(IMAGES),
      "sb3 images": sb3(IMAGES),
    },
    comparisons: [
      compare(
        "stable-baselines3, CartPole-v1, 8 environments",
        ["few", "sb3 few"],
        4,
      ),
      compare(
        "stable-baselines3, CartPole-v1, 64 environments",
        ["many", "sb3 many"],
        2.5,
      ),
      compare(
        "JAX, acting and updating jitted, environment in numpy, 64 environments",
        ["many", "host"],
        1,
      ),
      compare(
        "sb3-contrib's RecurrentPPO, LSTM of 64, 16 environments",
        ["lstm", "sb3 lstm"],
        8,
      ),
      compare(
        "stable-baselines3, Nature CNN, 8 environments",
        ["images", "sb3 images"],
        1.1,
      ),
    ],
  },
  ...(isXlaInstalled() && {
    "ppo-loop": {
      about: "PPO, CartPole-v1, 128 steps, 4 epochs of 4 minibatches, " +
        "loop=device: environments, acting and updates in one program, one thread",
      programs: {
        ours: ours(LOOP),
        "loop 64": device(LOOP),
        "jax 64": jax("jax_whole_ppo.py", LOOP),
        "loop 1024": device(WIDE),
        "jax 1024": jax("jax_whole_ppo.py", WIDE),
      },
      comparisons: [
        compare("JAX, jitted whole, 64 environments", [
          "loop 64",
          "jax 64",
        ], 0.8),
        compare("JAX, jitted whole, 1024 environments", [
          "loop 1024",
          "jax 1024",
        ], 0.8),
        compare("our loop on the host, 64 environments", [
          "loop 64",
          "ours",
        ], 1.5),
      ],
    },
  }),
};
