import type { RgbImage } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { Canvas, rectangle } from "./canvas.ts";

const BLACK = [0, 0, 0] as const;

function grays({ data }: RgbImage): number[] {
  return Array.from({ length: data.length / 3 }, (_, i) => data[i * 3]);
}

/** The area that black covers, in pixels. */
function area(image: RgbImage): number {
  return grays(image).reduce((sum, it) => sum + (255 - it) / 255, 0);
}

Deno.test("A canvas starts white, three bytes a pixel", () => {
  const { width, height, data } = new Canvas({ width: 3, height: 2 }).image();
  assertEquals([width, height], [3, 2]);
  assertEquals(data, new Uint8Array(18).fill(255));
});

Deno.test("A pixel that is half covered is half mixed", () => {
  const canvas = new Canvas({ width: 2, height: 1 });
  canvas.fillPolygon([[0.5, 0], [1.5, 0], [1.5, 1], [0.5, 1]], [1, 101, 201]);
  const mixed = [128, 178, 228];
  assertEquals([...canvas.image().data], [...mixed, ...mixed]);
  const low = new Canvas({ width: 1, height: 2 });
  low.fillPolygon([[0, 0], [1, 0], [1, 0.5], [0, 0.5]], BLACK);
  assertEquals(grays(low.image()), [255, 128]);
});

Deno.test("Shapes cover their area", () => {
  const fresh = () => new Canvas({ width: 100, height: 100 });
  const triangle = fresh();
  triangle.fillPolygon([[10, 10], [90, 20], [30, 80]], BLACK);
  assert(Math.abs(area(triangle.image()) - 2700) < 5);
  const circle = fresh();
  circle.fillCircle({ center: [50.3, 49.1], radius: 30 }, BLACK);
  assert(Math.abs(area(circle.image()) - Math.PI * 900) < 10);
  const line = fresh();
  line.strokeLine([[10, 10], [70, 90]], { color: BLACK, width: 3 });
  assert(Math.abs(area(line.image()) - 300) < 2);
});

Deno.test("What lies outside is left out", () => {
  const canvas = new Canvas({ width: 4, height: 4 });
  canvas.fillPolygon([[-9, -9], [-1, -9], [-1, 20]], BLACK);
  assertEquals(area(canvas.image()), 0);
  canvas.fillPolygon([[-9, -9], [9, -9], [9, 9], [-9, 9]], BLACK);
  assertEquals(area(canvas.image()), 16);
});

Deno.test("Edges that cross leave what lies inside of both free", () => {
  const canvas = new Canvas({ width: 10, height: 10 });
  canvas.fillPolygon([
    ...[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]] as const,
    ...[[3, 3], [7, 3], [7, 7], [3, 7], [3, 3]] as const,
  ], BLACK);
  assertEquals(area(canvas.image()), 84);
});

Deno.test("A view is scaled evenly and centred", () => {
  const canvas = new Canvas({ width: 8, height: 2, view: [10, 10] });
  canvas.fillPolygon([[0, 0], [10, 0], [10, 10], [0, 10]], BLACK);
  const row = [255, 255, 255, 0, 0, 255, 255, 255];
  assertEquals(grays(canvas.image()), [...row, ...row]);
});

Deno.test("A picture is a copy", () => {
  const canvas = new Canvas({ width: 1, height: 1 });
  const before = canvas.image();
  canvas.fillPolygon([[0, 0], [1, 0], [1, 1], [0, 1]], BLACK);
  assertEquals(before.data[0], 255);
});

Deno.test("Sizes that make no sense are refused", () => {
  for (const width of [0, -1, 1.5, NaN, 20000]) {
    assertThrows(
      () => new Canvas({ width, height: 1 }),
      RangeError,
      `Cannot draw a picture of ${width} by 1 pixels`,
    );
  }
});

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
