import * as tf from "@tensorflow/tfjs";
import { assertBackendsAgree } from "../../testdata/backends_agree.ts";

function convolve(
  x: tf.Tensor,
  { w, b, stride }: { w: tf.Tensor; b: tf.Tensor; stride: number },
): tf.Tensor {
  const y = tf.conv2d(x as tf.Tensor4D, w as tf.Tensor4D, stride, "valid");
  return tf.relu(tf.add(y, b));
}

Deno.test("gradients of the Nature network on frames 84x84x4 are those of cpu", () => {
  const frames = tf.util.sizeFromShape([84, 84, 4]);
  return assertBackendsAgree({
    shapes: [
      [8, 8, 4, 32],
      [32],
      [4, 4, 32, 64],
      [64],
      [3, 3, 64, 64],
      [64],
      [3136, 7],
    ],
    // The scale of the usual initialisation.
    of: (value) => 0.05 * value,
    op: (w1, b1, w2, b2, w3, b3, head) => {
      const x = tf.reshape(
        tf.sin(tf.range(0, frames, 1, "float32")),
        [1, 84, 84, 4],
      );
      let h = convolve(x, { w: w1, b: b1, stride: 4 });
      h = convolve(h, { w: w2, b: b2, stride: 2 });
      h = convolve(h, { w: w3, b: b3, stride: 1 });
      const flat = tf.reshape(h, [1, -1]) as tf.Tensor2D;
      return tf.logSoftmax(tf.matMul(flat, head as tf.Tensor2D));
    },
    tolerance: 1e-4,
  });
});

Deno.test("gradients through an LSTM whose state is reset are those of cpu", () =>
  assertBackendsAgree({
    shapes: [[3, 6, 5], [3, 4], [3, 4], [5, 16], [4, 16], [16]],
    op: (x, c, h, wx, wh, b) => {
      const outputs = (tf.unstack(x, 1) as tf.Tensor2D[]).map((step, t) => {
        const keep = t === 3 ? 0 : 1;
        const gates = tf.add(
          tf.add(
            tf.matMul(step, wx as tf.Tensor2D),
            tf.matMul(tf.mul(h, keep) as tf.Tensor2D, wh as tf.Tensor2D),
          ),
          b,
        );
        const [i, f, o, u] = tf.split(gates, 4, 1);
        c = tf.add(
          tf.mul(tf.sigmoid(f), tf.mul(c, keep)),
          tf.mul(tf.sigmoid(i), tf.tanh(u)),
        );
        h = tf.mul(tf.sigmoid(o), tf.tanh(c));
        return h;
      });
      return tf.stack(outputs, 1);
    },
  }));
