import { assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { cosine } from "./cosine.ts";

Deno.test("cosine holds its ends", () => {
  assertEquals([-1, 0, 1, 2].map(cosine), [1, 1, 0, 0]);
});

Deno.test("cosine has the closed form's values", () => {
  assertAlmostEquals(cosine(1 / 3), 0.75);
  assertAlmostEquals(cosine(0.25), (1 + Math.SQRT1_2) / 2);
});

Deno.test("cosine is symmetric about its middle", () => {
  fc.assert(fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (it) => {
    assertAlmostEquals(cosine(it) + cosine(1 - it), 1, 1e-12);
  }));
});
