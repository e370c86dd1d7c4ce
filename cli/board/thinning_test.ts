import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Thinner } from "./thinning.ts";
import type { Thinning } from "./messages.ts";

function thinned(values: readonly number[], points: number, kind: Thinning) {
  const thinner = new Thinner(points, kind);
  values.forEach((y, x) => thinner.add(x, y));
  return thinner.points();
}

Deno.test("curves of as many points as are wanted are as they were", () => {
  fc.assert(fc.property(
    fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), {
      maxLength: 64,
    }),
    (values) => {
      for (const kind of ["extremes", "means"] as const) {
        const { x, y } = thinned(values, 64, kind);
        assertEquals(x, values.map((_, i) => i));
        // Sums of one value: -0 may have become 0.
        assertEquals(y.map((it) => it + 0), values.map((it) => it + 0));
      }
    },
  ));
});

Deno.test("extremes keep each spike, in the order of the points", () => {
  fc.assert(fc.property(
    fc.array(fc.integer({ min: -9, max: 9 }), {
      minLength: 100,
      maxLength: 3000,
    }),
    (values) => {
      const { x, y } = thinned(values, 32, "extremes");
      assert(x.length <= 32, `${x.length} points`);
      assert(x.length >= 16, `${x.length} points`);
      assertEquals(y, x.map((at) => values[at]));
      assertEquals(x, x.toSorted((a, b) => a - b));
      assertEquals(Math.min(...y), Math.min(...values));
      assertEquals(Math.max(...y), Math.max(...values));
    },
  ));
});

Deno.test("means are those of points that follow each other", () => {
  const values = Array.from({ length: 1024 }, (_, i) => i % 7);
  const { x, y } = thinned(values, 64, "means");
  assertEquals(x.length, 64);
  const width = values.length / 64;
  y.forEach((it, i) => {
    const some = values.slice(width * i, width * (i + 1));
    assertAlmostEquals(it, some.reduce((a, b) => a + b) / width);
    assertEquals(x[i], width * i + (width - 1) / 2);
  });
});
