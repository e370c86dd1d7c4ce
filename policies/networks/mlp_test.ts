import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { mlp } from "./mlp.ts";
import {
  assertClose,
  assertGradientsFlow,
  assertNoLeaks,
} from "../testdata/assertions.ts";
import { testOnBackends } from "../testdata/backends.ts";
import { seededRandom } from "../testdata/random.ts";

/** Rows of a matrix in and out of one layer, computed one by one. */
function layer(x: number[], kernel: number[][], bias: number[]): number[] {
  return bias.map((b, j) => x.reduce((sum, v, i) => sum + v * kernel[i][j], b));
}

testOnBackends("mlp is its layers one after the other", () => {
  const kernel0 = [[1, -2, 0.5], [0.25, 1, -1]];
  const bias0 = [0.1, -0.2, 0.3];
  const kernel1 = [[2], [-1], [0.5]];
  const bias1 = [0.75];
  const network = mlp({ inputShape: [2], hiddenSizes: [3, 1] });
  const { output } = network.apply({
    "dense0/kernel": tf.tensor2d(kernel0),
    "dense0/bias": tf.tensor1d(bias0),
    "dense1/kernel": tf.tensor2d(kernel1),
    "dense1/bias": tf.tensor1d(bias1),
  }, { x: tf.tensor2d([[1, 2], [-0.5, 0.25]]) });
  const expected = [[1, 2], [-0.5, 0.25]].flatMap((x) =>
    layer(layer(x, kernel0, bias0).map(Math.tanh), kernel1, bias1)
      .map(Math.tanh)
  );
  assertClose(output, expected, 1e-6);
});

testOnBackends("layer normalisation comes before the activation", () => {
  const network = mlp({
    inputShape: [3],
    hiddenSizes: [3],
    layerNorm: true,
    activation: "relu",
  });
  const { output } = network.apply({
    "dense0/kernel": tf.eye(3),
    "dense0/bias": tf.zeros([3]),
    "dense0/gain": tf.tensor1d([1, 2, 1]),
    "dense0/shift": tf.tensor1d([0, 1, 0]),
  }, { x: tf.tensor2d([[1, 2, 6]]) });
  const deviation = Math.sqrt(14 / 3 + 1e-5); // mean 3, variance 14 / 3
  assertClose(output, [0, Math.max(0, 1 - 2 / deviation), 3 / deviation]);
});

testOnBackends("inputs of more axes are flattened", () => {
  const network = mlp({ inputShape: [2, 3, 4], hiddenSizes: [5] });
  const params = network.init(seededRandom(1));
  assertEquals(params["dense0/kernel"].shape, [24, 5]);
  const { output } = network.apply(params, { x: tf.zeros([7, 2, 3, 4]) });
  assertEquals(output.shape, [7, 5]);
});

testOnBackends("no hidden layer gives the inputs themselves", () => {
  const network = mlp({ inputShape: [2], hiddenSizes: [] });
  assertEquals(network.outputSize, 2);
  const x = tf.tensor2d([[1, 2]]);
  assertClose(network.apply({}, { x }).output, [1, 2]);
});

for (const layerNorm of [false, true]) {
  testOnBackends(`gradients reach all of mlp, layerNorm ${layerNorm}`, () => {
    const network = mlp({ inputShape: [3], hiddenSizes: [4, 4], layerNorm });
    const params = network.init(seededRandom(1));
    const x = tf.tensor2d([[1, -2, 0.5], [0.5, 1, 3]]);
    const apply = (inputs: typeof params) => network.apply(inputs, { x });
    assertGradientsFlow(
      (inputs) => tf.sum(tf.square(tf.add(apply(inputs).output, 0.5))),
      params,
    );
    assertNoLeaks(() => ({ ...apply(params) }));
  });
}
