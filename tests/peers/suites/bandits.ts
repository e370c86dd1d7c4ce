import type { Bound, Comparison, Suite } from "./suite.ts";

/** Sizes: features, actions, and how many times as fast as MABWiser each is to be. */
const SIZES = [
  { d: 16, actions: 10, wanted: { ucb: 3, thompson: 6, update: 50 } },
  { d: 64, actions: 100, wanted: { ucb: 3, thompson: 6, update: 50 } },
  { d: 256, actions: 10, wanted: { ucb: 1, thompson: 1, update: 50 } },
  // MABWiser's other two take a minute and a second each here.
  { d: 256, actions: 1000, wanted: { ucb: 1 } },
];

const OURS = ["ucb", "thompson", "squareCB", "update"];
const TASK = {
  sizes: SIZES.map(({ d, actions, wanted }) => ({
    d,
    actions,
    peers: Object.keys(wanted),
  })),
};

const comparisons = SIZES.flatMap(({ d, actions, wanted }) =>
  Object.entries(wanted).map(([what, wanted]): Comparison => ({
    what: `MABWiser, ${d} features, ${actions} actions, ${what}`,
    ours: ["ours", `${d}x${actions}.${what}`],
    theirs: ["mabwiser", `${d}x${actions}.${what}`],
    unit: "us",
    wanted,
  }))
);

/** Decisions and updates of contextual bandits beside MABWiser. */
export const BANDITS: Suite = {
  about: "contextual bandits: microseconds of a whole decision, and of an " +
    "update, one thread",
  peers: "bandits",
  programs: {
    ours: { language: "deno", file: "bellman_bandits.ts", task: TASK },
    mabwiser: {
      language: "python",
      file: "mabwiser_bandits.py",
      task: TASK,
    },
  },
  comparisons,
  bounds: SIZES.flatMap(({ d, actions, wanted }) =>
    OURS.filter((it) => !(it in wanted)).map((it): Bound => ({
      what: `${it}, ${d} features, ${actions} actions`,
      figure: ["ours", `${d}x${actions}.${it}`],
      unit: "us",
    }))
  ),
};

/** Methods of the table of regrets, by program. */
const METHODS = {
  ours: [
    "thompson 1",
    "thompson 0.5",
    "UCB 1",
    "squareCB 10",
    "logistic thompson 0.5",
    "thompson 1, noise 1",
    "LinUCB 0.25",
  ],
  mabwiser: ["LinUCB 0.25"],
  "vowpal wabbit": ["squareCB", "epsilon 0.02"],
};
const PROBLEMS = {
  digits: "right answers",
  linear: "regret",
  clicks: "regret",
};

const bounds = Object.entries(METHODS).flatMap(([program, methods]) =>
  methods.flatMap((method) =>
    Object.entries(PROBLEMS).flatMap(([problem, unit]) =>
      problem === "linear" && method.startsWith("logistic")
        ? []
        : ["mean", "deviation"].map((figure): Bound => ({
          what: `${problem}, ${program}'s ${method}, ${figure}`,
          figure: [program, `${problem}.${method}.${figure}`],
          unit,
        }))
    )
  )
);

/** Regrets of ten seeds beside MABWiser and Vowpal Wabbit. */
export const REGRETS: Suite = {
  about: "contextual bandits on three problems, ten seeds: --repeats 1 is " +
    "enough, as nothing is timed",
  peers: "bandits",
  programs: {
    ours: { language: "deno", file: "bellman_regrets.ts" },
    mabwiser: { language: "python", file: "mabwiser_regrets.py" },
    "vowpal wabbit": { language: "python", file: "vw_regrets.py" },
  },
  comparisons: [],
  bounds,
};
