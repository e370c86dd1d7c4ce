import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { drawable, rangeAround, ticksOver } from "./ticks.ts";

/** Doubles of every size, and neighbours some bits apart. */
const pairs = fc.tuple(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer({ min: 0, max: 20 }),
  ),
).map(([x, other]) => {
  if (!Number.isInteger(other) || Math.abs(other) > 20) return [x, other];
  const bits = new BigInt64Array(Float64Array.of(x).buffer);
  bits[0] += BigInt(other);
  const [y] = new Float64Array(bits.buffer);
  return [x, Number.isFinite(y) ? y : x];
}).map(([x, y]) => [Math.min(x, y), Math.max(x, y)] as const);

Deno.test("ticks are few, rise, and are within, whatever the doubles", () => {
  fc.assert(
    fc.property(
      pairs,
      fc.integer({ min: 4, max: 10 }),
      ([from, to], wanted) => {
        const { ticks, around: [low, high] } = ticksOver(from, to, wanted);
        assert(ticks.length >= 1 && ticks.length <= wanted + 2);
        const slack = 1e-9 * (to / wanted - from / wanted);
        ticks.forEach((tick, i) => {
          assert(tick >= from - 10 * slack && tick <= to + 10 * slack);
          assert(i === 0 || tick > ticks[i - 1]);
        });
        assert(low <= from + 10 * slack && high >= to - 10 * slack);
      },
    ),
    { numRuns: 2000 },
  );
});

Deno.test("ranges are finite, and their ends and ticks differ", () => {
  fc.assert(
    fc.property(pairs, fc.constantFrom(0, 0.04), ([low, high], part) => {
      const [from, to] = rangeAround(low, high, part);
      const size = to - from;
      assert(size > 0 && size < Infinity);
      assert((drawable(low) - from) / size > -1e-9);
      assert((to - drawable(high)) / size > -1e-9);
      const { ticks } = ticksOver(from, to);
      assert(ticks.length >= 2, `${ticks}`);
    }),
    { numRuns: 2000 },
  );
});

Deno.test("ticks are round and within", () => {
  assertEquals(ticksOver(-0.3, 0.3, 6).ticks, [
    ...[-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3],
  ]);
  assertEquals(ticksOver(1e6, 1.2e6).ticks[0], 1e6);
  assertEquals(ticksOver(7, 93).ticks, [20, 40, 60, 80]);
  assertEquals(ticksOver(7, 93).around, [0, 100]);
  assertEquals(ticksOver(0, 5e-324).ticks, [0, 5e-324]);
});
