import { assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { nativeTest, useTensorFlow } from "./testdata/native.ts";

type Arrays = Record<string, { shape: number[]; values: Float32Array }>;

/** Numbers without order, the same for each backend. */
function arrays(shapes: Record<string, number[]>): Arrays {
  let seed = 1;
  const next = () => {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647 - 0.5;
  };
  const result: Arrays = {};
  for (const [name, shape] of Object.entries(shapes)) {
    const size = shape.reduce((a, b) => a * b, 1);
    const values = Float32Array.from({ length: size }, next);
    result[name] = { shape, values };
  }
  return result;
}

type Loss = (p: Record<string, tf.Tensor>) => tf.Scalar;

/** The loss and the gradients by each array on one backend. */
async function gradientsOn(backend: string, inputs: Arrays, loss: Loss) {
  await tf.setBackend(backend);
  return tf.tidy(() => {
    const names = Object.keys(inputs);
    const tensors = names.map((name) =>
      tf.tensor(inputs[name].values.slice(), inputs[name].shape)
    );
    const { value, grads } = tf.valueAndGrads((...xs: tf.Tensor[]) =>
      loss(Object.fromEntries(names.map((name, i) => [name, xs[i]])))
    )(tensors);
    return [value, ...grads].map((t) => ({
      shape: t.shape,
      values: Float32Array.from(t.dataSync()),
    }));
  });
}

async function assertSameAsCpu(inputs: Arrays, loss: Loss): Promise<void> {
  await useTensorFlow();
  const actual = await gradientsOn("tensorflow", inputs, loss);
  const expected = await gradientsOn("cpu", inputs, loss);
  await tf.setBackend("tensorflow");
  expected.forEach(({ shape, values }, k) => {
    assertEquals(actual[k].shape, shape);
    const scale = values.reduce((a, x) => Math.max(a, Math.abs(x)), 1e-3);
    values.forEach((x, i) =>
      assertAlmostEquals(actual[k].values[i], x, 2e-5 * scale)
    );
  });
}

/** Nature's convolutions on small images, so that the cpu backend keeps up. */
const natureCnn: Loss = (p) => {
  const layer = (x: tf.Tensor, w: tf.Tensor, b: tf.Tensor, stride: number) =>
    tf.relu(tf.add(
      tf.conv2d(x as tf.Tensor4D, w as tf.Tensor4D, stride, "valid"),
      b,
    ));
  let h = layer(p.x, p.w1, p.b1, 4);
  h = layer(h, p.w2, p.b2, 2);
  h = layer(h, p.w3, p.b3, 1);
  const flat = tf.reshape(h, [p.x.shape[0], -1]) as tf.Tensor2D;
  const logits = tf.matMul(flat, p.head as tf.Tensor2D);
  return tf.neg(tf.mean(tf.logSoftmax(logits).slice([0, 0], [-1, 1])));
};

nativeTest("gradients of the Nature network are those of cpu", async () => {
  await assertSameAsCpu(
    arrays({
      x: [2, 44, 44, 2],
      w1: [8, 8, 2, 6],
      b1: [6],
      w2: [4, 4, 6, 5],
      b2: [5],
      w3: [3, 3, 5, 4],
      b3: [4],
      head: [16, 3],
    }),
    natureCnn,
  );
});

/** Three steps of an LSTM whose state is reset by masks. */
const lstm: Loss = (p) => {
  const steps = tf.unstack(p.x, 1) as tf.Tensor2D[];
  const masks = tf.unstack(tf.tensor2d([[1, 0, 0], [0, 0, 1]]), 1);
  let c: tf.Tensor = p.c;
  let h: tf.Tensor = p.h;
  const outputs: tf.Tensor[] = [];
  steps.forEach((x, t) => {
    const keep = tf.expandDims(tf.sub(1, masks[t]), 1);
    c = tf.mul(c, keep);
    h = tf.mul(h, keep);
    const gates = tf.add(
      tf.add(
        tf.matMul(x, p.wx as tf.Tensor2D),
        tf.matMul(h as tf.Tensor2D, p.wh as tf.Tensor2D),
      ),
      p.b,
    );
    const [i, f, o, u] = tf.split(gates, 4, 1);
    c = tf.add(tf.mul(tf.sigmoid(f), c), tf.mul(tf.sigmoid(i), tf.tanh(u)));
    h = tf.mul(tf.sigmoid(o), tf.tanh(c));
    outputs.push(h);
  });
  return tf.mean(tf.square(tf.stack(outputs, 1)));
};

nativeTest("gradients of an LSTM are those of cpu", async () => {
  await assertSameAsCpu(
    arrays({
      x: [2, 3, 5],
      c: [2, 4],
      h: [2, 4],
      wx: [5, 16],
      wh: [4, 16],
      b: [16],
    }),
    lstm,
  );
});

nativeTest(
  "gradients through the rest that losses use are those of cpu",
  async () => {
    await assertSameAsCpu(arrays({ a: [6, 4], b: [4] }), ({ a, b }) => {
      const index = tf.tensor1d([0, 3, 1, 1, 2, 0], "int32");
      const picked = tf.sum(tf.mul(tf.logSoftmax(a), tf.oneHot(index, 4)), 1);
      const { mean, variance } = tf.moments(a, 1, true);
      const normal = tf.div(tf.sub(a, mean), tf.sqrt(tf.add(variance, 1e-5)));
      const clipped = tf.minimum(tf.clipByValue(tf.exp(b), 0.8, 1.2), b);
      const pooled = tf.concat([tf.max(normal, 1), tf.gather(b, index)], 0);
      const chosen = tf.sub(tf.softplus(pooled), tf.relu(pooled));
      return tf.add(
        tf.add(tf.mean(picked), tf.sum(tf.prod(tf.tile(clipped, [1])))),
        tf.mean(tf.elu(chosen)),
      ) as tf.Scalar;
    });
  },
);
