import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  averageRuns,
  finitePoints,
  quantile,
  sampleEvenly,
  smooth,
  thin,
  valueAt,
} from "./lines.ts";

const range = (count: number) => Array.from({ length: count }, (_, i) => i);

Deno.test("points that are not finite are left out, with their band", () => {
  assertEquals(
    finitePoints({
      x: [1, 2, 3, 4],
      y: [NaN, 5, 6, 7],
      low: [0, 1, 2, 3],
      high: [9, 9, Infinity, 9],
    }),
    { x: [2, 4], y: [5, 7], low: [1, 3], high: [9, 9] },
  );
});

Deno.test("thinning takes means of neighbours", () => {
  assertEquals(thin({ x: [0, 1, 2, 3], y: [1, 3, 10, 20] }, 2), {
    x: [0.5, 2.5],
    y: [2, 15],
    low: undefined,
    high: undefined,
  });
  const short = { x: [0, 1], y: [1, 3] };
  assertEquals(thin(short, 2), short);
});

Deno.test("thinning keeps the mean of the whole", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), (bins) => {
      const line = {
        x: range(bins * 7),
        y: range(bins * 7).map((i) => i ** 2),
      };
      const mean = (y: number[]) => y.reduce((a, b) => a + b) / y.length;
      assertAlmostEquals(mean(thin(line, bins).y), mean(line.y), 1e-6);
    }),
  );
});

Deno.test("smoothing keeps straight lines as they are", () => {
  const line = { x: range(20), y: range(20).map((i) => 3 * i) };
  smooth(line, 4).y.forEach((y, i) => assertAlmostEquals(y, 3 * i));
  assertEquals(smooth({ x: range(5), y: [0, 0, 6, 0, 0] }, 1).y, [
    0,
    2,
    2,
    2,
    0,
  ]);
});

Deno.test("a line is read between its points, not beyond", () => {
  const line = { x: [0, 10, 10, 20], y: [0, 5, 7, 9] };
  assertEquals([-1, 0, 5, 10, 15, 20, 21].map((at) => valueAt(line, at)), [
    undefined,
    0,
    2.5,
    7,
    8,
    9,
    undefined,
  ]);
  assertEquals(valueAt({ x: [3], y: [4] }, 3), 4);
});

Deno.test("runs are averaged where they are, with a spread", () => {
  const runs = [{ x: [0, 10], y: [0, 10] }, { x: [0, 20], y: [4, 4] }];
  assertEquals(averageRuns(runs, "std", 3), {
    x: [0, 10, 20],
    y: [2, 7, 4],
    low: [0, 4, 4],
    high: [4, 10, 4],
  });
  assertEquals(averageRuns(runs, "range", 3).low, [0, 4, 4]);
  const three = [{ x: [0], y: [0] }, { x: [0], y: [3] }, { x: [0], y: [9] }];
  const { y: [mean], low: [low], high: [high] } = averageRuns(
    three,
    "std",
    1,
  ) as Required<ReturnType<typeof averageRuns>>;
  assertEquals(mean, 4);
  assertAlmostEquals(high - low, 2 * Math.sqrt(14));
});

Deno.test("sampling keeps points as they are, up to a count", () => {
  const line = { x: range(100), y: range(100) };
  const { x } = sampleEvenly(line, 30);
  assertEquals(x.slice(0, 3), [0, 4, 8]);
  assertEquals(x.length, 25);
});

Deno.test("quantiles are read between values", () => {
  assertEquals([0, 0.25, 0.5, 1].map((it) => quantile([1, 2, 4], it)), [
    1,
    1.5,
    2,
    4,
  ]);
  assertEquals(quantile([3], 0.9), 3);
});

Deno.test("quartiles lie around the median, and no band is none", () => {
  const runs = [1, 2, 3, 4, 100].map((y) => ({ x: [0], y: [y] }));
  assertEquals(averageRuns(runs, "iqr", 1), {
    x: [0],
    y: [3],
    low: [2],
    high: [4],
  });
  assertEquals(averageRuns(runs, "none", 1), { x: [0], y: [22] });
});

Deno.test("the bootstrapped interval is about two standard errors wide, and the same each time", () => {
  const runs = range(30).map((i) => ({ x: [0], y: [Math.sin(7 * i)] }));
  const { y: [mean], low, high } = averageRuns(runs, "ci", 1);
  const error = Math.sqrt(
    runs.reduce((sum, { y }) => sum + (y[0] - mean) ** 2, 0) / 30 / 30,
  );
  assertAlmostEquals((high![0] - low![0]) / error, 2 * 1.96, 0.3);
  assert(low![0] < mean && mean < high![0]);
  assertEquals(averageRuns(runs, "ci", 1).low, low);
});

Deno.test("a bootstrapped interval lies within the runs", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), {
        minLength: 2,
        maxLength: 6,
      }),
      (values) => {
        const runs = values.map((y) => ({ x: [0], y: [y] }));
        const { low, high } = averageRuns(runs, "ci", 1);
        assert(low![0] >= Math.min(...values) - 1e-6);
        assert(high![0] <= Math.max(...values) + 1e-6);
      },
    ),
    { numRuns: 50 },
  );
});
