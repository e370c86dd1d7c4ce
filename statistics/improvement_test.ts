import { SeededRandom } from "@bellman/envs";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { probabilityOfImprovement } from "./mod.ts";
import { matrices } from "./testdata/matrices.ts";

const seeded = () => ({ random: new SeededRandom(0), resamples: 100 });

Deno.test("P(X > Y) and P(Y > X) are 1 together, and one half of equals", () => {
  const pair = fc.tuple(matrices({ tasks: 3 }), matrices({ tasks: 3 }));
  fc.assert(fc.property(pair, ([x, y]) => {
    const one = probabilityOfImprovement(x, y, seeded());
    const other = probabilityOfImprovement(y, x, seeded());
    assertAlmostEquals(one.value + other.value, 1, 1e-12);
    const [low, high] = one.interval ?? [0, 1];
    assert(0 <= low && low <= high && high <= 1);
    assertEquals(probabilityOfImprovement(x, x, seeded()).value, 0.5);
  }));
});

Deno.test("closed forms: unequal numbers of runs, ties, always better", () => {
  const x = [[1], [2], [3]], y = [[2], [0]];
  const { value, fewRuns } = probabilityOfImprovement(x, y, seeded());
  assertAlmostEquals(value, (0 + 0.5 + 1 + 3) / 6);
  assertEquals(fewRuns, true);
  const better = x.map(([it]) => [it + 10]);
  assertEquals(probabilityOfImprovement(better, y, seeded()).interval, [1, 1]);
  const one = probabilityOfImprovement([[1]], [[2]], seeded());
  assertEquals(one, { value: 0, interval: null, fewRuns: true });
});

Deno.test("other tasks and no runs: one line", () => {
  for (
    const [x, y, message] of [
      [[[1, 2]], [[1]], "run 1 on 1 tasks: expected 2"],
      [[[1]], [], "statistics of 0 runs"],
      [[], [[1]], "statistics of 0 runs"],
    ] as const
  ) {
    assertThrows(
      () => probabilityOfImprovement(x, y, seeded()),
      RangeError,
      message,
    );
  }
});
