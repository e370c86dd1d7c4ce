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

/** A comparison of steps a second: what, which figure, whose, what is wanted. */
export function rateOf(
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
