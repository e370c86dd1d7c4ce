import { timeOf } from "./comparison.ts";
import type { Suite } from "./suite.ts";

const TASK = { runs: 10, tasks: 26, resamples: 50_000 };

/** Intervals by stratified bootstrap beside rliable. */
export const STATISTICS: Suite = {
  about: "interquartile mean of 10 runs on 26 tasks with its interval: " +
    "50,000 resamples, one thread",
  peers: "statistics",
  programs: {
    ours: { language: "deno", file: "bellman_statistics.ts", task: TASK },
    rliable: {
      language: "python",
      file: "rliable_statistics.py",
      task: TASK,
    },
  },
  comparisons: [timeOf(["rliable", "iqm"], { what: "rliable", wanted: 40 })],
};
