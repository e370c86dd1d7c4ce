/** Comparisons of a figure that two programs have under the same name. */
import type { Comparison } from "./suite.ts";

/** A comparison of the time that the same figure is of two programs. */
export function timeOf(
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

/** Steps a second: what, which figure, whose, what is wanted. */
type Rate = readonly [
  what: string,
  figure: string,
  peer: string,
  wanted: number,
];

/** A comparison of steps a second. */
export function rateOf([what, figure, peer, wanted]: Rate): Comparison {
  return {
    what,
    ours: ["ours", figure],
    theirs: [peer, figure],
    unit: "steps/s",
    wanted,
  };
}

/** Comparisons of steps a second. */
export function ratesOf(...rows: readonly Rate[]): Comparison[] {
  return rows.map(rateOf);
}
