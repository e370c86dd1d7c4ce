/** Comparisons of a figure that two programs have under the same name. */
import { isXlaInstalled } from "@bellman/compute/xla";
import type { Comparison, Suite } from "./suite.ts";

/** A comparison of the time that the same figure is of two programs. */
export function timeOf(
  [peer, figure]: readonly [peer: string, figure: string],
  { what, wanted, unit = "ms" }: {
    what: string;
    wanted: number;
    unit?: "ms" | "us";
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

/**
 * Adds our program with XLA, where a plugin is installed.
 *
 * @param suite The suite, which has our program with ONNX Runtime.
 * @param comparisons Comparisons of what is ours, which XLA's figures take the
 * place of.
 * @param task The program's task, but for the engine.
 */
export function withXla(
  suite: Suite,
  comparisons: readonly Comparison[],
  task: object = suite.programs.ours.task ?? {},
): Suite {
  if (!isXlaInstalled()) return suite;
  const xla = { ...suite.programs.ours, task: { ...task, engine: "xla" } };
  return {
    ...suite,
    programs: { ...suite.programs, xla },
    comparisons: [
      ...suite.comparisons,
      ...comparisons.map((it): Comparison => ({
        ...it,
        what: `${it.what}, by XLA`,
        ours: ["xla", it.ours[1]],
      })),
    ],
  };
}

/** A comparison with our program with ONNX Runtime, for {@linkcode withXla}. */
export function besideOnnx(
  figure: string,
  unit: Comparison["unit"],
): Comparison {
  const ours = ["ours", figure] as const;
  return { what: "ONNX Runtime", ours, theirs: ours, unit, wanted: 1 };
}
