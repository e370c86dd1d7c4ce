import { assertEquals, assertMatch } from "@std/assert";
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
import { runDeno } from "../testdata/run_deno.ts";

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
  assertEquals(nameOf({ env, preset: "Pendulum-v1-value" }), `${env}-value`);
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

/** Runs the bench of a small training. */
function bench(...args: string[]) {
  return runDeno([
    ...["-P=bench", new URL("main.ts", import.meta.url).pathname],
    ...["a2c", "--steps", "480"],
    ...["--seeds", "1", "--jobs", "1", "--episodes", "3", ...args],
  ], { cwd: new URL("../../", import.meta.url).pathname });
}

Deno.test("bench:learning evaluates the last policy and the best checkpoint", async () => {
  const { code, out, err } = await bench("--set", "evaluationInterval=160");
  assertEquals(code, 0, err);
  const mean = "(\\d+\\.\\d)";
  assertMatch(
    out,
    new RegExp(
      `^seed 0: last ${mean} \\(step 480\\), best ${mean} \\(step \\d+\\) in .* s\n` +
        `CartPole-v1, last: \\1, [01] of 1 seeds reach 475\n` +
        `CartPole-v1, best: \\2, [01] of 1 seeds reach 475\n$`,
    ),
  );
  const unknown = await bench("--final");
  assertEquals(unknown.code, 2);
  assertMatch(unknown.err, /^Unknown option '--final': /);
});

Deno.test("bench:learning --until ends at the first evaluation that reaches a return", async () => {
  const until = ["--until", "5", "--every", "160"];
  const { code, out, err } = await bench(...until);
  assertEquals(code, 0, err);
  assertMatch(
    out,
    new RegExp(
      "^seed 0: reached at step 160 in .* s\n" +
        "CartPole-v1: a mean return of 5 after a median of 160 \\[160, 160\\] steps, 1 of 1 seeds\n$",
    ),
  );
  const bad = await bench("--until", "soon");
  assertEquals(bad.code, 2);
  assertMatch(bad.err, /^Cannot use --until soon: expected a number/);
});
