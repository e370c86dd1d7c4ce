import { SeededRandom } from "@bellman/envs";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import {
  interquartileMean,
  performanceProfile,
  sampleEfficiency,
  stratifiedBootstrap,
} from "./mod.ts";
import { matrices } from "./testdata/matrices.ts";

const seeded = (seed = 0) => ({
  random: new SeededRandom(seed),
  resamples: 100,
});

Deno.test("a profile is the share of scores strictly above, thresholds in any order", () => {
  const thresholds = fc.array(fc.integer({ min: -80, max: 80 }), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(fc.property(matrices(), thresholds, (scores, thresholds) => {
    const all = scores.flat();
    const means = scores[0].map((_, task) =>
      scores.reduce((sum, row) => sum + row[task], 0) / scores.length
    );
    for (const [of, counted] of [["scores", all], ["tasks", means]] as const) {
      const { values, intervals } = performanceProfile(scores, thresholds, {
        ...seeded(),
        of,
      });
      thresholds.forEach((threshold, i) => {
        const above = counted.filter((it) => it > threshold).length;
        assertEquals(values[i], above / counted.length);
        const [low, high] = intervals?.[i] ?? [0, 1];
        assert(low >= 0 && low <= high && high <= 1);
      });
    }
  }));
});

Deno.test("sample efficiency is an interquartile mean at each point", () => {
  fc.assert(fc.property(matrices(), fc.nat(), (scores, seed) => {
    const curves = scores.map((row) => row.map((it) => [it, -it, 3]));
    const { values, intervals, fewRuns } = sampleEfficiency(
      curves,
      seeded(seed),
    );
    const first = stratifiedBootstrap(scores, interquartileMean, seeded(seed));
    assertEquals(values[0], first.value);
    assertEquals(intervals?.[0] ?? null, first.interval);
    assertEquals(fewRuns, first.fewRuns);
    // The same runs at all points: what falls at one rises at the other.
    intervals?.[1].forEach((end, i) =>
      assertAlmostEquals(end, -first.interval![1 - i], 1e-9)
    );
    assertEquals(intervals?.[2] ?? [3, 3], [3, 3]);
  }));
});

Deno.test("curves of unequal lengths, thresholds that are no numbers: one line", () => {
  for (
    const [curves, message] of [
      [[[[1, 2]], [[1]]], "curves of 2 and 1 points: expected as many in each"],
      [[], "curves of 0 points"],
      [[[[1, NaN]]], "NaN, the score of run 0 on task 0"],
      [[[[]]], "curves of 0 points: expected as many in each, at least 1"],
    ] as const
  ) {
    assertThrows(() => sampleEfficiency(curves, seeded()), RangeError, message);
  }
  for (const [wrong, message] of [[[NaN], "NaN"], [[], "0 tasks"]] as const) {
    assertThrows(
      () => performanceProfile([[1]], wrong, seeded()),
      RangeError,
      message,
    );
  }
});
