import { assertAlmostEquals } from "@std/assert";
import fc from "fast-check";
import { rectangle } from "./rectangle.ts";

Deno.test("Turning keeps the sides' lengths", () => {
  const length = fc.double({ min: 0.1, max: 50, noNaN: true });
  const any = fc.double({ min: -50, max: 50, noNaN: true });
  fc.assert(fc.property(length, length, any, (width, height, angle) => {
    const corners = rectangle({
      at: [3, 4],
      x: [0, width],
      y: [-height, 0],
      angle,
    });
    const side = (i: number) => {
      const [a, b] = [corners[i], corners[(i + 1) % 4]];
      return Math.hypot(a[0] - b[0], a[1] - b[1]);
    };
    assertAlmostEquals(side(0), height, 1e-9);
    assertAlmostEquals(side(1), width, 1e-9);
    assertAlmostEquals(side(2), height, 1e-9);
  }));
});

Deno.test("A quarter turn is counterclockwise", () => {
  const angle = Math.PI / 2;
  const [, , corner] = rectangle({ at: [5, 5], x: [0, 2], y: [0, 1], angle });
  assertAlmostEquals(corner[0], 4);
  assertAlmostEquals(corner[1], 7);
});
