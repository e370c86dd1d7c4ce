/** Intervals of policies that are evaluated from logs hold the truth as often as they say. */
import { crossFit, evaluate, linear } from "@bellman/bandits";
import { RandomStream, seedWords } from "@bellman/random";
import { assert } from "@std/assert";
import { makeLog, rewardOf } from "../../bandits/testdata/log.ts";

const TRUTH = (() => {
  const log = makeLog(new RandomStream(seedWords(99)), {
    rows: 200_000,
    heavy: 0,
  });
  const values = log.map(({ features, target }) =>
    Array.from(target).reduce(
      (sum, p, i) => sum + p * rewardOf(features as number[], i),
      0,
    )
  );
  return values.reduce((a, b) => a + b) / values.length;
})();

/** Share of 95 % intervals that hold the truth, and of logs with a warning. */
function coverage(heavy: number, logs: number) {
  const random = new RandomStream(seedWords(1));
  const held = { snips: 0, dr: 0, sndr: 0, warned: 0 };
  for (let i = 0; i < logs; i++) {
    const log = makeLog(random, { rows: 500, heavy });
    const { estimates, warnings } = evaluate(crossFit(log, linear()));
    for (const name of ["snips", "dr", "sndr"] as const) {
      const [low, high] = estimates[name]!.interval!;
      held[name] += Number(low <= TRUTH && TRUTH <= high) / logs;
    }
    const isWarned = warnings.some((it) => it.startsWith("Weights are heavy"));
    held.warned += Number(isWarned) / logs;
  }
  return held;
}

Deno.test("intervals of 95 % hold the truth about as often", () => {
  const { snips, dr, sndr, warned } = coverage(0.1, 1000);
  assert(dr > 0.93, `dr ${dr}`);
  assert(snips > 0.92, `snips ${snips}`);
  assert(sndr > 0.92, `sndr ${sndr}`);
  assert(warned < 0.05, `warned ${warned}`);
});

Deno.test("where weights are heavy, a warning says so", () => {
  const { snips, dr, warned } = coverage(0.6, 200);
  assert(snips < 0.85, `snips ${snips}`);
  assert(warned > 0.9, `warned ${warned}`);
  assert(dr > 0.9, `dr ${dr}`);
});
