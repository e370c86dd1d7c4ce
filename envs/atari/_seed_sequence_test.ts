import { assertEquals } from "@std/assert";
import { seedSequence } from "./_seed_sequence.ts";

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
