import { assertEquals } from "@std/assert";
import { shuffle } from "./random.ts";
import { testRandom } from "./testdata/random.ts";

Deno.test("shuffle reaches each order about as often", () => {
  const random = testRandom(1);
  const counts = new Map<string, number>();
  for (let i = 0; i < 6000; i++) {
    const numbers = Int32Array.of(0, 1, 2);
    shuffle(numbers, random);
    counts.set(numbers.join(), (counts.get(numbers.join()) ?? 0) + 1);
  }
  assertEquals(counts.size, 6);
  // Five standard deviations about 1000.
  for (const count of counts.values()) {
    assertEquals(Math.abs(count - 1000) < 145, true, `${count}`);
  }
});
