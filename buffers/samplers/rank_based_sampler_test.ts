import { assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { RankDistribution, Ranking } from "./rank_based_sampler.ts";

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

const ALPHAS = [0, 0.5, 0.7, 1, 1 + 1e-9, 1.5, 3, 400];

Deno.test("totals are the sums of the masses", () => {
  for (const alpha of ALPHAS) {
    const distribution = new RankDistribution(alpha);
    let sum = 0;
    for (let rank = 1; rank <= 200_000; rank++) {
      sum += rank ** -alpha;
      if (rank <= 3 || rank % 1009 < 2) {
        assertAlmostEquals(distribution.total(rank), sum, 1e-8 * sum);
      }
    }
  }
});

Deno.test("a rank beyond the summed ones has its mass to one in a million", () => {
  for (const alpha of ALPHAS.filter((it) => it < 10)) {
    const distribution = new RankDistribution(alpha);
    for (const rank of [1026, 1500, 10_000]) {
      const mass = distribution.total(rank) - distribution.total(rank - 1);
      assertAlmostEquals(
        mass * rank ** alpha,
        1,
        1.2e-6 + 1e-15 * rank ** alpha,
      );
    }
  }
});

Deno.test("a rank is found for all of its mass, and for no more", () => {
  const n = 1_000_000;
  for (const alpha of [0, 0.5, 0.7, 1, 1.2]) {
    const distribution = new RankDistribution(alpha);
    for (const rank of [1, 2, 1023, 1024, 1025, 5000, 999_999, n]) {
      const end = distribution.total(rank);
      const mass = end - distribution.total(rank - 1);
      const inside = 1e-3 * mass;
      assertEquals(distribution.find(end - mass + inside, n), rank);
      assertEquals(distribution.find(end - inside, n), rank);
    }
  }
});

Deno.test("no rank beyond the last is found", () => {
  for (const n of [1, 7, 1024, 1025, 4000]) {
    for (const alpha of ALPHAS) {
      const distribution = new RankDistribution(alpha);
      for (const mass of [distribution.total(n), Infinity]) {
        assertEquals(distribution.find(mass, n), n, `${alpha} ${mass}`);
      }
    }
  }
});
