import { assertEquals, assertThrows } from "@std/assert";
import { MersenneTwister, seedSequence } from "./_ale_random.ts";

Deno.test("seedSequence gives NumPy's numbers", () => {
  assertEquals(seedSequence(0, 2), [2968811710, 3677149159]);
  assertEquals(seedSequence(1, 6), [
    1835504127,
    1731038949,
    1320224556,
    2330041505,
    321059914,
    1226144109,
  ]);
  assertEquals(seedSequence(12345, 2), [2688385916, 3048105090]);
  assertEquals(seedSequence(4294967295, 2), [1992424968, 705021410]);
  assertEquals(seedSequence(4294967296, 2), [3964924996, 1358922860]);
  assertEquals(seedSequence(9007199254740991, 2), [3367776697, 1170575226]);
});

const words = (random: MersenneTwister, count: number): number[] =>
  Array.from({ length: count }, () => random.uniform() * 2 ** 32);

Deno.test("MersenneTwister gives the numbers of std::mt19937", () => {
  const random = new MersenneTwister(5489);
  assertEquals(words(random, 3), [3499211612, 581869302, 3890346734]);
  // The C++ standard names the 10000th number of the default seed.
  words(random, 9996);
  assertEquals(words(random, 1), [4123659995]);
});

Deno.test("MersenneTwister takes the lowest 32 bits of its seed", () => {
  assertEquals(
    words(new MersenneTwister(2 ** 32 + 7), 5),
    words(new MersenneTwister(7), 5),
  );
});

Deno.test("MersenneTwister goes on from a saved state", () => {
  const random = new MersenneTwister(1);
  words(random, 1000);
  const saved = random.save();
  const first = words(random, 700);
  const other = new MersenneTwister(2);
  other.load(saved);
  assertEquals(words(other, 700), first);
});

Deno.test("MersenneTwister refuses what is no state", () => {
  const random = new MersenneTwister(1);
  assertThrows(() => random.load(new Uint32Array(3)), TypeError, "625 words");
  const past = random.save();
  past[624] = 625;
  assertThrows(() => random.load(past), TypeError, "625 words");
});
