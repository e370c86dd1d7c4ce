import { assertEquals } from "@std/assert";
import { isPruned, objectiveOf, type PruningRule } from "./pruner.ts";
import type { Trial } from "./record.ts";

/** Makes a trial of evaluations, of one run after the other. */
function trial(
  number: number,
  runs: number[][],
  state: Trial["state"] = "complete",
): Trial {
  const evaluations = runs.map((values) =>
    values.map((value, step) => ({ step, value }))
  );
  return { number, params: {}, state, evaluations };
}

const RULE: PruningRule = {
  pruner: "median",
  objective: "last",
  runs: 2,
  evaluations: 10,
};

/** Complete trials that are worth 0 to 4 at each evaluation. */
const FIVE = [0, 1, 2, 3, 4].map((value) =>
  trial(value, [Array(10).fill(value), Array(10).fill(value)])
);

Deno.test("a trial is worth the mean over its runs", () => {
  const it = trial(0, [[1, 2, 3], [5, 7]]);
  assertEquals(objectiveOf(it, "last"), 5);
  assertEquals(objectiveOf(it, "area"), 4);
});

Deno.test("the median rule ends a trial below the median of complete ones", () => {
  const ends = (runs: number[][], others = FIVE, rule = RULE) =>
    isPruned(trial(9, runs, "running"), others, rule);
  assertEquals(ends([[1.9, 1.9]]), true);
  assertEquals(ends([[1.9, 2]]), false);
  // Its first evaluations say little.
  assertEquals(ends([[1.9]]), false);
  assertEquals(ends([[1.9, 1.9]], FIVE.slice(1)), false);
  assertEquals(ends([[1.9, 1.9]], FIVE, { ...RULE, pruner: "none" }), false);
  // Between seeds: one that was lucky once is judged by both.
  assertEquals(ends([Array(10).fill(3), [0.9]]), true);
  assertEquals(ends([Array(10).fill(3), [1.1]]), false);
  assertEquals(ends([[0, 3]], FIVE, { ...RULE, objective: "area" }), true);
});

Deno.test("the first trial is never pruned", () => {
  const first = trial(0, [[-5, -5, -5]], "running");
  assertEquals(isPruned(first, FIVE.slice(1), RULE), false);
});

Deno.test("the median rule takes no notice of pruned and failed trials", () => {
  const others = FIVE.map((it) => ({ ...it, state: "pruned" as const }));
  const bad = trial(9, [[-1, -1]], "running");
  assertEquals(isPruned(bad, [...others, ...others], RULE), false);
});

Deno.test("successive halving goes on with the best third at each rung", () => {
  const rule: PruningRule = {
    ...RULE,
    pruner: "halving",
    runs: 1,
    evaluations: 9,
  };
  const pruned = FIVE.map((it) =>
    trial(
      it.number,
      it.evaluations.map((run) => run.map(({ value }) => value)),
      "pruned",
    )
  );
  const ends = (values: number[], others = pruned) =>
    isPruned(trial(9, [values], "running"), others, rule);
  // Of six, two go on: rungs are at 1, 3 and 9 / 3 evaluations.
  assertEquals([4.5, 3.5, 2.5].map((it) => ends([it])), [false, false, true]);
  assertEquals(ends([9, 2.5]), false);
  assertEquals(ends([9, 9, 2.5]), true);
  assertEquals(ends(Array(9).fill(0)), false);
  assertEquals(ends([0], []), false);
});
