import { assertAlmostEquals, assertEquals } from "@std/assert";
import { RankDistribution } from "./_rank_distribution.ts";

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
