/** What is compared with which peers, and what is wanted of the ratio. */
import type { PeersName } from "./python.ts";

/** Numbers that a program prints, by name; a lone number is `value`. */
export type Figures = Readonly<Record<string, number>>;

/** A program that prints a number or a JSON object last. */
export interface Program {
  readonly language: "deno" | "python";
  readonly file: string;
  readonly task?: unknown;
}

/** A comparison of two figures; a ratio of 1 is as fast as the other. */
export interface Comparison {
  readonly what: string;
  readonly ours: readonly [program: string, figure: string];
  readonly theirs: readonly [program: string, figure: string];
  /** Whether figures are work per time or time. */
  readonly unit: "steps/s" | "ms" | "us" | "s";
  /** The least ratio, in our favour. */
  readonly wanted: number;
  /** The ratio that would be good, where that is more. */
  readonly aim?: number;
}

/** A figure that is reported by itself; some have a bound. */
export interface Bound {
  readonly what: string;
  readonly figure: readonly [program: string, figure: string];
  readonly unit: string;
  readonly atMost?: number;
}

/** Programs that take turns in each round. */
export interface Suite {
  readonly about: string;
  /**
   * The Python environment of the peers.
   *
   * @default "peers"
   */
  readonly peers?: PeersName;
  /**
   * Cores that each program may use.
   *
   * @default 1
   */
  readonly cores?: number;
  readonly programs: Readonly<Record<string, Program>>;
  readonly comparisons: readonly Comparison[];
  readonly bounds?: readonly Bound[];
}

/** A comparison of the time that the same figure is of two programs. */
function timeOf(
  [peer, figure]: readonly [peer: string, figure: string],
  { what, wanted, unit = "ms" }: {
    what: string;
    wanted: number;
    unit?: "ms" | "us" | "s";
  },
): Comparison {
  const ours = ["ours", figure] as const, theirs = [peer, figure] as const;
  return { what, ours, theirs, unit, wanted };
}

/** Where what Gymnasium did is put for ours to follow. */
const MUJOCO_COURSE = ".venv/env-peers/course";
/** A comparison of steps a second: what, which figure, whose, what is wanted. */
function rateOf(
  [what, figure, peer, wanted]: readonly (string | number)[],
): Comparison {
  return {
    what: what as string,
    ours: ["ours", figure as string],
    theirs: [peer as string, figure as string],
    unit: "steps/s",
    wanted: wanted as number,
  };
}

const SPAN = { steps: 48_000, repeats: 3 };
const SAC_SPAN = { warmup: 600, steps: 1000, repeats: 3, seed: 0 };

/** Comparisons of the buffers' `kind`: by figure what it is and what is wanted. */
function buffersOf(
  kind: string,
  [peer, peerName]: readonly [peer: string, peerName: string],
  wanted: Readonly<Record<string, number>>,
): Comparison[] {
  const calls: Record<string, string> = {
    add_us: "adding a row",
    add16_us: "adding the rows of 16 environments",
    sample_us: "sampling a batch",
    update_us: "updating 256 priorities",
    learn_us: "sampling a batch and updating its priorities",
  };
  return Object.entries(wanted).map(([figure, least]) =>
    timeOf([peer, `${kind}.${figure}`], {
      what: `${peerName}, ${kind}, ${calls[figure]}`,
      wanted: least,
      unit: "us",
    })
  );
}

/** The memory of a row of the buffers' `kind`. */
function memoryOf(program: string, kind: string, atMost?: number): Bound {
  const what = `memory of a row, ${program}, ${kind}`;
  return { what, figure: [program, `${kind}.bytes`], unit: "bytes", atMost };
}

/** Every suite by name. */
export const SUITES: Readonly<Record<string, Suite>> = {
  a2c: {
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
      ["stable-baselines3's A2C", "sb3", 15],
      ["JAX, acting and updating jitted, environment in numpy", "host", 1.5],
      ["JAX, jitted whole with the environment", "whole", 0.4],
    ].map(([what, peer, wanted]) => ({
      what: what as string,
      ours: ["ours", "value"],
      theirs: [peer as string, "value"],
      unit: "steps/s",
      wanted: wanted as number,
    })),
  },
  engines: {
    about: "A2C's update of 80 rows, compiled beside eager WebAssembly, " +
      "one thread",
    programs: { ours: { language: "deno", file: "bellman_engines.ts" } },
    comparisons: [{
      what: "the same update, eagerly on wasm",
      ours: ["ours", "compiled_us"],
      theirs: ["ours", "eager_us"],
      unit: "us",
      wanted: 8,
    }],
    bounds: [
      {
        what: "forward of 16 observations through 4-64-64-2",
        figure: ["ours", "forward_us"],
        unit: "us",
        atMost: 40,
      },
      {
        what: "a call of one operation",
        figure: ["ours", "call_us"],
        unit: "us",
      },
      {
        what: "tracing and building the update, warm",
        figure: ["ours", "warm_compile_ms"],
        unit: "ms",
        atMost: 300,
      },
    ],
  },
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
  sac: {
    about: "SAC, Pendulum-v1, 256-256, batch 256, one update per step, " +
      "everything included, one thread",
    programs: {
      ours: { language: "deno", file: "bellman_sac.ts", task: SAC_SPAN },
      sb3: { language: "python", file: "sb3_sac.py", task: SAC_SPAN },
      sbx: { language: "python", file: "sbx_sac.py", task: SAC_SPAN },
    },
    comparisons: [
      {
        what: "stable-baselines3's SAC",
        ours: ["ours", "value"],
        theirs: ["sb3", "value"],
        unit: "steps/s",
        wanted: 2,
      },
      {
        what: "sbx's SAC (JAX)",
        ours: ["ours", "value"],
        theirs: ["sbx", "value"],
        unit: "steps/s",
        wanted: 1,
        aim: 1.5,
      },
    ],
  },
  buffers: {
    about: "1M rows: observations 17, actions 6, batch 256; and frames " +
      "84x84, stacks of 4, batch 32; one thread",
    programs: {
      ours: { language: "deno", file: "bellman_buffers.ts" },
      sb3: { language: "python", file: "sb3_buffers.py" },
      cpprb: { language: "python", file: "cpprb_buffers.py" },
      torchrl: { language: "python", file: "torchrl_buffers.py" },
    },
    comparisons: [
      ...buffersOf("uniform", ["sb3", "stable-baselines3"], {
        add_us: 3,
        add16_us: 3,
        sample_us: 3,
      }),
      ...buffersOf("uniform", ["cpprb", "cpprb"], {
        add_us: 1,
        add16_us: 1,
        sample_us: 1,
      }),
      ...buffersOf("uniform", ["torchrl", "torchrl"], {
        add_us: 0,
        add16_us: 0,
        sample_us: 0,
      }),
      ...buffersOf("prioritized", ["cpprb", "cpprb"], {
        add_us: 1,
        add16_us: 1,
        sample_us: 1,
        update_us: 0,
        learn_us: 1,
      }),
      ...buffersOf("frames", ["sb3", "stable-baselines3"], {
        add_us: 0,
        sample_us: 0,
      }),
      ...buffersOf("frames", ["cpprb", "cpprb"], { add_us: 0, sample_us: 0 }),
      ...buffersOf("frames", ["torchrl", "torchrl"], {
        add_us: 0,
        sample_us: 0,
      }),
    ],
    bounds: [
      // 24 numbers and two flags are 98 bytes; 2% more are allowed.
      memoryOf("ours", "uniform", 99.96),
      ...["sb3", "cpprb", "torchrl"].map((it) => memoryOf(it, "uniform")),
      memoryOf("cpprb", "shared"),
      memoryOf("ours", "frames", 7200),
      ...["sb3", "cpprb", "torchrl"].map((it) => memoryOf(it, "frames")),
    ],
  },
  "sac-update": {
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
      timeOf(["jax", "update_ms"], { what: "JAX's update", wanted: 0 }),
    ],
  },
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
    comparisons: [
      ["ale-py's AtariVectorEnv, one thread", "one", "ale", 1],
      ["ale-py's AtariVectorEnv, two threads", "two", "ale", 0.95],
      ["EnvPool, one thread", "one", "envpool", 1.15],
      ["EnvPool, two threads", "two", "envpool", 1.15],
    ].map(rateOf),
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
    comparisons: [
      ["stable-baselines3, copies in processes", "value", "processes", 1.2],
      ["stable-baselines3, copies one after the other", "value", "alone", 1.2],
    ].map(rateOf),
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
    comparisons: [
      ["EnvPool, two threads", "two", "envpool", 1.2],
      ["Gymnasium's AsyncVectorEnv, two threads", "two", "gymnasium", 1.5],
      ["EnvPool, one thread", "one", "envpool", 1.2],
      ["Gymnasium's SyncVectorEnv, one thread", "one", "gymnasium", 0],
    ].map(rateOf),
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
    comparisons: [
      ["SyncVectorEnv of CartPole-v1", "CartPole-v1", "sync", 0.6],
      ["SyncVectorEnv of LunarLander-v3", "LunarLander-v3", "sync", 0.85],
    ].map(rateOf),
  },
  "linear-algebra": {
    about: "Symmetric matrices of 512 by 512 in float64, one thread",
    programs: {
      ours: {
        language: "deno",
        file: "bellman_linear_algebra.ts",
        task: "512",
      },
      lapack: { language: "python", file: "lapack.py", task: "512" },
    },
    comparisons: ["eigh", "cholesky", "inverse"].map((name) =>
      timeOf(["lapack", `512.${name}`], {
        what: `LAPACK's ${name}`,
        wanted: 1 / 3,
        unit: "s",
      })
    ),
  },
};
