import { assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { assertNoLeak } from "../../testdata/assert_no_leak.ts";
import { assertBackendsAgree, noise } from "../../testdata/backends_agree.ts";
import { selectBackend } from "../select_backend.ts";

interface Case {
  image: [number, number, number, number];
  filter: [number, number];
  channels: number;
  stride: number;
  pad: "same" | "valid";
}

const cases: fc.Arbitrary<Case> = fc.record({
  image: fc.tuple(
    fc.integer({ min: 1, max: 3 }),
    fc.integer({ min: 3, max: 9 }),
    fc.integer({ min: 3, max: 9 }),
    fc.integer({ min: 1, max: 3 }),
  ),
  filter: fc.tuple(
    fc.integer({ min: 1, max: 3 }),
    fc.integer({ min: 1, max: 3 }),
  ),
  channels: fc.integer({ min: 1, max: 4 }),
  stride: fc.integer({ min: 1, max: 3 }),
  pad: fc.constantFrom<"same" | "valid">("same", "valid"),
});

/** The gradients of a convolution's squared output, by image and filter. */
async function gradients(
  backend: "cpu" | "wasm",
  { image, filter, channels, stride, pad }: Case,
): Promise<Float32Array[]> {
  await selectBackend(backend);
  const filterShape: [number, number, number, number] = [
    ...filter,
    image[3],
    channels,
  ];
  const x = tf.tensor4d(noise(image, 1), image);
  const w = tf.tensor4d(noise(filterShape, 2), filterShape);
  const loss = tf.grads((x, w) =>
    tf.sum(tf.square(
      tf.conv2d(x as tf.Tensor4D, w as tf.Tensor4D, stride, pad),
    ))
  );
  return loss([x, w]).map((it) => it.dataSync() as Float32Array);
}

Deno.test("the filter gradient on wasm is the cpu backend's", async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (it) => {
      const expected = await gradients("cpu", it);
      const actual = await gradients("wasm", it);
      actual.forEach((values, k) => {
        assertEquals(values.length, expected[k].length);
        values.forEach((value, i) =>
          assertAlmostEquals(
            value,
            expected[k][i],
            1e-4 * (1 + Math.abs(expected[k][i])),
          )
        );
      });
    }),
    { numRuns: 40 },
  );
});

Deno.test("it leaves no memory behind", async () => {
  const it: Case = {
    image: [2, 8, 8, 3],
    filter: [3, 3],
    channels: 4,
    stride: 2,
    pad: "valid",
  };
  await gradients("wasm", it);
  const before = tf.engine().backend.numDataIds();
  const tensors = tf.memory().numTensors;
  for (let i = 0; i < 10; i++) await gradients("wasm", it);
  const made = tf.memory().numTensors - tensors;
  assertEquals(tf.engine().backend.numDataIds() - before, made);
});

const paddedCases = fc.record({
  height: fc.integer({ min: 3, max: 9 }),
  width: fc.integer({ min: 3, max: 9 }),
  filter: fc.tuple(
    fc.integer({ min: 1, max: 3 }),
    fc.integer({ min: 1, max: 3 }),
  ),
  stride: fc.integer({ min: 1, max: 5 }),
});

Deno.test("padded convolutions of any stride are those of cpu", () =>
  fc.assert(
    fc.asyncProperty(paddedCases, ({ height, width, filter, stride }) =>
      assertBackendsAgree({
        shapes: [[2, height, width, 2], [...filter, 2, 3]],
        op: (x, w) =>
          tf.conv2d(x as tf.Tensor4D, w as tf.Tensor4D, stride, "same"),
      })),
    { numRuns: 60 },
  ));

Deno.test("so are fused ones", () =>
  fc.assert(
    fc.asyncProperty(paddedCases, ({ height, width, filter, stride }) =>
      assertBackendsAgree({
        shapes: [[1, height, width, 2], [...filter, 2, 3], [3]],
        op: (x, w, bias) =>
          tf.fused.conv2d({
            x: x as tf.Tensor4D,
            filter: w as tf.Tensor4D,
            strides: stride,
            pad: "same",
            bias,
            activation: "relu",
          }),
        valueOnly: true,
      })),
    { numRuns: 30 },
  ));

Deno.test("and depthwise ones", () =>
  fc.assert(
    fc.asyncProperty(paddedCases, ({ height, width, filter, stride }) =>
      assertBackendsAgree({
        shapes: [[1, height, width, 2], [...filter, 2, 2]],
        op: (x, w) =>
          tf.depthwiseConv2d(
            x as tf.Tensor4D,
            w as tf.Tensor4D,
            stride,
            "same",
          ),
        valueOnly: true,
      })),
    { numRuns: 30 },
  ));

type Image = [number, number, number, number];

const poolCases = fc.record({
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
      poolCases,
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
