import { assertEquals, assertThrows } from "@std/assert";
import { curveOf, groupNames } from "./curves.ts";
import type { LogRow } from "@bellman/training";
import { UsageError } from "./usage_error.ts";

const ROWS: LogRow[] = [
  { step: 40, statistics: { nupdates: 1, eprewmean: NaN } },
  { step: 4000, statistics: { nupdates: 100, eprewmean: 23.5 } },
  { step: 5000, statistics: { eval_return_mean: 30 } },
];

Deno.test("a curve leaves out the rows without a value", () => {
  const run = "runs/a";
  assertEquals(curveOf(ROWS, { key: "eprewmean", run }), {
    x: [4000],
    y: [23.5],
  });
  assertEquals(curveOf(ROWS, { key: "eval_return_mean", run }).x, [5000]);
});

Deno.test("an unknown statistic and an empty log are one clear line", () => {
  const run = "runs/a";
  assertThrows(
    () => curveOf(ROWS, { key: "eprewmen", run }),
    UsageError,
    "Cannot plot 'eprewmen' of runs/a: did you mean 'eprewmean'?",
  );
  assertThrows(
    () => curveOf([], { key: "eprewmean", run }),
    UsageError,
    "nothing has been logged yet",
  );
});

Deno.test("runs that differ in the seed alone share a group", () => {
  const base = { algorithm: "a2c", env: "CartPole-v1", gamma: 0.99 };
  assertEquals(groupNames([{ ...base, seed: 0 }, { ...base, seed: 1 }]), [
    "a2c CartPole-v1",
    "a2c CartPole-v1",
  ]);
  assertEquals(
    groupNames([{ ...base, seed: 0 }, { ...base, seed: 1, gamma: 0.9 }]),
    ["a2c CartPole-v1 gamma=0.99", "a2c CartPole-v1 gamma=0.9"],
  );
});
