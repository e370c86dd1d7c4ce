import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { interquartileMean } from "./aggregates.ts";
import { heightsAt, seedBand, seedInterval } from "./seeds.ts";

const FIVE = [493, 500, 180, 228, 480];

/** Counts all resamples one by one. */
function everyResample(
  values: number[],
  center: (drawn: number[]) => number,
): [number, number] {
  const n = values.length, found: number[] = [];
  for (let code = 0; code < n ** n; code++) {
    const drawn = values.map((_, i) => values[Math.floor(code / n ** i) % n]);
    found.push(center(drawn));
  }
  found.sort((a, b) => a - b);
  const at = (share: number) => found[Math.ceil(share * found.length) - 1];
  return [at(0.025), at(0.975)];
}

Deno.test("the interval of few runs is that of all their resamples", () => {
  for (const values of [FIVE, FIVE.slice(0, 2), FIVE.slice(0, 4)]) {
    const mean = (drawn: number[]) =>
      drawn.reduce((sum, it) => sum + it, 0) / drawn.length;
    const iqm = (drawn: number[]) => interquartileMean(drawn.map((it) => [it]));
    for (const [center, of] of [["mean", mean], ["iqm", iqm]] as const) {
      const { value, interval } = seedInterval(values, { center });
      assertAlmostEquals(value, of(values), 1e-9);
      const [low, high] = everyResample(values, of);
      assertAlmostEquals(interval![0], low, 1e-9);
      assertAlmostEquals(interval![1], high, 1e-9);
    }
  }
});

Deno.test("intervals repeat, hold the centre, and never leave the values, however many and odd", () => {
  const size = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(fc.property(size, fc.constantFrom("mean", "iqm"), (all, center) => {
    const { value, interval, fewRuns } = seedInterval(all, { center });
    assertEquals(seedInterval(all.toReversed(), { center }).interval, interval);
    const [low, high] = interval ?? [value, value];
    assert(Math.min(...all) <= low && low <= high && high <= Math.max(...all));
    assertEquals([interval === null, fewRuns], [
      all.length === 1,
      all.length < 5,
    ]);
  }));
  const twenty = Array.from({ length: 20 }, (_, i) => i);
  const { value, interval } = seedInterval(twenty);
  assertEquals(value, 9.5);
  // That of the normal distribution, about.
  assert(Math.abs(interval![0] - 7) < 0.3 && Math.abs(interval![1] - 12) < 0.3);
});

Deno.test("a band has the interval of its place, of the runs that reach it", () => {
  const curves = FIVE.map((slope, i) => ({
    x: [0, 1, 2, ...i === 0 ? [] : [4]],
    y: [0, slope, NaN, ...i === 0 ? [] : [4 * slope]],
  }));
  const band = seedBand(curves);
  assertEquals(band.x, [0, 1, 4]);
  assertEquals([band.low[1], band.high[1]], seedInterval(FIVE).interval);
  const four = seedInterval(FIVE.slice(1).map((it) => 4 * it));
  assertEquals([band.low[2], band.high[2]], four.interval);
  assertEquals(band.fewRuns, true);
  const x = Array.from({ length: 1000 }, (_, i) => i);
  const fine = seedBand([{ x, y: x }, { x, y: x }], { places: 100 });
  assertEquals([fine.x.length, fine.x[0], fine.x[99]], [100, 0, 999]);
  assertEquals(fine.low, fine.high);
  const none = { x: [], y: [], low: [], high: [], fewRuns: false };
  assertEquals(seedBand([]), none);
  assertEquals(seedBand([{ x: [NaN], y: [1] }]), none);
});

Deno.test("bands of any doubles have numbers alone", () => {
  const doubles = fc.array(fc.double(), { minLength: 1, maxLength: 8 });
  fc.assert(fc.property(doubles, doubles, doubles, (x, a, b) => {
    const line = (y: number[]) => ({ x: x.toSorted(), y });
    const { x: _, fewRuns: __, ...rest } = seedBand([line(a), line(b)]);
    assert(Object.values(rest).flat().every(Number.isFinite));
  }));
});

Deno.test("heights lie on straight lines", () => {
  const line = { x: [0, 10, 20], y: [0, 5, -5] };
  assertEquals(heightsAt(line, [-1, 0, 5, 10, 15, 20, 21]), [
    ...[NaN, 0, 2.5, 5, 0, -5, NaN],
  ]);
  assertEquals(heightsAt({ x: [], y: [] }, [1]), [NaN]);
  assertEquals(heightsAt({ x: [3], y: [2] }, [3, 4]), [2, NaN]);
});
