import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { Ranking } from "./_ranking.ts";

/** Slots by descending priority, then by number. */
function naiveOrder(priorities: ArrayLike<number>): number[] {
  return Array.from(priorities, (_, slot) => slot)
    .filter((slot) => priorities[slot] > 0)
    .sort((a, b) => priorities[b] - priorities[a] || a - b);
}

function order(ranking: Ranking): number[] {
  return Array.from({ length: ranking.length }, (_, rank) => ranking.at(rank));
}

Deno.test("any changes give the order of the priorities that there are", () => {
  const change = fc.tuple(fc.nat(49), fc.nat(5));
  fc.assert(
    fc.property(fc.array(change, { size: "large" }), (changes) => {
      const ranking = new Ranking(50);
      const priorities = new Float64Array(50);
      for (const [slot, priority] of changes) {
        ranking.set(slot, priority);
        priorities[slot] = priority;
      }
      assertEquals(order(ranking), naiveOrder(priorities));
      assertEquals(ranking.priorities, priorities);
    }),
    { numRuns: 1000 },
  );
});

// Blocks of 512 are cut and joined only where there are many slots.
const capacity = 5000;
const priority = fc.oneof(
  fc.constant(0),
  fc.nat(3),
  fc.double({ min: 0, max: 9 }),
);
const stretch = fc.record({
  first: fc.nat(capacity - 1),
  count: fc.integer({ min: 1, max: 3000 }),
  step: fc.integer({ min: -7, max: 7 }),
  priority,
  slope: fc.constantFrom(0, 1e-3, -1e-4),
});

Deno.test("blocks are cut and joined without a loss", () => {
  fc.assert(
    fc.property(fc.array(stretch, { minLength: 1 }), (stretches) => {
      const ranking = new Ranking(capacity);
      const priorities = new Float64Array(capacity);
      for (const { first, count, step, priority, slope } of stretches) {
        for (let i = 0; i < count; i++) {
          const slot = (first + i * step + 7 * capacity * 3000) % capacity;
          priorities[slot] = priority > 0
            ? Math.max(0, priority + i * slope)
            : 0;
          ranking.set(slot, priorities[slot]);
        }
        assertEquals(order(ranking), naiveOrder(priorities));
      }
    }),
    { numRuns: 100 },
  );
});

Deno.test("a ranking that is loaded is the one that changes led to", () => {
  const priorities = fc.array(priority, { maxLength: 2000, size: "max" });
  fc.assert(
    fc.property(priorities, (priorities) => {
      const changed = new Ranking(2000);
      priorities.forEach((it, slot) => changed.set(slot, it));
      const loaded = new Ranking(2000);
      loaded.set(1, 3);
      loaded.load(priorities);
      assertEquals(order(loaded), order(changed));
      assertEquals(order(loaded), naiveOrder(priorities));
    }),
    { numRuns: 100 },
  );
});
