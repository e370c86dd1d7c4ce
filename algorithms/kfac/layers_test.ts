import { compile, type Params, selectBackend } from "@bellman/compute";
import { assert, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { findLayers, fisherRows, imagePatches } from "./layers.ts";
import { actorCritic } from "@bellman/policies";
import { RandomStream } from "@bellman/compute";

await selectBackend("cpu");

const noise = (shape: number[], seed: number) =>
  tf.randomNormal(shape, 0, 1, "float32", seed);

function close(actual: tf.Tensor, expected: tf.Tensor, within = 1e-4): void {
  assertEquals(actual.shape, expected.shape);
  const worst = tf.max(tf.abs(tf.sub(actual, expected))).arraySync() as number;
  const scale = tf.max(tf.abs(expected)).arraySync() as number;
  assert(worst <= within * Math.max(1, scale), `differs by ${worst}`);
}

Deno.test("patches times the filter are the convolution, whatever its stride and padding", () => {
  fc.assert(
    fc.property(
      fc.record({
        size: fc.tuple(
          fc.integer({ min: 3, max: 8 }),
          fc.integer({ min: 3, max: 8 }),
        ),
        filterSize: fc.tuple(
          fc.integer({ min: 1, max: 3 }),
          fc.integer({ min: 1, max: 3 }),
        ),
        channels: fc.integer({ min: 1, max: 3 }),
        strides: fc.integer({ min: 1, max: 3 }),
        pad: fc.constantFrom("same" as const, "valid" as const, 1),
      }),
      ({ size, filterSize, channels, strides, pad }) => {
        tf.tidy(() => {
          const x = noise([2, ...size, channels], 1) as tf.Tensor4D;
          const filter = noise([...filterSize, channels, 4], 2) as tf.Tensor4D;
          const mode = pad === 1 ? "floor" : undefined;
          const expected = tf.conv2d(x, filter, strides, pad, "NHWC", 1, mode);
          const patches = imagePatches(x, {
            filterSize,
            strides,
            pad,
            dimRoundingMode: mode,
          });
          const rows = tf.reshape(patches, [-1, patches.shape[3]]);
          const made = tf.matMul(rows, tf.reshape(filter, [-1, 4]));
          close(tf.reshape(made, expected.shape), expected);
        });
      },
    ),
    { seed: 1, numRuns: 40 },
  );
});

Deno.test("inputs' times output gradients are the gradient, for layers of every kind", () => {
  for (const network of ["mlp", "lstm", "cnn"] as const) {
    tf.tidy(() => {
      const isImage = network === "cnn";
      const shape = isImage ? [36, 36, 1] : [3];
      const model = actorCritic({
        observationSpace: {
          type: "box",
          shape,
          low: -9,
          high: 9,
          dtype: "float32",
        },
        actionSpace: { type: "discrete", n: 3 },
        network,
        networkOptions: { hiddenSizes: [5, 4], lstmSize: 4 },
      });
      const params = model.init(new RandomStream(1));
      const x = noise([6, ...shape], 3);
      const recurrence = model.stateSize > 0
        ? {
          state: noise([2, model.stateSize], 4) as tf.Tensor2D,
          masks: tf.tensor1d([0, 0, 1, 0, 0, 0]),
        }
        : undefined;
      const likelihood = (params: Params) => {
        const { policy, value } = model.apply(params, x, recurrence);
        return tf.add(tf.sum(tf.sin(policy), 1), tf.square(value));
      };
      const layers = findLayers(
        (params, { x }) => model.apply(params, x, recurrence),
        { params, inputs: { x } },
      );
      assertEquals(
        layers.flatMap(({ kernel, bias }) => [kernel, bias]).filter((it) => it)
          .sort(),
        Object.keys(params).sort(),
      );
      const rows = fisherRows(likelihood, params, { layers });
      const paths = Object.keys(params);
      const gradients = tf.grads((...list: tf.Tensor[]) =>
        tf.sum(
          likelihood(Object.fromEntries(paths.map((it, i) => [it, list[i]]))),
        )
      )(paths.map((it) => params[it]));
      for (const { kernel, bias } of layers) {
        const { inputs, gradients: outputs } = rows[kernel];
        const made = tf.matMul(inputs, outputs, true);
        const wanted = tf.reshape(gradients[paths.indexOf(kernel)], [
          -1,
          outputs.shape[1],
        ]);
        const last = bias === undefined
          ? tf.zeros([0, outputs.shape[1]])
          : tf.reshape(gradients[paths.indexOf(bias)], [1, -1]);
        close(made, tf.concat([wanted, last], 0));
      }
    });
  }
});
