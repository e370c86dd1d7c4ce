import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { closest, editDistance } from "./_closest.ts";

Deno.test("edits between words that are known", () => {
  assertEquals(editDistance("kitten", "sitting"), 3);
  assertEquals(editDistance("", "abc"), 3);
  assertEquals(editDistance("reward", "reward"), 0);
});

Deno.test("the distance of words is a metric", () => {
  const word = fc.string({ maxLength: 6 });
  fc.assert(fc.property(word, word, word, (a, b, c) => {
    assertEquals(editDistance(a, b), editDistance(b, a));
    assertEquals(editDistance(a, b) === 0, a === b);
    const detour = editDistance(a, b) + editDistance(b, c);
    assertEquals(editDistance(a, c) <= detour, true);
  }));
});

Deno.test("the closest name is found, the first of several", () => {
  assertEquals(closest("rewrad", ["observation", "reward"]), "reward");
  assertEquals(closest("b", ["a", "c"]), "a");
});
