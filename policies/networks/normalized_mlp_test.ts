import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import { type Params, RandomStream, valueAndGradients } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { testCompiled } from "../testdata/compiled.ts";
import { splitRunning } from "./network.ts";
import { normalizedMlp } from "./normalized_mlp.ts";

await tf.setBackend("cpu");

const SIZES = { inputShape: [3], hiddenSizes: [5, 4] };

function random(seed: number, rows: number, columns: number): tf.Tensor2D {
  const numbers = new Float32Array(rows * columns);
  return tf.tensor2d(new RandomStream(seed).fillNormal(numbers), [
    rows,
    columns,
  ]);
}

/** Replaces running statistics by new ones. */
const withRunning = (params: Params, running: Params = {}) => ({
  ...params,
  ...running,
});

Deno.test("without normalization and dropout it is a multilayer perceptron", () => {
  const network = normalizedMlp(SIZES);
  const params = network.init(new RandomStream(1));
  assertEquals(Object.keys(params), [
    "dense0/kernel",
    "dense0/bias",
    "dense1/kernel",
    "dense1/bias",
  ]);
  const { running } = network.apply(params, {
    x: random(1, 2, 3),
    training: true,
  });
  assertEquals(running, undefined);
});

Deno.test("normalized columns have mean 0 and deviation 1, whatever the inputs", () => {
  const network = normalizedMlp({
    inputShape: [3],
    hiddenSizes: [],
    normalization: "batch",
  });
  const params = network.init(new RandomStream(1));
  const x = tf.add(tf.mul(random(1, 64, 3), [100, 2, 0.5]), [-900, 0, 7]);
  const { output } = network.apply(params, { x, training: true });
  const { mean, variance } = tf.moments(output, 0);
  for (const it of mean.dataSync()) assertAlmostEquals(it, 0, 1e-4);
  for (const it of variance.dataSync()) assertAlmostEquals(it, 1, 1e-2);
});

Deno.test("running statistics approach those of the batches, and act alone", () => {
  const network = normalizedMlp({ ...SIZES, normalization: "batch" });
  let params = network.init(new RandomStream(1));
  const x = tf.add(tf.mul(random(1, 64, 3), 3), 5);
  for (let update = 0; update < 1200; update++) {
    const { running } = network.apply(params, { x, training: true });
    params = withRunning(params, running);
  }
  const { mean, variance } = tf.moments(x, 0);
  const near = (name: string, wanted: tf.Tensor) =>
    params[`running/norm0/${name}`].dataSync().forEach((it, i) =>
      assertAlmostEquals(it, wanted.dataSync()[i], 1e-3)
    );
  near("mean", mean);
  near("variance", variance);
  assertEquals(params["running/norm2/steps"].dataSync()[0], 1200);
  // One row has no statistics of its own; it is as in the batch.
  const inBatch = network.apply(params, { x }).output.arraySync();
  const alone = network.apply(params, { x: tf.slice(x, [7], [1]) });
  assertEquals(alone.running, undefined);
  alone.output.arraySync()[0].forEach((it, i) =>
    assertAlmostEquals(it, inBatch[7][i], 1e-6)
  );
  const trained = network.apply(params, { x, training: true }).output;
  trained.dataSync().forEach((it, i) =>
    assertAlmostEquals(it, inBatch.flat()[i], 0.02)
  );
});

Deno.test("gradients by hand are those of differences, after warm-up too", () => {
  for (const warmupUpdates of [0, 10]) {
    const network = normalizedMlp({
      inputShape: [2],
      hiddenSizes: [],
      normalization: "batch",
      warmupUpdates,
    });
    const params = {
      ...network.init(new RandomStream(1)),
      "norm0/scale": tf.tensor1d([1.5, -0.5]),
      "running/norm0/mean": tf.tensor1d([0.3, -0.2]),
      "running/norm0/variance": tf.tensor1d([2, 0.4]),
    };
    const weights = random(2, 6, 2);
    const loss = (x: tf.Tensor): tf.Scalar =>
      tf.sum(
        tf.mul(
          network.apply(params, { x, training: true }).output,
          weights,
        ),
      );
    const start = random(3, 6, 2).arraySync();
    const found = tf.grad(loss)(tf.tensor2d(start)).arraySync() as number[][];
    // The corrections are constants: differences at them, not through them.
    if (warmupUpdates === 0) {
      assert(found.flat().every(Number.isFinite));
      continue;
    }
    for (const [b, row] of found.entries()) {
      for (const [i, it] of row.entries()) {
        const at = (change: number) => {
          const moved = structuredClone(start);
          moved[b][i] += change;
          return loss(tf.tensor2d(moved)).dataSync()[0];
        };
        assertAlmostEquals(it, (at(0.01) - at(-0.01)) / 0.02, 2e-2);
      }
    }
  }
});

Deno.test("columns that do not vary have finite gradients", () => {
  const network = normalizedMlp({
    ...SIZES,
    normalization: "batch",
    activation: "relu",
    warmupUpdates: 0,
  });
  const params = network.init(new RandomStream(1));
  const { weights, running } = splitRunning(params);
  const x = tf.mul(random(1, 6, 3), [1, 0, 0]);
  // Every unit of the first layer is off.
  weights["dense0/bias"] = tf.fill([5], -1000);
  const { gradients } = valueAndGradients((weights) => {
    const all = { ...weights, ...running };
    const { output } = network.apply(all, { x, training: true });
    return { loss: tf.sum(output) };
  }, weights);
  for (const it of Object.values(gradients)) {
    assert(it.dataSync().every(Number.isFinite));
  }
});

Deno.test("dropout drops units where the uniform numbers are below it", () => {
  const network = normalizedMlp({
    ...SIZES,
    activation: "linear",
    dropout: 0.5,
    hiddenSizes: [4],
  });
  const params = network.init(new RandomStream(1));
  const x = random(1, 2, 3);
  const whole = network.apply(params, { x }).output.arraySync();
  const dropout = tf.tensor2d([[0.4, 0.5, 0.9, 0], [1, 0.49, 0.6, 0.7]]);
  const kept = [[0, 1, 1, 0], [1, 0, 1, 1]];
  const { output } = network.apply(params, { x, dropout });
  output.arraySync().forEach((row, b) =>
    row.forEach((it, i) =>
      assertAlmostEquals(it, whole[b][i] * kept[b][i] * 2, 1e-6)
    )
  );
});

Deno.test("layers are normalized before the activation", () => {
  const network = normalizedMlp({
    inputShape: [3],
    hiddenSizes: [16],
    activation: "linear",
    normalization: "layer",
  });
  const params = network.init(new RandomStream(1));
  const { output } = network.apply(params, { x: random(1, 5, 3) });
  const { mean, variance } = tf.moments(output, 1);
  for (const it of mean.dataSync()) assertAlmostEquals(it, 0, 1e-5);
  for (const it of variance.dataSync()) assertAlmostEquals(it, 1, 1e-3);
  assertEquals(splitRunning(params).running, {});
});

for (const normalization of ["layer", "batch"] as const) {
  const network = normalizedMlp({ ...SIZES, normalization, dropout: 0.1 });
  testCompiled(
    `${normalization} normalization and its gradients`,
    () => ({
      ...network.init(new RandomStream(1)),
      x: random(1, 6, 3),
      dropout: tf.abs(tf.tanh(random(2, 6, 9))),
    }),
    ({ x, dropout, ...params }) => {
      const { weights, running } = splitRunning(params);
      const inputs = { x, dropout: dropout as tf.Tensor2D, training: true };
      const { gradients, aux } = valueAndGradients((weights) => {
        const all = { ...weights, ...running };
        const { output, running: aux } = network.apply(all, inputs);
        return { loss: tf.sum(tf.square(output)), aux };
      }, weights);
      return { ...gradients, ...aux };
    },
  );
}

Deno.test("options out of their range are refused in a line", () => {
  const refused = (options: object, message: string) =>
    assertThrows(
      () => normalizedMlp({ inputShape: [2], ...options }),
      RangeError,
      message,
    );
  refused({ normalization: "bach" }, "Unknown normalization 'bach'");
  for (const dropout of [1, -0.1, NaN]) {
    refused({ dropout }, `a probability of ${dropout}`);
  }
});
