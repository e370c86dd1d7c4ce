import { RandomStream, seedWords } from "@bellman/random";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { linear } from "../models/linear.ts";
import { crossFit, type FeatureRow } from "./cross_fit.ts";
import { evaluate, type EvaluationRow } from "./estimates.ts";

const ACTIONS = 5;

function softmaxOf(scores: number[]): number[] {
  const powers = scores.map(Math.exp), sum = powers.reduce((a, b) => a + b);
  return powers.map((it) => it / sum);
}

function pick(chances: readonly number[], at: number): number {
  let action = 0;
  while (action < chances.length - 1 && (at -= chances[action]) >= 0) action++;
  return action;
}

/** Contexts, and what actions earn in them: a straight line and something bent. */
function rewardOf(x: readonly number[], action: number): number {
  return 0.5 + 0.2 * x[1] * (action - 2) + 0.1 * Math.sin(3 * x[2] + action);
}

/** Logs of a policy, and the true value of the one to evaluate. */
function makeLog(
  random: RandomStream,
  { rows, heavy }: { rows: number; heavy: number },
): FeatureRow[] {
  return Array.from({ length: rows }, () => {
    const features = [1, random.normal(), random.normal()];
    const all = Array.from({ length: ACTIONS }, (_, i) => i);
    const logged = softmaxOf(all.map((it) => -heavy * it * features[1]));
    const target = softmaxOf(all.map((it) => 0.3 * it * features[1]));
    const action = pick(logged, random.uniform());
    const reward = rewardOf(features, action) + 0.3 * random.normal();
    return { features, action, reward, propensity: logged[action], target };
  });
}

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

/** Any log. */
const logs = fc.array(
  fc.record({
    action: fc.nat(2),
    reward: fc.integer({ min: -8, max: 8 }).map((it) => it / 4),
    propensity: fc.integer({ min: 1, max: 8 }).map((it) => it / 8),
    target: fc.constantFrom([0.5, 0.25, 0.25], [0.125, 0.125, 0.75], [
      ...[0.25, 0.5, 0.25],
    ]),
    predicted: fc.constantFrom([0, 1, -1], [0.5, 0.5, 0.5]),
  }),
  { minLength: 2, maxLength: 30 },
);

Deno.test("a constant added to all rewards moves self-normalized estimates alone by it", () => {
  fc.assert(fc.property(logs, (log) => {
    const moved = log.map((it) => ({
      ...it,
      reward: it.reward + 2,
      predicted: it.predicted.map((value) => value + 2),
    }));
    const [before, after] = [evaluate(log), evaluate(moved)];
    for (const name of ["snips", "sndr", "dm", "dr"] as const) {
      const [a, b] = [before.estimates[name]!, after.estimates[name]!];
      assertAlmostEquals(b.value!, a.value! + 2, 1e-9);
      assertAlmostEquals(b.standardError!, a.standardError!, 1e-9);
    }
  }));
});

Deno.test("the policy of the log earns what the log earned", () => {
  fc.assert(fc.property(logs, (log) => {
    const same = log.map((it) => ({ ...it, propensity: it.target[it.action] }));
    const { estimates, effectiveSampleSize, meanWeight } = evaluate(same);
    const mean = log.reduce((sum, it) => sum + it.reward, 0) / log.length;
    for (const name of ["ips", "clipped", "snips"] as const) {
      assertAlmostEquals(estimates[name]!.value!, mean, 1e-9);
    }
    assertAlmostEquals(effectiveSampleSize, log.length, 1e-9);
    assertAlmostEquals(meanWeight, 1, 1e-9);
  }));
});

Deno.test("limits that no weight reaches change nothing", () => {
  fc.assert(fc.property(logs, (log) => {
    const { estimates: it } = evaluate(log, {
      clip: 100,
      switchAt: 100,
      shrinkage: 1e12,
    });
    assertAlmostEquals(it.clipped!.value!, it.ips!.value!, 1e-9);
    assertAlmostEquals(it.switchDr!.value!, it.dr!.value!, 1e-9);
    assertAlmostEquals(it.shrinkage!.value!, it.dr!.value!, 1e-9);
  }));
});

const ROW: EvaluationRow = {
  action: 1,
  reward: 2,
  propensity: 0.5,
  target: [0.5, 0.5],
};

Deno.test("decisions without reward are counted, and left out", () => {
  const found = evaluate([ROW, { ...ROW, reward: undefined }, {
    ...ROW,
    reward: null,
  }, { ...ROW, reward: 4 }]);
  assertEquals([found.rows, found.withoutReward], [2, 2]);
  assertEquals(found.estimates.ips?.value, 3);
  assert(found.warnings.some((it) => it.startsWith("2 decisions have no")));
  assertEquals(found.estimates.dr, undefined);
});

Deno.test("a log without the policy's actions says nothing about it", () => {
  const { estimates, warnings, effectiveSampleSize } = evaluate(
    [ROW, ROW].map((it) => ({ ...it, target: [1, 0] })),
  );
  assertEquals(estimates.snips, {
    value: null,
    standardError: null,
    interval: null,
  });
  assertEquals([estimates.ips?.value, effectiveSampleSize], [0, 0]);
  assert(warnings[0].includes("says nothing"));
});

Deno.test("one row has no interval", () => {
  const { estimates } = evaluate([ROW]);
  const none = { value: 2, standardError: null, interval: null };
  assertEquals(estimates.ips, none);
});

Deno.test("bootstrap intervals hold the estimate, and are about as wide", () => {
  const random = new RandomStream(seedWords(3));
  const log = crossFit(makeLog(random, { rows: 300, heavy: 0.1 }), linear());
  const asymptotic = evaluate(log).estimates;
  const { estimates } = evaluate(log, {
    bootstrap: { random, resamples: 500 },
  });
  for (const name of ["ips", "snips", "dr", "sndr"] as const) {
    const [low, high] = estimates[name]!.interval!;
    const [from, to] = asymptotic[name]!.interval!;
    assert(low < estimates[name]!.value! && estimates[name]!.value! < high);
    assertAlmostEquals((high - low) / (to - from), 1, 0.2);
  }
});

Deno.test("bad rows are named by their index", () => {
  const cases: [Partial<EvaluationRow>, string][] = [
    [{ propensity: 0 }, "row 1 with propensity 0: expected a number above 0"],
    [{ propensity: 1.5 }, "row 1 with propensity 1.5"],
    [{ reward: NaN }, "row 1 with reward NaN: expected a finite number"],
    [{ action: 2 }, "row 1 with action 2: expected an index below 2"],
    [{ action: 0.5 }, "row 1 with action 0.5"],
    [{ target: [0.5, 0.4] }, "chances that add up to 0.9: expected 1"],
    [{ target: [1.5, -0.5] }, "a chance of -0.5: expected at least 0"],
    [{ predicted: [NaN, 1] }, "such predictions: expected one finite number"],
    [{ predicted: [1] }, "such predictions: expected one finite number"],
  ];
  for (const [part, message] of cases) {
    const rows = [ROW, { ...ROW, ...part }];
    const error = assertThrows(() => evaluate(rows), RangeError, message);
    assertEquals(error.message.split("\n").length, 1);
  }
  assertThrows(() => evaluate([]), RangeError, "0 rows: expected one");
  assertThrows(() => evaluate([ROW], { clip: 0 }), RangeError, "with clip 0");
  assertThrows(
    () => evaluate([ROW], { clipp: 1 } as never),
    TypeError,
    "did you mean 'clip'?",
  );
});
