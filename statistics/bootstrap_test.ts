import { SeededRandom } from "@bellman/envs";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import {
  type BootstrapOptions,
  interquartileMean,
  mean,
  median,
  optimalityGap,
  stratifiedBootstrap,
} from "./mod.ts";
import { matrices } from "./testdata/matrices.ts";

/** Options with random numbers of a seed. */
const seeded = (seed: number, options: Partial<BootstrapOptions> = {}) => ({
  random: new SeededRandom(seed),
  resamples: 200,
  ...options,
});

Deno.test("counting gives what sorting gives, resample by resample", () => {
  const over = fc.constantFrom("runs" as const, "runs and tasks" as const);
  fc.assert(fc.property(matrices(), over, fc.nat(), (scores, over, seed) => {
    const [counted, sorted] = [
      interquartileMean,
      (rows: Parameters<typeof interquartileMean>[0]) =>
        interquartileMean(rows),
    ].map((it) => stratifiedBootstrap(scores, it, seeded(seed, { over })));
    assertAlmostEquals(counted.value, sorted.value, 1e-9);
    assertEquals(counted.interval === null, sorted.interval === null);
    counted.interval?.forEach((end, i) =>
      assertAlmostEquals(end, sorted.interval![i], 1e-9)
    );
  }));
});

Deno.test("the same seed gives the same interval, another one another", () => {
  const scores = [[1, 5], [2, 7], [4, 1], [9, 0], [3, 3], [0, 2]];
  const intervalOf = (seed: number) =>
    stratifiedBootstrap(scores, mean, seeded(seed)).interval;
  assertEquals(intervalOf(1), intervalOf(1));
  assert(String(intervalOf(1)) !== String(intervalOf(2)));
});

Deno.test("a mean's interval is the normal one, for many runs", () => {
  const random = new SeededRandom(5);
  const scores = Array.from({ length: 400 }, () => [random.normal()]);
  const { value, interval } = stratifiedBootstrap(scores, mean, { random });
  const squares = scores.map(([it]) => (it - value) ** 2);
  const error = Math.sqrt(mean(squares.map((it) => [it])) / 400);
  interval!.forEach((end, i) =>
    assertAlmostEquals(end, value + [-1, 1][i] * 1.96 * error, 0.05 * error)
  );
});

Deno.test("each task draws runs of its own", () => {
  // If runs were drawn whole, every resample would be 0: tasks cancel out.
  const scores = [[1, -1], [2, -2], [3, -3], [4, -4], [5, -5]];
  const { value, interval } = stratifiedBootstrap(scores, mean, seeded(0));
  assertEquals(value, 0);
  assert(interval![0] < 0 && interval![1] > 0);
});

Deno.test("a wider level holds a narrower one, and basic mirrors percentile", () => {
  fc.assert(fc.property(matrices({ minRuns: 2 }), fc.nat(), (scores, seed) => {
    const at = (level: number, method?: "basic") =>
      stratifiedBootstrap(scores, median, seeded(seed, { level, method }));
    const { value, interval } = at(0.95);
    const [low, high] = interval!, [lower, higher] = at(0.5).interval!;
    assert(low <= lower && lower <= higher && higher <= high);
    const mirrored = [2 * value - high, 2 * value - low];
    assertEquals(at(0.95, "basic").interval, mirrored);
  }));
});

Deno.test("one run has no interval, unless tasks are drawn; below five runs are few", () => {
  const row = [1, 2, 3];
  const of = (runs: number, over?: "runs and tasks") =>
    stratifiedBootstrap(
      Array.from({ length: runs }, (_, i) => row.map((it) => it + i)),
      mean,
      seeded(0, { over }),
    );
  assertEquals(of(1), { value: 2, interval: null, fewRuns: true });
  assert(of(1, "runs and tasks").interval![0] < 2);
  assertEquals([4, 5].map((it) => of(it).fewRuns), [true, false]);
});

Deno.test("resamples that were drawn elsewhere are taken as they are", () => {
  const random = [{ runs: [0, 0, 0, 0] }, { runs: [1, 1, 1, 1] }];
  const scores = [[1, 2], [5, 8]];
  const { interval } = stratifiedBootstrap(scores, mean, {
    random,
    level: 0.5,
  });
  assertEquals(interval, [1.5 + 5 / 4, 6.5 - 5 / 4]);
  const tasks = random.map((it) => ({ ...it, tasks: [1, 1] }));
  assertEquals(
    stratifiedBootstrap(scores, mean, { random: tasks, level: 0.5 }).interval,
    [2 + 6 / 4, 8 - 6 / 4],
  );
});

for (
  const [options, message] of [
    [{ level: 95 }, "Cannot make intervals of level 95: expected a number"],
    [{ level: NaN }, "intervals of level NaN"],
    [{ resamples: 0 }, "Cannot draw 0 resamples: expected a whole number"],
    [{ resamples: 2.5 }, "Cannot draw 2.5 resamples"],
    [{ random: [] }, "Cannot draw 0 resamples"],
    [{ random: [{ runs: [0] }] }, "by 1 indices: expected 4"],
    [{ random: [{ runs: [0, 1, 2, 0] }] }, "by the index 2: expected a whole"],
    [
      { random: [{ runs: [0, 0, 0, 0], tasks: [0] }] },
      "by 1 indices: expected",
    ],
  ] as const
) {
  Deno.test(`one clear line: ${message}`, () => {
    const run = () =>
      stratifiedBootstrap([[1, 2], [3, 4]], interquartileMean, {
        random: new SeededRandom(0),
        ...options,
      });
    assertThrows(run, RangeError, message);
  });
}

Deno.test("a statistic of one's own that is no number is refused, in any resample", () => {
  const scores = [[0], [1]];
  for (const wrong of [NaN, Infinity, -Infinity]) {
    assertThrows(
      () =>
        stratifiedBootstrap(
          scores,
          (rows) => rows[0][0] + rows[1][0] === 2 ? wrong : 0,
          seeded(0),
        ),
      RangeError,
      `Cannot take statistics of ${wrong}, a statistic of a resample`,
    );
  }
});

Deno.test("options of a statistic go by a function", () => {
  const scores = [[-200], [-150], [-100]];
  const gap = stratifiedBootstrap(
    scores,
    (it) => optimalityGap(it, { target: -110 }),
    seeded(0),
  );
  assertAlmostEquals(gap.value, (90 + 40) / 3);
});
