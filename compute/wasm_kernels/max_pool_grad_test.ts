import { assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "../backend.ts";
import { assertNoLeak } from "../testdata/assert_no_leak.ts";
import { assertBackendsAgree, noise } from "../testdata/backends_agree.ts";

type Image = [number, number, number, number];

const cases = fc.record({
  image: fc.tuple(
    fc.integer({ min: 1, max: 2 }),
    fc.integer({ min: 3, max: 8 }),
    fc.integer({ min: 3, max: 8 }),
    fc.integer({ min: 1, max: 4 }),
  ),
  size: fc.integer({ min: 1, max: 3 }),
  stride: fc.integer({ min: 1, max: 3 }),
  pad: fc.constantFrom<"same" | "valid">("same", "valid"),
});

Deno.test("the gradient of max pooling on wasm is the cpu backend's", () =>
  fc.assert(
    fc.asyncProperty(
      cases,
      ({ image, size, stride, pad }) =>
        assertBackendsAgree({
          shapes: [image],
          op: (x) => tf.maxPool(x as tf.Tensor4D, size, stride, pad),
        }),
    ),
    { numRuns: 60 },
  ));

Deno.test("it agrees with finite differences", async () => {
  await selectBackend("wasm");
  const shape: Image = [1, 5, 5, 2];
  const values = noise(shape, 1);
  const pool = (x: tf.Tensor) => tf.maxPool(x as tf.Tensor4D, 3, 2, "same");
  const loss = (x: tf.Tensor) => tf.sum(tf.square(pool(x))) as tf.Scalar;
  const gradient = tf.grad(loss)(tf.tensor4d(values, shape)).dataSync();
  const epsilon = 1e-3;
  values.forEach((_, i) => {
    const at = (delta: number) => {
      const moved = values.slice();
      moved[i] += delta;
      return loss(tf.tensor4d(moved, shape)).dataSync()[0];
    };
    const slope = (at(epsilon) - at(-epsilon)) / (2 * epsilon);
    assertAlmostEquals(gradient[i], slope, 2e-2);
  });
});

Deno.test("of equal numbers, the first has the gradient", async () => {
  await selectBackend("wasm");
  const gradient = tf.grad((x) => tf.maxPool(x as tf.Tensor4D, 2, 2, "valid"))(
    tf.ones([1, 2, 2, 1]),
  );
  assertEquals([...gradient.dataSync()], [1, 0, 0, 0]);
});

Deno.test("it leaves no memory behind", async () => {
  await selectBackend("wasm");
  const x = tf.ones([1, 4, 4, 2]);
  const gradient = tf.grad((x) => tf.maxPool(x as tf.Tensor4D, 2, 2, "valid"));
  assertNoLeak(() => gradient(x).dispose());
});
