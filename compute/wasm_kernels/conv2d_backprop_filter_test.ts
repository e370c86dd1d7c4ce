import { assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "../backend.ts";
import { RandomStream } from "../random_stream.ts";

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

function noise(shape: number[], seed: number): Float32Array {
  const size = shape.reduce((a, b) => a * b, 1);
  return new RandomStream(seed).fillNormal(new Float32Array(size));
}

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
