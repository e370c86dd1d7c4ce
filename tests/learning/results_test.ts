import { assertEquals } from "@std/assert";
import {
  barText,
  countReached,
  describePolicies,
  describeSeeds,
  describeSteps,
  nameOf,
  NO_PRESET,
  policiesOf,
  type SeedResult,
} from "./results.ts";

Deno.test("a single seed has a mean alone", () => {
  assertEquals(describeSeeds([16.8]), "16.8");
  assertEquals(
    describeSeeds([1, 3]),
    "2.0 ± 1.4 [-10.7, 14.7]; IQM 2.0 [1.0, 3.0] (few runs: too narrow)",
  );
});

Deno.test("results are named after the preset, the environment or its defaults", () => {
  const env = "Pendulum-v1";
  assertEquals(nameOf({ env }), env);
  assertEquals(nameOf({ env, preset: "" }), env);
  assertEquals(
    nameOf({ env, preset: "Pendulum-v1-mixture" }),
    `${env}-mixture`,
  );
  assertEquals(nameOf({ env, preset: NO_PRESET }), `${env}-defaults`);
});

Deno.test("a column is there where every seed was evaluated", () => {
  const evaluated = (meanReturn: number) => ({
    step: 1,
    meanReturn,
    stdReturn: 0,
  });
  const seeds: SeedResult[] = [
    { seed: 0, seconds: 1, last: evaluated(5), best: evaluated(7) },
    { seed: 1, seconds: 1, last: evaluated(6), best: null },
  ];
  assertEquals(policiesOf(seeds, "last"), [evaluated(5), evaluated(6)]);
  assertEquals(policiesOf(seeds, "best"), null);
});

Deno.test("policies are held to a return, to a success rate or to both", () => {
  const policies = [[-2, 1], [-1, 0.9], [-3, 0.99]].map((
    [meanReturn, successRate],
  ) => ({ step: 1, meanReturn, stdReturn: 0, successRate }));
  for (
    const [bars, reached, text] of [
      [{ bar: null }, null, "-"],
      [{ bar: -2 }, 2, "-2"],
      [{ bar: null, successBar: 0.98 }, 2, "success 0.98"],
      [{ bar: -2, successBar: 0.98 }, 1, "-2, success 0.98"],
    ] as const
  ) {
    assertEquals(countReached(policies, bars), reached);
    assertEquals(barText(bars), text);
  }
  assertEquals(
    describePolicies(policies),
    "-2.0 ± 1.0 [-4.5, 0.5]; IQM -2.0 [-3.0, -1.0] (few runs: too narrow); success 0.96, lowest 0.90",
  );
});

Deno.test("a seed that never reached the return is the slowest of all", () => {
  const of = (...steps: (number | null)[]) =>
    describeSteps(steps.map((reached, seed) => ({
      seed,
      seconds: 1,
      last: null,
      best: null,
      reached,
    })));
  assertEquals(of(9000, 2000, 4000), "4,000 [2,000, 9,000]");
  assertEquals(of(9000, null, 4000, 5000), "7,000 [4,000, never]");
  assertEquals(of(null, null, 4000), "never [4,000, never]");
});
