import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import {
  cnn,
  cnnSmall,
  type ConvLayer,
  convOnly,
  mlp,
} from "./feed_forward.ts";
import {
  assertClose,
  assertGradientsFlow,
  assertNoLeaks,
} from "../testdata/assertions.ts";
import { testOnBackends, values } from "../testdata/backends.ts";
import { seededRandom } from "../testdata/random.ts";
import { glorotUniform } from "./initializers.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

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

testOnBackends("gradients reach all of mlp", () => {
  const network = mlp({ inputShape: [3], hiddenSizes: [4, 4] });
  const params = network.init(seededRandom(1));
  const x = tf.tensor2d([[1, -2, 0.5], [0.5, 1, 3]]);
  const apply = (inputs: typeof params) => network.apply(inputs, { x });
  assertGradientsFlow(
    (inputs) => tf.sum(tf.square(tf.add(apply(inputs).output, 0.5))),
    params,
  );
  assertNoLeaks(() => ({ ...apply(params) }));
});

Deno.test("the named networks have the layers of baselines", async () => {
  await tf.setBackend("cpu");
  tf.tidy(() => {
    const shapes = (params: Record<string, tf.Tensor>) =>
      Object.fromEntries(
        Object.entries(params).map(([path, { shape }]) => [path, shape]),
      );
    const random = seededRandom(1);
    const kernelInitializer = glorotUniform(); // orthogonal takes seconds here
    assertEquals(
      shapes(cnn({ inputShape: [84, 84, 4], kernelInitializer }).init(random)),
      {
        "conv0/kernel": [8, 8, 4, 32],
        "conv0/bias": [32],
        "conv1/kernel": [4, 4, 32, 64],
        "conv1/bias": [64],
        "conv2/kernel": [3, 3, 64, 64],
        "conv2/bias": [64],
        "dense0/kernel": [7 * 7 * 64, 512],
        "dense0/bias": [512],
      },
    );
    assertEquals(
      shapes(cnnSmall({ inputShape: [84, 84, 1] }).init(random)),
      {
        "conv0/kernel": [8, 8, 1, 8],
        "conv0/bias": [8],
        "conv1/kernel": [4, 4, 8, 16],
        "conv1/bias": [16],
        "dense0/kernel": [9 * 9 * 16, 128],
        "dense0/bias": [128],
      },
    );
    const flat = convOnly({ inputShape: [84, 84, 1] });
    assertEquals(flat.outputSize, 11 * 11 * 64);
    assertEquals(Object.keys(flat.init(random)).length, 6);
  });
});

testOnBackends("a convolution is the sum over its windows", () => {
  const random = seededRandom(2);
  const image = glorotUniform()([5, 4, 2], random);
  const kernel = glorotUniform()([3, 2, 2, 3], random).slice(0, 2 * 2 * 2 * 3);
  const expected: number[] = [];
  for (let row = 0; row + 2 <= 5; row += 2) {
    for (let column = 0; column + 2 <= 4; column += 2) {
      for (let f = 0; f < 3; f++) {
        let sum = 0.25;
        for (let i = 0; i < 8; i++) {
          const [dy, dx, c] = [i >> 2, (i >> 1) & 1, i & 1];
          sum += image[((row + dy) * 4 + column + dx) * 2 + c] *
            kernel[i * 3 + f];
        }
        expected.push(Math.max(0, sum));
      }
    }
  }
  const network = convOnly({
    inputShape: [5, 4, 2],
    convLayers: [[3, 2, 2]],
    padding: "valid",
  });
  assertEquals(network.outputSize, 2 * 2 * 3);
  const { output } = network.apply({
    "conv0/kernel": tf.tensor4d(kernel, [2, 2, 2, 3]),
    "conv0/bias": tf.fill([3], 0.25),
  }, { x: tf.tensor4d(image, [1, 5, 4, 2]) });
  assertClose(output, expected);
});

const LAYERS: readonly ConvLayer[] = [[3, 3, 2], [4, 2, 1]];

for (const padding of ["valid", "same"] as const) {
  testOnBackends(`gradients reach all of a cnn, padding ${padding}`, () => {
    const inputShape = [9, 8, 2];
    const network = cnn({
      inputShape,
      convLayers: LAYERS,
      denseSize: 6,
      padding,
      activation: "elu",
    });
    const random = seededRandom(1);
    const params = network.init(random);
    const x = tf.tensor4d(glorotUniform()([2, 9, 8, 2], random), [2, 9, 8, 2]);
    assertEquals(network.apply(params, { x }).output.shape, [2, 6]);
    assertGradientsFlow(
      (inputs) => tf.sum(tf.square(network.apply(inputs, { x }).output)),
      params,
    );
    assertNoLeaks(() => ({ ...network.apply(params, { x }) }));
  });
}

testOnBackends("the output size is that of the features", () => {
  for (const padding of ["valid", "same"] as const) {
    const network = convOnly({
      inputShape: [9, 8, 2],
      convLayers: LAYERS,
      padding,
    });
    const params = network.init(seededRandom(1));
    const { output } = network.apply(params, { x: tf.ones([1, 9, 8, 2]) });
    assertEquals(output.shape, [1, network.outputSize]);
    assertEquals(values(output).length, network.outputSize);
  }
});

Deno.test("inputs that are not images are refused", () => {
  assertRefused({
    "RangeError: Cannot convolve inputs of shape [4]": () =>
      cnn({ inputShape: [4] }),
    "RangeError: Cannot convolve images of 20x84 pixels": () =>
      cnn({ inputShape: [20, 84, 4] }),
  });
});
