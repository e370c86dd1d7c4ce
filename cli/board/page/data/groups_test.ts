import { sampleEfficiency, studentInterval } from "@bellman/statistics";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertNotEquals,
} from "@std/assert";
import fc from "fast-check";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import {
  finiteLine,
  groupLine,
  groupOf,
  groupTitle,
  heightsAt,
  type Line,
  PLACES,
  RESAMPLES,
  smooth,
} from "./groups.ts";

/** Runs of other heights at the places of a group. */
function runsOf(count: number, length = PLACES): Line[] {
  const generator = xoroshiro128plus(7);
  return Array.from({ length: count }, () => ({
    x: Array.from({ length }, (_, i) => i),
    y: Array.from({ length }, () => 100 * uniformFloat64(generator)),
  }));
}

Deno.test("means and their bands are Student's of @bellman/statistics", () => {
  const runs = runsOf(5), line = groupLine(runs, { center: "mean" });
  assertEquals(line.x.length, PLACES);
  line.x.forEach((_, i) => {
    const { mean, interval } = studentInterval(runs.map(({ y }) => y[i]));
    assertAlmostEquals(line.y[i], mean, 1e-9);
    assertAlmostEquals(line.low![i], interval![0], 1e-9);
    assertAlmostEquals(line.high![i], interval![1], 1e-9);
  });
});

Deno.test("interquartile means and their bands are those of @bellman/statistics", () => {
  const runs = runsOf(8), line = groupLine(runs, { center: "iqm" });
  const generator = xoroshiro128plus(0);
  const { values, intervals } = sampleEfficiency(runs.map(({ y }) => [y]), {
    random: { uniform: () => uniformFloat64(generator) },
    resamples: RESAMPLES,
  });
  assertEquals(line.y.length, PLACES);
  line.y.forEach((it, i) => {
    assertAlmostEquals(it, values[i], 1e-9);
    assertAlmostEquals(line.low![i], intervals![i][0], 1e-9);
    assertAlmostEquals(line.high![i], intervals![i][1], 1e-9);
  });
  assertEquals(groupLine(runs, { center: "iqm" }), line);
});

for (const center of ["mean", "iqm"] as const) {
  Deno.test(`a run counts from its first to its last point: ${center}`, () => {
    const short = { x: [0, 50], y: [0, 0] };
    const long = { x: [0, 100], y: [10, 10] };
    const { x, y, low } = groupLine([short, long], { center });
    assertEquals([x[0], x[PLACES - 1]], [0, 100]);
    x.forEach((at, i) => assertAlmostEquals(y[i], at <= 50 ? 5 : 10, 1e-9));
    // Alone, a run has no band.
    assertEquals(low![PLACES - 1], y[PLACES - 1]);
    assert(low![0] < y[0]);
  });

  Deno.test(`one run is a line of its own, and no run none: ${center}`, () => {
    const [run] = runsOf(1);
    assertEquals(groupLine([run, { x: [], y: [] }], { center }), run);
    assertEquals(groupLine([], { center }), { x: [], y: [] });
    const point = { x: [5], y: [1] }, other = { x: [5], y: [3] };
    assertEquals(groupLine([point, other], { center }).y, [2]);
  });
}

Deno.test("heights are read between points, and nowhere else", () => {
  const line = { x: [1, 2, 4], y: [1, 3, 7] };
  assertEquals(heightsAt(line, [0, 1, 1.5, 2, 3, 4, 5]), [
    ...[NaN, 1, 2, 3, 5, 7, NaN],
  ]);
  assertEquals(heightsAt({ x: [], y: [] }, [1]), [NaN]);
});

Deno.test("points that are no numbers, or go back, are left out", () => {
  const line = { x: [1, 2, 2, NaN, 1, 3], y: [1, NaN, 4, 1, 1, Infinity] };
  assertEquals(finiteLine(line), { x: [1, 2], y: [1, 4] });
});

Deno.test("smoothing keeps straight lines, ends and all places", () => {
  const straight = { x: [0, 1, 2, 3, 4], y: [0, 2, 4, 6, 8] };
  assertEquals(smooth(straight, 0), straight);
  fc.assert(fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (part) => {
    smooth(straight, part).y.forEach((it, i) =>
      assertAlmostEquals(it, straight.y[i], 1e-9)
    );
  }));
  const spike = { x: [0, 1, 2, 3, 4], y: [0, 0, 9, 0, 0] };
  assertEquals(smooth(spike, 0.4).y, [0, 3, 3, 3, 0]);
});

Deno.test("groups are of all settings but the seed, or of the given ones", () => {
  const run = { algorithm: "a2c", seed: 0, gamma: 0.9, env: "A", o: { p: 1 } };
  assertEquals(groupOf(run), groupOf({ ...run, seed: 1 }));
  assertNotEquals(groupOf(run), groupOf({ ...run, gamma: 0.8 }));
  assertNotEquals(groupOf(run), groupOf({ ...run, o: { p: 2 } }));
  const { o, gamma, ...rest } = run;
  assertEquals(groupOf(run), groupOf({ gamma, o, ...rest }));
  assertEquals(groupOf(run, ["env"]), groupOf({ env: "A", gamma: 3 }, ["env"]));
  assertEquals(
    groupTitle(run, ["seed", "gamma", "env"]),
    "a2c A gamma=0.9",
  );
});
