import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { bernoulli } from "./bernoulli.ts";
import { assertClose } from "./testdata/assertions.ts";
import { testOnBackends, values } from "./testdata/backends.ts";
import { testFiniteDistribution } from "./testdata/distribution_properties.ts";

testFiniteDistribution(
  "bernoulli(2)",
  bernoulli(2),
  [[0, 0], [0, 1], [1, 0], [1, 1]],
);

testOnBackends("probabilities are the logistic function of the logits", () => {
  const logits = [-3, -0.5, 0, 2];
  const ones = tf.ones([4, 1], "int32");
  const logProb = bernoulli(1).logProb(tf.tensor2d(logits, [4, 1]), ones);
  assertClose(
    logProb,
    logits.map((l) => -Math.log1p(Math.exp(-l))),
    1e-6,
  );
});

testOnBackends("impossible numbers are never drawn", () => {
  const logits = tf.tensor2d([[-1e4, 1e4]]);
  for (const noise of [0, 0.5, 1 - 2 ** -24]) {
    const drawn = bernoulli(2).sample(
      logits,
      tf.fill([1, 2], noise) as tf.Tensor2D,
    );
    assertEquals(values(drawn), [0, 1]);
  }
});

Deno.test("a Bernoulli distribution needs numbers", () => {
  assertThrows(
    () => bernoulli(0),
    RangeError,
    "Cannot make a Bernoulli distribution over 0 numbers",
  );
});
