import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { selectBackend } from "./backend.ts";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { clipByGlobalNorm, globalNorm } from "./global_norm.ts";

await selectBackend("cpu");

const numbers = fc.array(fc.float({ min: -100, max: 100, noNaN: true }), {
  minLength: 1,
  maxLength: 6,
});

Deno.test("the global norm is that of all numbers together", () => {
  fc.assert(fc.property(numbers, numbers, (a, b) => {
    const expected = Math.hypot(...a, ...b);
    const norm = globalNorm({ a: tf.tensor(a), b: tf.tensor(b) }).dataSync()[0];
    assertAlmostEquals(norm, expected, 1e-4 * (1 + expected));
  }));
});

Deno.test("clipped gradients keep their direction and have the norm asked for", () => {
  fc.assert(fc.property(numbers, (a) => {
    const { gradients, norm } = clipByGlobalNorm({ a: tf.tensor(a) }, 0.5);
    const before = norm.dataSync()[0];
    const scale = 0.5 / Math.max(before, 0.5);
    gradients.a.dataSync().forEach((it, i) =>
      assertAlmostEquals(it, a[i] * scale, 1e-5)
    );
  }));
});

Deno.test("null clips nothing, and a bad maximum is refused", () => {
  const { gradients, norm } = clipByGlobalNorm({ a: tf.tensor([3, 4]) }, null);
  assertEquals([...gradients.a.dataSync()], [3, 4]);
  assertEquals(norm.dataSync()[0], 5);
  for (const bad of [0, -1, NaN]) {
    assertThrows(
      () => clipByGlobalNorm({}, bad),
      RangeError,
      `Cannot clip gradients to a norm of ${bad}`,
    );
  }
});
