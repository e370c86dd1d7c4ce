import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { DynamicsEnv } from "./dynamics.ts";
import { PENDULUM } from "./pendulum.ts";
import { assertMirrored, colorsOf, pixel } from "./testdata/pixels.ts";

function draw(angle: number, torque: number) {
  return PENDULUM.render(Float64Array.of(angle, 0), {}, torque);
}

Deno.test("A rod stands red on a black axle", () => {
  const image = draw(0, NaN);
  assertEquals([image.width, image.height], [500, 500]);
  assertEquals(pixel(image, 10, 10), [255, 255, 255]);
  assertEquals(pixel(image, 250, 250), [0, 0, 0]);
  assertEquals(pixel(image, 250, 180), [204, 77, 77]);
  assertEquals(pixel(image, 250, 300), [255, 255, 255]);
});

Deno.test("A positive angle lies left of upright", () => {
  assertEquals(pixel(draw(Math.PI / 2, NaN), 180, 250), [204, 77, 77]);
});

Deno.test("Mirrored states have mirrored pictures with smooth edges", () => {
  const image = draw(0.6, 1.5);
  assertMirrored(image, draw(-0.6, -1.5));
  assert(colorsOf(image) > 30);
});

Deno.test("The torque of the last step is drawn", () => {
  const env = new DynamicsEnv(PENDULUM);
  env.reset({ seed: 0 });
  const still = env.render();
  const drawn = (torque: number) => PENDULUM.render(env.state, {}, torque);
  assertEquals(still, drawn(NaN));
  env.step(Float32Array.of(1));
  assertEquals(env.render(), drawn(1));
  assertNotEquals(env.render(), drawn(NaN));
  // More than the greatest torque is drawn as that.
  assertEquals(draw(0, 5), draw(0, 2));
});
