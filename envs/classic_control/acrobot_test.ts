import { assert, assertEquals } from "@std/assert";
import { ACROBOT } from "./acrobot.ts";
import { assertMirrored, colorsOf, pixel } from "./testdata/pixels.ts";

const draw = (...state: number[]) =>
  ACROBOT.render(Float64Array.from(state), {}, NaN);

Deno.test("Links hang below the axle, the line lies above", () => {
  const image = draw(0, 0, 0, 0);
  assertEquals([image.width, image.height], [500, 500]);
  assertEquals(pixel(image, 10, 10), [255, 255, 255]);
  assertEquals(pixel(image, 250, 250), [204, 204, 0]);
  assertEquals(pixel(image, 250, 300), [0, 204, 204]);
  assertEquals(pixel(image, 250, 450), [0, 204, 204]);
  assertEquals(pixel(image, 250, 200), [255, 255, 255]);
  assert(pixel(image, 20, 136)[0] < 140);
});

Deno.test("Angles are counted counterclockwise from hanging", () => {
  const image = draw(Math.PI / 2, 0, 0, 0);
  assertEquals(pixel(image, 450, 250), [0, 204, 204]);
  const folded = draw(0, Math.PI / 2, 0, 0);
  assertEquals(pixel(folded, 330, 364), [0, 204, 204]);
});

Deno.test("Mirrored links have mirrored pictures with smooth edges", () => {
  const image = draw(0.7, -1.3, 0, 0);
  assertMirrored(image, draw(-0.7, 1.3, 0, 0));
  assert(colorsOf(image) > 30);
});
