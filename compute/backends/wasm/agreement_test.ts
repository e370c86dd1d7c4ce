/** What losses, distributions and networks use, on wasm beside cpu. */
import * as tf from "@tensorflow/tfjs";
import {
  type AgreementCase,
  assertBackendsAgree,
} from "../../testdata/backends_agree.ts";

const X = [4, 5], ROW = [5];
const positive = (x: number) => Math.abs(x) + 0.1;
const inside = (x: number) => 0.95 * Math.tanh(x);
const large = (x: number) => 40 * x;

function unary(
  op: (x: tf.Tensor) => tf.Tensor,
  of?: AgreementCase["of"],
): AgreementCase {
  return { shapes: [X], op, of };
}

/** Without broadcasting, which the gradients of these cannot do anywhere. */
function alike(op: (x: tf.Tensor, y: tf.Tensor) => tf.Tensor): AgreementCase {
  return { shapes: [X, X], op };
}

function binary(
  op: (x: tf.Tensor, y: tf.Tensor) => tf.Tensor,
  of?: AgreementCase["of"],
): AgreementCase {
  return { shapes: [X, ROW], op, of };
}

const CASES: Record<string, AgreementCase> = {
  abs: unary(tf.abs),
  atanh: unary(tf.atanh, inside),
  clipped: unary((x) => tf.clipByValue(x, -1, 1)),
  cumprod: { ...unary((x) => tf.cumprod(x, 1), positive), valueOnly: true },
  cumsum: unary((x) => tf.cumsum(x, 1)),
  "cumsum, exclusive and reversed": unary((x) => tf.cumsum(x, 1, true, true)),
  elu: unary(tf.elu),
  erf: unary(tf.erf),
  exp: unary(tf.exp),
  expm1: unary(tf.expm1),
  leakyRelu: unary((x) => tf.leakyRelu(x, 0.1)),
  log: unary(tf.log, positive),
  log1p: unary(tf.log1p, positive),
  logSigmoid: unary(tf.logSigmoid),
  "logSigmoid of large numbers": unary(tf.logSigmoid, large),
  logSoftmax: unary((x) => tf.logSoftmax(x)),
  "logSoftmax of large numbers": unary((x) => tf.logSoftmax(x), large),
  logSumExp: unary((x) => tf.logSumExp(x, 1)),
  max: unary((x) => tf.max(x, 1)),
  mean: unary((x) => tf.mean(x, 0)),
  min: unary((x) => tf.min(x, 1)),
  norm: unary((x) => tf.norm(x)),
  "one-hot choice": unary((x) =>
    tf.sum(tf.mul(x, tf.oneHot(tf.tensor1d([1, 0, 4, 2], "int32"), 5)), 1)
  ),
  prod: unary((x) => tf.prod(x, 1)),
  reciprocal: unary(tf.reciprocal, positive),
  relu: unary(tf.relu),
  rsqrt: unary(tf.rsqrt, positive),
  selu: unary(tf.selu),
  sigmoid: unary(tf.sigmoid),
  slice: unary((x) => tf.slice(x, [1, 2], [2, 2])),
  softmax: unary((x) => tf.softmax(x)),
  softplus: unary(tf.softplus),
  "softplus of large numbers": unary(tf.softplus, large),
  sqrt: unary(tf.sqrt, positive),
  square: unary(tf.square),
  tanh: unary(tf.tanh),
  tile: unary((x) => tf.tile(x, [2, 3])),
  topk: { ...unary((x) => tf.topk(x, 3).values), valueOnly: true },
  transpose: unary((x) => tf.transpose(x)),
  unstack: unary((x) => tf.mul(...tf.unstack(x, 1).slice(1, 3) as Pair)),
  add: binary(tf.add),
  concat: binary((x, y) => tf.concat([x, tf.expandDims(y)], 0)),
  div: binary(tf.div, positive),
  layerNorm: binary((x, scale) => {
    const { mean, variance } = tf.moments(x, 1, true);
    const deviation = tf.sqrt(tf.add(variance, 1e-5));
    return tf.mul(tf.div(tf.sub(x, mean), deviation), scale);
  }),
  maximum: alike(tf.maximum),
  minimum: alike(tf.minimum),
  mul: binary(tf.mul),
  pow: binary(tf.pow, positive),
  squaredDifference: alike(tf.squaredDifference),
  sub: binary(tf.sub),
  where: binary((x, y) => {
    const mask = tf.cast(tf.tensor2d([[1], [0], [0], [1]]), "bool");
    return tf.where(tf.broadcastTo(mask, X), x, tf.mul(x, y));
  }),
  matMul: {
    shapes: [[4, 5], [5, 3]],
    op: (x, y) => tf.matMul(x as tf.Tensor2D, y as tf.Tensor2D),
  },
  avgPool: {
    shapes: [[2, 6, 6, 3]],
    op: (x) => tf.avgPool(x as tf.Tensor4D, 2, 2, "valid"),
  },
  conv2dTranspose: {
    shapes: [[2, 4, 4, 3], [3, 3, 2, 3]],
    op: (x, w) =>
      tf.conv2dTranspose(
        x as tf.Tensor4D,
        w as tf.Tensor4D,
        [2, 8, 8, 2],
        2,
        "same",
      ),
  },
};

type Pair = [tf.Tensor, tf.Tensor];

for (const [name, it] of Object.entries(CASES)) {
  Deno.test(`${name} on wasm is that of cpu`, () => assertBackendsAgree(it));
}
