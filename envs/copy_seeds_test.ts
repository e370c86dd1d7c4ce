import { assertEquals, assertThrows } from "@std/assert";
import * as fc from "fast-check";
import { copySeeds } from "./copy_seeds.ts";
import { deriveSeed } from "./random.ts";

const seeds = fc.nat({ max: Number.MAX_SAFE_INTEGER });

Deno.test("a number gives each copy a seed derived from it, whatever their number", () => {
  fc.assert(fc.property(seeds, fc.integer({ min: 1, max: 6 }), (seed, n) => {
    const whole = copySeeds(seed, 6);
    assertEquals(whole.slice(0, n), copySeeds(seed, n));
    assertEquals(whole[n - 1], deriveSeed(seed, n - 1));
  }));
});

Deno.test("a list gives each copy its own seed", () => {
  fc.assert(fc.property(fc.array(seeds), (list) => {
    assertEquals(copySeeds(list, list.length), list);
  }));
});

Deno.test("a list of another length and bad seeds are refused", () => {
  assertThrows(
    () => copySeeds([1, 2], 3),
    RangeError,
    "Cannot seed 3 copies with 2 seeds: expected one for each copy",
  );
  for (const bad of [-1, 0.5, NaN, Infinity]) {
    for (const seed of [bad, [0, bad]]) {
      assertThrows(
        () => copySeeds(seed, 2),
        RangeError,
        `Cannot seed an environment with ${bad}: expected a whole number`,
      );
    }
  }
});
