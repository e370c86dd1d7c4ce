import { timeOf } from "./comparison.ts";
import type { Bound, Comparison, Suite } from "./suite.ts";

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

/** Buffers beside other libraries' with the same rows. */
export const BUFFERS: Suite = {
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
      update_us: 0.5,
      learn_us: 1,
    }),
    ...buffersOf("frames", ["sb3", "stable-baselines3"], {
      add_us: 0,
      sample_us: 1,
    }),
    ...buffersOf("frames", ["cpprb", "cpprb"], { add_us: 0, sample_us: 0 }),
    {
      what: "cpprb, frames, sampling a batch and interleaving its frames",
      ours: ["ours", "frames.sample_us"],
      theirs: ["cpprb", "frames.contiguous_us"],
      unit: "us",
      wanted: 1,
    },
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
};

/** Hindsight beside stable-baselines3's, and beside uniform drawing. */
export const HINDSIGHT: Suite = {
  about:
    "256 rows of 1M steps of Reach-v0, 4 of 5 with another goal; one thread",
  programs: {
    ours: { language: "deno", file: "bellman_hindsight.ts" },
    sb3: { language: "python", file: "sb3_hindsight.py" },
  },
  comparisons: [
    timeOf(["sb3", "sample_us"], {
      what: "stable-baselines3's HerReplayBuffer",
      wanted: 5,
      unit: "us",
    }),
    {
      what: "our uniform drawing",
      ours: ["ours", "sample_us"],
      theirs: ["ours", "uniform_us"],
      unit: "us",
      wanted: 0.5,
    },
  ],
};
