import { type Comparison, type Suite, UPDATES } from "./suite.ts";

/** Least ratios, largest costs, and differences that rounding makes. */
const CASES = {
  mlp_640: { wanted: 1.5, cost: 2, difference: 2e-5 },
  mlp_320: { wanted: 1.5, cost: 2, difference: 2e-5 },
  // The original takes eigenvalues up to 1e-6 for 0.
  cnn_640: { wanted: 1, cost: 1.5, difference: 1e-3 },
};

/** ACKTR's update beside the original's, for some networks and rows. */
export function acktrSuite(
  about: string,
  cases: readonly (keyof typeof CASES)[],
): Suite {
  const task = { ...UPDATES, cases };
  return {
    about: "ACKTR's update, mean of those from one inversion to the next: " +
      `${about}; processor time of one thread`,
    peers: "tensorflow",
    programs: {
      ours: { language: "deno", file: "bellman_acktr.ts", task },
      tf1: { language: "python", file: "tf1_acktr.py", task },
    },
    comparisons: cases.flatMap((name) =>
      [
        ["_original", "statistics of all steps of every update"],
        ["", "statistics as by default"],
      ].map(([form, what]): Comparison => ({
        what: `baselines' optimizer under TensorFlow 2.15, ${name}, ${what}`,
        ours: ["ours", `${name}${form}_ms`],
        theirs: ["tf1", `${name}_ms`],
        unit: "ms",
        wanted: CASES[name].wanted,
      }))
    ),
    bounds: cases.flatMap((name) => [
      {
        what: `ACKTR's time in that of A2C's update, ${name}`,
        figure: ["ours", `${name}_cost`],
        unit: "times",
        atMost: CASES[name].cost,
      },
      {
        what: `largest difference of the original's numbers, ${name}`,
        figure: ["tf1", `${name}_difference`],
        unit: "(relative)",
        atMost: CASES[name].difference,
      },
    ]),
  };
}
