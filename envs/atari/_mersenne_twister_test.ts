import { assertEquals, assertThrows } from "@std/assert";
import { MersenneTwister } from "./_mersenne_twister.ts";

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
