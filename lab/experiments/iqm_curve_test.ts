import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { iqmCurve } from "./iqm_curve.ts";

const line = (slope: number, x = [0, 100]) => ({
  x,
  y: x.map((at) => slope * at),
});

Deno.test("the curve is the interquartile mean of lines, within its band", () => {
  const runs = [1, 2, 3, 4, 100].map((slope) => [line(slope)]);
  const { curve, fewRuns } = iqmCurve(runs)!;
  assertEquals(fewRuns, false);
  assertEquals([curve.x[0], curve.x.at(-1)], [0, 100]);
  // floor(5 / 4) = 1 run falls at each end.
  curve.x.forEach((at, i) => {
    assertAlmostEquals(curve.y[i], 3 * at, 1e-9);
    assert(curve.low![i] <= curve.y[i] && curve.y[i] <= curve.high![i]);
  });
});

Deno.test("it covers the places that all runs reach", () => {
  const runs = [[line(1, [0, 80])], [line(1, [20, 100])]];
  const { curve, fewRuns } = iqmCurve(runs)!;
  assertEquals([curve.x[0], curve.x.at(-1)], [20, 80]);
  assertEquals(fewRuns, true);
  assertEquals(iqmCurve([[line(1, [0, 10])], [line(1, [20, 30])]]), undefined);
  assertEquals(iqmCurve([]), undefined);
  assertEquals(iqmCurve([[{ x: [], y: [] }]]), undefined);
});

Deno.test("one run is a line without a band; one evaluation is a point", () => {
  const { curve } = iqmCurve([[line(2)]])!;
  assertEquals([curve.low, curve.high], [undefined, undefined]);
  assertEquals(iqmCurve([[line(2, [50])]])!.curve.y, [100]);
});
