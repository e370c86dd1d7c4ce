import * as tf from "@tensorflow/tfjs";
import { dense, denseLayer } from "./_dense.ts";
import { assertClose } from "./testdata/assertions.ts";
import { testOnBackends, values } from "./testdata/backends.ts";

testOnBackends("dense is the product and the bias", () => {
  const y = dense(
    tf.tensor2d([[1, 2], [-1, 0.5]]),
    tf.tensor2d([[3, 0, 1], [-1, 4, 2]]),
    tf.tensor1d([0.5, -0.5, 10]),
  );
  assertClose(y, [1.5, 7.5, 15, -3, 1.5, 10]);
});

testOnBackends("the gradient of dense is that of its formula", () => {
  const x = tf.tensor2d([[1, 2], [-1, 0.5]]);
  const dy = tf.tensor2d([[1, -2, 3], [0.5, 0, -1]]);
  const params = {
    "layer/kernel": tf.tensor2d([[3, 0, 1], [-1, 4, 2]]),
    "layer/bias": tf.tensor1d([0.5, -0.5, 10]),
  };
  const [dx, dKernel, dBias] = tf.grads((x, kernel, bias) =>
    tf.sum(tf.mul(
      dy,
      denseLayer(
        { "layer/kernel": kernel, "layer/bias": bias },
        "layer",
        x as tf.Tensor2D,
      ),
    ))
  )([x, params["layer/kernel"], params["layer/bias"]]);
  assertClose(dx, [6, -3, 0.5, -2.5]);
  assertClose(dKernel, [0.5, -2, 4, 2.25, -4, 5.5]);
  assertClose(dBias, [1.5, -2, 2]);
  assertClose(values(tf.sum(dBias)), [1.5]);
});
