import type { Comparison, Suite } from "./suite.ts";

/** Worlds in a page, and how much longer than a process a round may take. */
const LONGER: Readonly<Record<number, number>> = { 1: 3.5, 16: 3, 64: 2.5 };

const comparisons = Object.entries(LONGER).map((
  [worlds, longer],
): Comparison => ({
  what: `a process of ours, ${worlds} worlds`,
  ours: ["pages", `page ${worlds}`],
  theirs: ["pages", `process ${worlds}`],
  unit: "us",
  wanted: 1 / longer,
}));

/** Worlds in a page of Chromium beside those in a process of Deno. */
export const PAGES: Suite = {
  about: "CartPole in one page, rounds in lockstep, best blocks",
  cores: 2,
  programs: { pages: { language: "deno", file: "bellman_pages.ts" } },
  comparisons,
  bounds: [
    {
      what: "steps of 16 worlds",
      figure: ["pages", "steps 16"],
      unit: "steps/s",
    },
    {
      what: "steps of 64 worlds",
      figure: ["pages", "steps 64"],
      unit: "steps/s",
    },
    {
      what: "84 x 84 bytes of 64 worlds",
      figure: ["pages", "frames"],
      unit: "frames/s",
    },
  ],
};
