import * as tf from "@tensorflow/tfjs";
import { dense, matMul } from "./_dense.ts";
import { assertClose } from "./testdata/assertions.ts";
import { testOnBackends, values } from "./testdata/backends.ts";
import { seededRandom } from "./testdata/random.ts";
import { heNormal } from "./initializers.ts";

const random = seededRandom(4);
const [X, KERNEL, BIAS, WEIGHTS] = [[5, 3], [3, 4], [1, 4], [5, 4]].map(
  (shape) => ({ shape, data: heNormal()(shape, random) }),
);
const matrix = ({ shape, data }: typeof X) =>
  tf.tensor2d(data, shape as [number, number]);

testOnBackends("dense is the product and the bias, and so its gradient", () => {
  const inputs = [matrix(X), matrix(KERNEL), tf.tensor1d(BIAS.data)];
  const loss = (product: tf.Tensor) =>
    tf.sum(tf.mul(tf.square(product), matrix(WEIGHTS))) as tf.Scalar;
  const ours = tf.valueAndGrads((x, w, b) =>
    loss(dense(x as tf.Tensor2D, w as tf.Tensor2D, b as tf.Tensor1D))
  )(inputs);
  const theirs = tf.valueAndGrads((x, w, b) =>
    loss(tf.add(tf.matMul(x as tf.Tensor2D, w as tf.Tensor2D), b))
  )(inputs);
  assertClose(ours.value, values(theirs.value));
  ours.grads.forEach((grad, i) => assertClose(grad, values(theirs.grads[i])));
});

testOnBackends("matMul is the product, and so its gradient", () => {
  const inputs = [matrix(X), matrix(KERNEL)];
  const loss = (product: tf.Tensor) =>
    tf.sum(tf.mul(tf.square(product), matrix(WEIGHTS))) as tf.Scalar;
  const ours = tf.valueAndGrads((x, w) =>
    loss(matMul(x as tf.Tensor2D, w as tf.Tensor2D))
  )(inputs);
  const theirs = tf.valueAndGrads((x, w) =>
    loss(tf.matMul(x as tf.Tensor2D, w as tf.Tensor2D))
  )(inputs);
  assertClose(ours.value, values(theirs.value));
  ours.grads.forEach((grad, i) => assertClose(grad, values(theirs.grads[i])));
});
