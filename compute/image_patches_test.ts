import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "./backends/select_backend.ts";
import { extractPatches } from "./image_patches.ts";

await selectBackend("cpu");

const noise = (shape: [number, number, number, number], seed: number) =>
  tf.randomNormal<tf.Rank.R4>(shape, 0, 1, "float32", seed);

Deno.test("patches times the filter are the convolution, whatever its stride and padding", () => {
  const length = fc.integer({ min: 3, max: 8 });
  const filter = fc.integer({ min: 1, max: 3 });
  fc.assert(
    fc.property(
      fc.record({
        size: fc.tuple(length, length),
        filterSize: fc.tuple(filter, filter),
        channels: filter,
        strides: filter,
        pad: fc.constantFrom("same" as const, "valid" as const, 1),
      }),
      ({ size, filterSize, channels, strides, pad }) => {
        tf.tidy(() => {
          const x = noise([2, ...size, channels], 1);
          const filter = noise([...filterSize, channels, 4], 2);
          const dimRoundingMode = pad === 1 ? "floor" as const : undefined;
          const expected = tf.conv2d(
            x,
            filter,
            strides,
            pad,
            "NHWC",
            1,
            dimRoundingMode,
          );
          const windows = { filterSize, strides, pad, dimRoundingMode };
          const patches = extractPatches(x, windows);
          const rows = tf.reshape(patches, [-1, patches.shape[3]]);
          const made = tf.matMul(rows, tf.reshape(filter, [-1, 4]));
          const [rest] = tf.max(
            tf.abs(tf.sub(tf.reshape(made, expected.shape), expected)),
          ).dataSync();
          assert(rest <= 1e-4, `they differ by ${rest}`);
        });
      },
    ),
    { seed: 1, numRuns: 40 },
  );
});

Deno.test("a 1 lies behind each patch where that is asked for", () => {
  tf.tidy(() => {
    const images = noise([2, 4, 5, 3], 1);
    const windows = { filterSize: [2, 3], strides: 2, pad: "same" } as const;
    const plain = extractPatches(images, windows);
    const made = extractPatches(images, windows, { withOne: true });
    assertEquals(made.shape, [2, 2, 3, 19]);
    const wanted = tf.concat([plain, tf.ones([2, 2, 3, 1])], 3);
    assertEquals(made.dataSync(), wanted.dataSync());
  });
});
