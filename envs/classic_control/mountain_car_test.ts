import { assert, assertEquals } from "@std/assert";
import { DynamicsEnv } from "./dynamics.ts";
import { MOUNTAIN_CAR, MOUNTAIN_CAR_CONTINUOUS } from "./mountain_car.ts";
import { colorsOf, pixel } from "./testdata/pixels.ts";

Deno.test("The car is black, its wheels gray, the flag yellow", () => {
  const env = new DynamicsEnv(MOUNTAIN_CAR);
  // The bottom of the valley, where the car stands level.
  env.setState([-Math.PI / 6, 0]);
  const image = env.render();
  assertEquals([image.width, image.height], [600, 400]);
  assertEquals(pixel(image, 300, 10), [255, 255, 255]);
  const x = Math.floor((1.2 - Math.PI / 6) * 1000 / 3);
  const ground = 400 - Math.floor(0.1 * 1000 / 3);
  assertEquals(pixel(image, x, ground - 25), [0, 0, 0]);
  for (const side of [-10, 10]) {
    assertEquals(pixel(image, x + side, ground - 9), [128, 128, 128]);
  }
  assertEquals(pixel(image, 572, 22), [204, 204, 0]);
  assert(colorsOf(image) > 30);
});

Deno.test("The continuous car's flag stands farther left", () => {
  const env = new DynamicsEnv(MOUNTAIN_CAR_CONTINUOUS);
  env.setState([-Math.PI / 6, 0]);
  const image = env.render();
  assertEquals(pixel(image, 555, 25), [204, 204, 0]);
  assertEquals(pixel(image, 580, 22), [255, 255, 255]);
});
