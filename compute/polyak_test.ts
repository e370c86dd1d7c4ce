import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "./backends/select_backend.ts";
import { polyak } from "./polyak.ts";
import { assertNoLeak } from "./testdata/assert_no_leak.ts";

await selectBackend("cpu");

Deno.test("a target moves by its share, path by path", () => {
  const target = { a: tf.tensor2d([[1, 2]]), b: tf.scalar(-4) };
  const params = { b: tf.scalar(4), a: tf.tensor2d([[3, 2]]) };
  const moved = polyak(target, params, { tau: 0.25 });
  assertEquals(Object.keys(moved), ["a", "b"]);
  assertEquals(moved.a.arraySync(), [[1.5, 2]]);
  assertEquals(moved.b.arraySync(), -2);
  assertEquals(target.a.arraySync(), [[1, 2]]);
});

Deno.test("tau may be a tensor, and the ends copy and keep", () => {
  const target = { w: tf.scalar(1) };
  const params = { w: tf.scalar(3) };
  const at = (tau: number | tf.Scalar) =>
    polyak(target, params, { tau }).w.dataSync()[0];
  assertEquals([at(0), at(1)], [1, 3]);
  assertAlmostEquals(at(tf.scalar(0.005)), 1.01, 1e-6);
});

Deno.test("a share outside of 0 to 1 is refused", () => {
  const params = { w: tf.scalar(1) };
  for (const tau of [-0.1, 1.1, NaN]) {
    assertThrows(() => polyak(params, params, { tau }), RangeError, `${tau}`);
  }
});

Deno.test("nothing leaks", () => {
  const target = { w: tf.scalar(1) };
  assertNoLeak(() => polyak(target, target, { tau: 0.5 }).w.dispose());
});
