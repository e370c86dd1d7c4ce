import { isXlaInstalled } from "@bellman/compute/xla";
import { acktrSuite } from "./acktr.ts";
import { ENGINE_SUITE } from "./engines.ts";
import { besideOnnx, rateOf, ratesOf, timeOf, withXla } from "./comparison.ts";
import { type Comparison, type Suite, UPDATES } from "./suite.ts";

const SPAN = { steps: 48_000, repeats: 3 };
const A3C_SPAN = { workers: 2, warmup: 10_000, steps: 60_000 };
const SAC_SPAN = { warmup: 600, steps: 1000, repeats: 3, seed: 0 };

/** JAX's A2C in one program with its environment. */
const whole = (wanted: number) =>
  rateOf(["JAX, jitted whole with the environment", "value", "whole", wanted]);
const sbx = rateOf(["sbx's SAC (JAX)", "value", "sbx", 1]);
const jaxUpdate = (wanted: number) =>
  timeOf(["jax", "update_ms"], { what: "JAX's update", wanted });

/** Comparisons of ACER's update with the original's, by the least ratios. */
function acerUpdates(least: Readonly<Record<string, number>>): Comparison[] {
  return Object.entries(least).flatMap(([network, wanted]) =>
    [
      ["", "with all statistics"],
      ["round_", "as in training, where one of five has statistics"],
    ].map(([form, what]): Comparison => ({
      what: `the original graph under TensorFlow 2.15, ${network}, ${what}`,
      ours: ["ours", `${network}_${form}ms`],
      theirs: ["tf1", `${network}_ms`],
      unit: "ms",
      wanted,
    }))
  );
}

/** Environments side by side, and steps of a call. */
const LOOPS = { "16": 48_000, "1024": 102_400, "4096": 102_400 };

/** The whole loop in one program of XLA, beside JAX's. */
function loopSuite(): Suite {
  const sizes = Object.entries(LOOPS).map(([size, steps]) => ({
    size,
    task: { numEnvs: Number(size), steps, repeats: 6 },
  }));
  return {
    about: "A2C, CartPole-v1, 5 steps, separate 64-64 tanh, loop=device: " +
      "environments, acting and updates in one program, one thread",
    programs: Object.fromEntries(sizes.flatMap(({ size, task }) => [
      [`ours ${size}`, {
        language: "deno",
        file: "bellman_device_a2c.ts",
        task,
      }],
      [`jax ${size}`, {
        language: "python",
        file: "jax_whole_a2c.py",
        task,
      }],
    ])),
    comparisons: sizes.map(({ size }) => ({
      what: `JAX, jitted whole, ${size} environments`,
      ours: [`ours ${size}`, "value"],
      theirs: [`jax ${size}`, "value"],
      unit: "steps/s",
      wanted: size === "16" ? 1 : 0.95,
    })),
  };
}

/** Algorithms and what they are made of, beside other libraries. */
export const ALGORITHMS: Readonly<Record<string, Suite>> = {
  a2c: withXla({
    about: "A2C, CartPole-v1, 16 copies, 5 steps, separate 64-64 tanh, " +
      "everything included, one thread",
    programs: {
      ours: { language: "deno", file: "bellman_a2c.ts" },
      sb3: {
        language: "python",
        file: "sb3_a2c.py",
        task: {
          numEnvs: 16,
          numSteps: 5,
          warmup: 8000,
          steps: 24_000,
          seed: 0,
        },
      },
      host: { language: "python", file: "jax_host_a2c.py", task: SPAN },
      whole: { language: "python", file: "jax_whole_a2c.py", task: SPAN },
    },
    comparisons: [
      ...ratesOf(
        ["stable-baselines3's A2C", "value", "sb3", 15],
        [
          "JAX, acting and updating jitted, environment in numpy",
          "value",
          "host",
          1.5,
        ],
      ),
      whole(0.4),
    ],
  }, [whole(0.65)]),
  ...(isXlaInstalled() && { "a2c-loop": loopSuite() }),
  a3c: {
    about: "A3C, CartPole-v1, two workers or processes, windows of 5 steps, " +
      "64-64 tanh, everything included, two cores",
    cores: 2,
    programs: {
      ours: { language: "deno", file: "bellman_a3c.ts", task: A3C_SPAN },
      torch: {
        language: "python",
        file: "torch_a3c.py",
        task: { ...A3C_SPAN, warmup: 1000, steps: 11_000 },
      },
    },
    comparisons: ratesOf(["PyTorch, Hogwild processes", "value", "torch", 10]),
  },
  acer: withXla(
    {
      about:
        "ACER's update with a trust region, 16 environments by 20 steps: " +
        "64-64 tanh, and the Nature CNN on bytes 84x84x4; processor time of " +
        "one thread, which other programs lengthen least",
      peers: "tensorflow",
      programs: {
        ours: {
          language: "deno",
          file: "bellman_acer.ts",
          task: UPDATES,
        },
        tf1: { language: "python", file: "tf1_acer.py", task: UPDATES },
      },
      comparisons: acerUpdates({ mlp: 5, cnn: 1.2 }),
      bounds: [
        ["mlp", 1e-5],
        // Float32 sums of 134,400 products each differ by their order.
        ["cnn", 1e-4],
      ].map(([network, atMost]) => ({
        what: `largest difference of the original's numbers, ${network}`,
        figure: ["tf1", `${network}_difference`],
        unit: "(relative)",
        atMost: atMost as number,
      })),
    },
    acerUpdates({ mlp: 5, cnn: 0 }),
    {},
  ),
  acktr: acktrSuite(
    "64-64 tanh, rows of 32 and of 16 environments by 20 steps",
    ["mlp_640", "mlp_320"],
  ),
  "acktr-cnn": acktrSuite("the Nature CNN on bytes 84x84x4, 640 rows", [
    "cnn_640",
  ]),
  engines: ENGINE_SUITE,
  nature: {
    about: "A2C update of the Nature CNN, 80 frames of bytes 84x84x4, " +
      "and forward of 16, one thread",
    programs: {
      ours: { language: "deno", file: "bellman_nature_a2c.ts" },
      torch: {
        language: "python",
        file: "torch_nature_a2c.py",
        // torch.compile takes most of a minute and is no faster here.
        task: { threads: 1, repeats: 20, compile: false },
      },
    },
    comparisons: [
      timeOf(["torch", "update_ms"], { what: "PyTorch's update", wanted: 1 }),
      timeOf(["torch", "forward_ms"], { what: "PyTorch's forward", wanted: 1 }),
    ],
    bounds: [{
      what: "tracing and building the update",
      figure: ["ours", "compile_ms"],
      unit: "ms",
      atMost: 1500,
    }],
  },
  sac: withXla({
    about: "SAC, Pendulum-v1, 256-256, batch 256, one update per step, " +
      "everything included, one thread",
    programs: {
      ours: { language: "deno", file: "bellman_sac.ts", task: SAC_SPAN },
      sb3: { language: "python", file: "sb3_sac.py", task: SAC_SPAN },
      sbx: { language: "python", file: "sbx_sac.py", task: SAC_SPAN },
    },
    comparisons: [
      rateOf(["stable-baselines3's SAC", "value", "sb3", 2]),
      { ...sbx, aim: 1.5 },
    ],
  }, [besideOnnx("value", "steps/s"), sbx]),
  tqc: sacMethod("TQC", { config: { method: "tqc" } }),
  crossq: sacMethod("CrossQ", {
    config: { method: "crossq", learningRate: 1e-3 },
    learning_rate: 1e-3,
  }),
  "crossq-512": sacMethod("CrossQ", {
    config: {
      ...{ method: "crossq", learningRate: 1e-3 },
      criticHiddenSizes: [512, 512],
    },
    learning_rate: 1e-3,
    net_arch: { pi: [256, 256], qf: [512, 512] },
  }, 1),
  "sac-update": withXla({
    about: "SAC-shaped update: two critics and an actor of 256-256, batch " +
      "256, Adam, polyak, one thread",
    programs: {
      ours: { language: "deno", file: "bellman_sac_update.ts" },
      torch: {
        language: "python",
        file: "torch_sac_update.py",
        task: { threads: 1, repeats: 150, compile: false },
      },
      jax: { language: "python", file: "jax_sac_update.py" },
    },
    comparisons: [
      timeOf(["torch", "update_ms"], { what: "PyTorch's update", wanted: 1 }),
      jaxUpdate(0),
    ],
  }, [besideOnnx("update_ms", "ms"), jaxUpdate(1)]),
  "linear-algebra": linearAlgebra([5, 65, 129, 513]),
  "linear-algebra-large": linearAlgebra([1025, 3137]),
};

/** Compares a method of SAC with its peers; `wanted` is the ratio to that of sbx. */
function sacMethod(algorithm: string, own: object, wanted = 1.3): Suite {
  const task = { ...SAC_SPAN, algorithm, ...own };
  const program = (file: string) =>
    ({ language: "python", file, task }) as const;
  const jax = rateOf([`sbx's ${algorithm} (JAX)`, "value", "sbx", wanted]);
  return withXla({
    about: `${algorithm}, Pendulum-v1, batch 256, one update per step, ` +
      "everything included, one thread",
    programs: {
      ours: { language: "deno", file: "bellman_sac.ts", task },
      contrib: program("sb3_contrib_sac.py"),
      sbx: program("sbx_sac.py"),
    },
    comparisons: [
      rateOf([`sb3-contrib's ${algorithm}`, "value", "contrib", 2]),
      jax,
    ],
  }, [besideOnnx("value", "steps/s"), jax]);
}

/** Compares decompositions of matrices of some sizes with LAPACK's. */
function linearAlgebra(sizes: readonly number[]): Suite {
  const task = sizes.join(" ");
  return {
    about: `Symmetric matrices of ${task} rows, the processor's time`,
    programs: {
      kernels: {
        language: "deno",
        file: "bellman_linear_algebra.ts",
        task: sizes,
      },
      lapack: { language: "python", file: "lapack.py", task },
    },
    comparisons: sizes.flatMap((size) =>
      ["eigh", "eigh_single", "cholesky", "inverse"].map((
        name,
      ): Comparison => ({
        what: `LAPACK's ${name} of ${size}`,
        ours: ["kernels", `${size}.${name}`],
        theirs: ["lapack", `${size}.${name}`],
        unit: "s",
        wanted: 1 / 3,
      }))
    ),
  };
}
