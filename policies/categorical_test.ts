import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { categorical, catEntropy, catEntropySoftmax } from "./categorical.ts";
import { assertClose } from "./testdata/assertions.ts";
import { testOnBackends, values } from "./testdata/backends.ts";
import { testFiniteDistribution } from "./testdata/distribution_properties.ts";

interface EntropyCase {
  inputs: { logits: number[][] };
  expected: {
    softmax: number[][];
    cat_entropy: number[];
    cat_entropy_softmax_of_softmax: number[];
    neglogp_all: number[][];
  };
}

const reference = JSON.parse(
  await Deno.readTextFile(
    new URL("../tests/reference/lstm_entropy_ortho.json", import.meta.url),
  ),
);

testFiniteDistribution("categorical(4)", categorical(4), [0, 1, 2, 3]);
testFiniteDistribution(
  "categorical(3) from -1",
  categorical(3, { start: -1 }),
  [-1, 0, 1],
);
testFiniteDistribution("categorical(1)", categorical(1), [0]);

(reference.entropy as EntropyCase[]).forEach(({ inputs, expected }, i) => {
  testOnBackends(`entropies and log-probabilities of reference ${i}`, () => {
    const logits = tf.tensor2d(inputs.logits);
    const [rows, n] = logits.shape;
    assertClose(catEntropy(logits), expected.cat_entropy);
    assertClose(categorical(n).entropy(logits), expected.cat_entropy);
    assertClose(
      catEntropySoftmax(tf.tensor2d(expected.softmax)),
      expected.cat_entropy_softmax_of_softmax,
    );
    for (let action = 0; action < n; action++) {
      const actions = tf.fill([rows], action, "int32");
      const negative = tf.neg(categorical(n).logProb(logits, actions));
      assertClose(negative, expected.neglogp_all.map((row) => row[action]));
    }
  });
});

testOnBackends("noise of exactly 0 or 1 never draws impossible actions", () => {
  const distribution = categorical(3);
  const logits = tf.tensor2d([[0, -1e4, 1e4], [1e4, 0, -1e4], [-1e4, 0, -1e4]]);
  for (const noise of [0, 1]) {
    for (let column = 0; column < 3; column++) {
      const row = [0, 1, 2].map((i) => i === column ? noise : 0.5);
      const actions = distribution.sample(logits, tf.tensor2d([row, row, row]));
      assertEquals(values(actions), [2, 0, 1]);
    }
  }
});

Deno.test("a categorical distribution needs a number of actions", () => {
  for (const n of [0, -1, 1.5, NaN]) {
    assertThrows(
      () => categorical(n),
      RangeError,
      `Cannot make a categorical distribution over ${n} actions`,
    );
  }
});
