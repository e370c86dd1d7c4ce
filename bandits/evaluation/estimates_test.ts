import { RandomStream, seedWords } from "@bellman/random";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { linear } from "../models/linear.ts";
import { makeLog } from "../testdata/log.ts";
import { crossFit } from "./cross_fit.ts";
import { evaluate, type EvaluationRow } from "./estimates.ts";

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
    [{ propensity: 0 }, "row 1 with propensity 0: expected a number from"],
    [{ propensity: 1e-200 }, "row 1 with propensity 1e-200"],
    [{ propensity: 1.5 }, "row 1 with propensity 1.5"],
    [{ reward: NaN }, "row 1 with reward NaN: expected a finite number"],
    [{ action: 2 }, "row 1 with action 2: expected an index below 2"],
    [{ action: 0.5 }, "row 1 with action 0.5"],
    [{ action: "1" as never }, 'row 1 with action "1": expected an index'],
    [{ reward: "1" as never }, 'row 1 with reward "1": expected a finite'],
    [{ target: undefined as never }, "row 1 with action 1: expected an index"],
    [{ predicted: [1, 2, 3] }, "such predictions"],
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
  for (const bootstrap of [true, {}, { resamples: 9 }, { random: 1 }]) {
    const options = { bootstrap } as never;
    assertThrows(() => evaluate([ROW], options), Error, "such as { random }");
  }
  assertThrows(() => evaluate([]), RangeError, "0 rows: expected one");
  assertThrows(() => evaluate([ROW], { clip: 0 }), RangeError, "with clip 0");
  assertThrows(
    () => evaluate([ROW], { clipp: 1 } as never),
    TypeError,
    "did you mean 'clip'?",
  );
});

Deno.test("a row without predictions leaves out what needs them", () => {
  const row = { action: 0, reward: 1, propensity: 0.5, target: [1, 0] };
  const predicted = [1, 1], none = null as never; // as JSON may have it
  const log = [{ ...row, predicted }, { ...row, predicted: none }];
  assertEquals(evaluate(log).estimates.dm, undefined);
});
