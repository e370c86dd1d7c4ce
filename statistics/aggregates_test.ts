import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { interquartileMean, mean, median, optimalityGap } from "./mod.ts";
import { matrices } from "./testdata/matrices.ts";

const ALL = [mean, median, interquartileMean, optimalityGap];

Deno.test("closed forms", () => {
  const scores = [[1, 2, 9], [3, 4, 9], [5, 6, 0]];
  assertEquals(mean(scores), 39 / 9);
  assertEquals(median(scores), 4);
  // floor(9 / 4) = 2 scores fall at each end: 2, 3, 4, 5, 6 remain.
  assertEquals(interquartileMean(scores), 4);
  assertEquals(optimalityGap([[0.5, 2], [-1, 1]]), 1 - 1.5 / 4);
  assertEquals(optimalityGap([[-200], [-100]], { target: -110 }), 45);
});

Deno.test("fewer than four scores have no ends to leave out", () => {
  assertEquals(interquartileMean([[1], [2], [6]]), 3);
});

Deno.test("a shift and a scale of scores shift and scale what they average", () => {
  const shift = fc.integer({ min: -500, max: 500 });
  fc.assert(fc.property(matrices(), shift, (scores, by) => {
    const moved = scores.map((row) => row.map((it) => 2 * it + by));
    for (const statistic of [mean, median, interquartileMean]) {
      assertAlmostEquals(statistic(moved), 2 * statistic(scores) + by, 1e-6);
    }
  }));
});

Deno.test("the order of runs changes nothing, nor do the rows that were given", () => {
  fc.assert(fc.property(matrices(), (scores) => {
    const before = structuredClone(scores);
    for (const statistic of ALL) {
      assertAlmostEquals(
        statistic(scores.toReversed()),
        statistic(scores),
        1e-9,
      );
    }
    assertEquals(scores, before);
  }));
});

for (
  const [scores, message] of [
    [[], "statistics of 0 runs on 0 tasks: expected a row of scores for each"],
    [[[], []], "statistics of 2 runs on 0 tasks: expected a row"],
    [[[1, 2], [3]], "run 1 on 1 tasks: expected 2, as run 0 has"],
    [[[1, 2], [3, NaN]], "NaN, the score of run 1 on task 1: expected finite"],
    [[[-Infinity]], "-Infinity, the score of run 0 on task 0"],
  ] as const
) {
  Deno.test(`one clear line: ${message}`, () => {
    for (const statistic of ALL) {
      const error = assertThrows(() => statistic(scores), RangeError, message);
      assertEquals(error.message.split("\n").length, 1);
    }
  });
}

Deno.test("a target is finite", () => {
  assertThrows(
    () => optimalityGap([[1]], { target: Infinity }),
    RangeError,
    "Cannot measure the gap to Infinity: expected a finite target",
  );
});
