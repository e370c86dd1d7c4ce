import { assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { assertNoLeak } from "../../testdata/assert_no_leak.ts";
import { assertBackendsAgree, noise } from "../../testdata/backends_agree.ts";
import { selectBackend } from "../select_backend.ts";

const few = fc.integer({ min: 1, max: 3 });
const side = fc.integer({ min: 3, max: 9 });
const pad = fc.constantFrom<"same" | "valid">("same", "valid");
const filter = fc.tuple(few, few);

const cases = fc.record({
  image: fc.tuple(few, side, side, few),
  filter,
  channels: fc.integer({ min: 1, max: 4 }),
  stride: few,
  pad,
});
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

/** The gradients of a convolution's squared output, by image and filter. */
async function gradients(
  backend: "cpu" | "wasm",
  { image, filter, channels, stride, pad }: Case,
): Promise<Float32Array[]> {
  await selectBackend(backend);
  const filterShape = [...filter, image[3], channels] as const;
  const x = tf.tensor4d(noise(image, 1), image);
  const w = tf.tensor4d(noise(filterShape, 2), [...filterShape]);
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
  const size = { image: [2, 8, 8, 3], filter: [3, 3], channels: 4, stride: 2 };
  const it = { ...size, pad: "valid" } as Case;
  await gradients("wasm", it);
  const before = tf.engine().backend.numDataIds();
  const tensors = tf.memory().numTensors;
  for (let i = 0; i < 10; i++) await gradients("wasm", it);
  const made = tf.memory().numTensors - tensors;
  assertEquals(tf.engine().backend.numDataIds() - before, made);
});

const paddedCases = fc.record({
  size: fc.tuple(side, side),
  filter,
  stride: fc.integer({ min: 1, max: 5 }),
});
type PaddedCase = typeof paddedCases extends fc.Arbitrary<infer T> ? T : never;

function testPadded(
  name: string,
  make: (it: PaddedCase) => Parameters<typeof assertBackendsAgree>[0],
): void {
  Deno.test(name, () =>
    fc.assert(
      fc.asyncProperty(paddedCases, (it) => assertBackendsAgree(make(it))),
      { numRuns: 40 },
    ));
}

testPadded("padded convolutions of any stride are those of cpu", (it) => ({
  shapes: [[2, ...it.size, 2], [...it.filter, 2, 3]],
  op: (x, w) =>
    tf.conv2d(x as tf.Tensor4D, w as tf.Tensor4D, it.stride, "same"),
}));

testPadded("so are fused ones", (it) => ({
  shapes: [[1, ...it.size, 2], [...it.filter, 2, 3], [3]],
  op: (x, w, bias) =>
    tf.fused.conv2d({
      x: x as tf.Tensor4D,
      filter: w as tf.Tensor4D,
      strides: it.stride,
      pad: "same",
      bias,
      activation: "relu",
    }),
  valueOnly: true,
}));

testPadded("and depthwise ones", (it) => ({
  shapes: [[1, ...it.size, 2], [...it.filter, 2, 2]],
  op: (x, w) =>
    tf.depthwiseConv2d(x as tf.Tensor4D, w as tf.Tensor4D, it.stride, "same"),
  valueOnly: true,
}));

type Image = [number, number, number, number];

const poolCases = fc.record({
  image: fc.tuple(few, side, side, few),
  size: few,
  stride: few,
  pad,
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
