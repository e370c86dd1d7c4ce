import type { RgbImage } from "@bellman/types";
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { CART_POLE } from "./cart_pole.ts";
import { assertMirrored, colorsOf, pixel } from "./testdata/pixels.ts";

function draw(position: number, angle: number): RgbImage {
  return CART_POLE.render(Float64Array.of(position, 0, angle, 0), {}, NaN);
}

Deno.test("The cart is black on white, its pole brown, its axle blue", () => {
  const image = draw(0, 0);
  assertEquals([image.width, image.height], [600, 400]);
  assertEquals(image.data.length, 600 * 400 * 3);
  assertEquals(pixel(image, 0, 0), [255, 255, 255]);
  assertEquals(pixel(image, 280, 300), [0, 0, 0]);
  assertEquals(pixel(image, 300, 200), [202, 152, 101]);
  assertEquals(pixel(image, 300, 292), [129, 132, 203]);
});

Deno.test("The cart moves by 125 pixels a metre", () => {
  const image = draw(1, 0);
  assertEquals(pixel(image, 280, 295), [255, 255, 255]);
  assertEquals(pixel(image, 405, 295), [0, 0, 0]);
});

Deno.test("A pole of positive angle leans right", () => {
  const image = draw(0, 0.2);
  assertEquals(pixel(image, 320, 195), [202, 152, 101]);
  assertEquals(pixel(image, 280, 195), [255, 255, 255]);
});

Deno.test("Mirrored states have mirrored pictures", () => {
  assertMirrored(draw(0.7, 0.15), draw(-0.7, -0.15));
  assertMirrored(draw(0, 0), draw(0, 0));
  assertNotEquals(draw(0.7, 0.15), draw(-0.7, -0.15));
});

Deno.test("Edges of a leaning pole are smooth", () => {
  assert(colorsOf(draw(0, 0.15)) > 30);
});

Deno.test("A picture of another size shows the same", () => {
  const state = Float64Array.of(0, 0, 0, 0);
  const image = CART_POLE.render(state, { width: 150, height: 100 }, NaN);
  assertEquals([image.width, image.height], [150, 100]);
  assertEquals(pixel(image, 70, 74), [0, 0, 0]);
  assertEquals(pixel(image, 75, 50), [202, 152, 101]);
});
