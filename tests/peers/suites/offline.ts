import type { Comparison, Program, Suite } from "./suite.ts";

/** Algorithms, and how many times as fast as PyTorch each is to be. */
const WANTED: Readonly<Record<string, number>> = {
  "bc": 1.8,
  "td3+bc": 1.7,
  "iql": 2,
};

const program = (
  language: Program["language"],
  file: string,
  algorithm: string,
): Program => ({ language, file, task: { algorithm } });

const programs = Object.keys(WANTED).flatMap((it) => [
  [it, program("deno", "bellman_offline.ts", it)],
  [`torch ${it}`, program("python", "torch_offline.py", it)],
]);

const comparisons = Object.entries(WANTED).map(([it, wanted]): Comparison => ({
  what: `PyTorch's ${it}, in CORL's form`,
  ours: [it, "value"],
  theirs: [`torch ${it}`, "value"],
  unit: "steps/s",
  wanted,
}));

/** Learning from data beside PyTorch. */
export const OFFLINE: Suite = {
  about: "Learning from data of HalfCheetah's sizes, 256-256, batch 256, " +
    "drawing of batches included, updates per processor second, one thread",
  programs: Object.fromEntries(programs),
  comparisons,
};
