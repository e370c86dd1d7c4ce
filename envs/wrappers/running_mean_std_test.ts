import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { RunningMeanStd } from "./running_mean_std.ts";

const vectors = fc.array(
  fc.tuple(
    fc.double({ min: -100, max: 100, noNaN: true }),
    fc.double({ min: -1, max: 1, noNaN: true }),
  ),
  { minLength: 1, maxLength: 40 },
);

Deno.test("in any batches, the statistics are those of all data", () => {
  fc.assert(
    fc.property(vectors, fc.integer({ min: 1, max: 7 }), (all, size) => {
      const statistics = new RunningMeanStd(2);
      for (let at = 0; at < all.length; at += size) {
        statistics.update(all.slice(at, at + size).flat());
      }
      assertEquals(statistics.count, all.length);
      for (const i of [0, 1]) {
        const mean = all.reduce((sum, it) => sum + it[i], 0) / all.length;
        const variance = all.reduce((sum, it) => sum + (it[i] - mean) ** 2, 0) /
          all.length;
        assertAlmostEquals(statistics.mean[i], mean, 1e-9);
        assertAlmostEquals(statistics.variance[i], variance, 1e-8);
      }
    }),
  );
});

Deno.test("small deviations far from 0 are those of the numbers alone", () => {
  const offset = fc.constantFrom(5e4, -1e6, 1.7e9, 1e-9);
  const number = fc.double({ min: -1, max: 1, noNaN: true });
  const numbers = fc.array(number, { minLength: 1, maxLength: 60 });
  fc.assert(fc.property(offset, numbers, fc.nat(6), (offset, all, more) => {
    const statistics = new RunningMeanStd(1), size = more + 1;
    const seen = all.map((it) => offset + it * Math.min(1, Math.abs(offset)));
    for (let at = 0; at < seen.length; at += size) {
      statistics.update(seen.slice(at, at + size));
    }
    // Differences from the offset are exact.
    const n = seen.length, apart = seen.map((it) => it - offset);
    const mean = apart.reduce((sum, it) => sum + it, 0) / n;
    const variance = apart.reduce((sum, it) => sum + (it - mean) ** 2, 0) / n;
    const ulps = Math.abs(offset) * 2 ** -52 * n;
    assertAlmostEquals(statistics.mean[0] - offset, mean, 2 * ulps);
    const [got, wanted] = [statistics.variance[0], variance].map(Math.sqrt);
    assertAlmostEquals(got, wanted, 1e-12 * wanted + 4 * ulps);
  }));
});

Deno.test("of states without a vector, of older versions too, nothing stays", () => {
  for (const count of [0, 1e-4]) {
    const statistics = new RunningMeanStd(1), fresh = new RunningMeanStd(1);
    statistics.load({ ...statistics.save() as object, count });
    for (const it of [statistics, fresh]) it.update([1e6, 1e6 + 1]);
    assertEquals(statistics.save(), fresh.save());
    assertEquals(statistics.variance[0], 0.25);
  }
});

Deno.test("saved statistics go on alike, in a copy", () => {
  const statistics = new RunningMeanStd(1);
  statistics.update([1, 2, 3]);
  const saved = statistics.save();
  statistics.update([10]);
  const other = new RunningMeanStd(1);
  other.load(saved);
  other.update([10]);
  assertEquals(other.save(), statistics.save());
});

Deno.test("statistics of another length are refused", () => {
  assertThrows(
    () => new RunningMeanStd(3).load(new RunningMeanStd(2).save()),
    RangeError,
    "Cannot load statistics of 2 elements: expected 3",
  );
});

Deno.test("statistics that are not finite any more are refused", () => {
  for (const value of [NaN, Infinity, 1e200]) {
    const statistics = new RunningMeanStd(2);
    statistics.update([1, 2]);
    assertThrows(
      () => statistics.update([0, value]),
      RangeError,
      "Cannot take numbers into running statistics: element 1 then has",
    );
  }
});
