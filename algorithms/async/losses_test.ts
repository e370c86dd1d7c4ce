import { assertAlmostEquals, assertEquals } from "@std/assert";
import { valueAndGradients } from "@bellman/compute";
import { valuesOfActions } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { a3cLoss, qLoss } from "./losses.ts";

await tf.setBackend("cpu");

Deno.test("the gradient of the Q loss is -2 (y - Q) at the action taken, 0 elsewhere", () => {
  const actions = tf.tensor1d([1, 0, 1], "int32");
  const { gradients } = valueAndGradients(({ q }) => ({
    loss: qLoss(valuesOfActions(q as tf.Tensor2D, actions), {
      targets: tf.tensor1d([5, 1, 100]),
      weights: tf.tensor1d([1, 1, 0]),
    }),
  }), { q: tf.tensor2d([[1, 2], [3, 4], [5, 6]]) });
  assertEquals(gradients.q.arraySync(), [[0, -6], [4, 0], [0, 0]]);
});

Deno.test("a short window has the loss of A3C that its steps alone have", () => {
  const lossOf = (length: number) => {
    const numbers = (...all: number[]) => tf.tensor1d(all.slice(0, length));
    const values = numbers(0.5, 1.5, 7, -3);
    const returns = numbers(2, -1, 8, 1);
    const { loss, ...parts } = a3cLoss({
      logProb: numbers(-0.3, -1.2, -9, -9),
      entropy: numbers(0.6, 0.4, 9, 9),
      values,
      advantages: tf.sub(returns, values),
      returns,
      weights: numbers(1, 1, 0, 0),
    }, { entropyCoefficient: 0.1, valueCoefficient: 0.25 });
    return [loss, ...Object.values(parts)].map((it) => it.arraySync());
  };
  const short = lossOf(2), padded = lossOf(4);
  short.forEach((it, i) => assertAlmostEquals(padded[i], it, 1e-6));
  const policy = 0.3 * 1.5 + 1.2 * -2.5, value = 1.5 ** 2 + 2.5 ** 2;
  assertAlmostEquals(short[0], policy - 0.1 * 1 + 0.25 * value, 1e-6);
});
