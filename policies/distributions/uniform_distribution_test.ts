import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { uniformDistribution } from "./uniform_distribution.ts";
import { assertClose } from "../testdata/assertions.ts";
import { testOnBackends, values } from "../testdata/backends.ts";
import { testContinuous } from "../testdata/continuous_properties.ts";
import { testAnyDistribution } from "../testdata/distribution_properties.ts";

testAnyDistribution("uniformDistribution(2)", uniformDistribution(2));
testAnyDistribution(
  "uniformDistribution(1) as a number",
  uniformDistribution(1, { low: 2, high: 5, shape: [] }),
);

for (const size of [1, 2]) {
  testContinuous(`a uniform distribution over ${size}`, {
    distribution: uniformDistribution(size),
    parameters: [],
    squash: false,
    reach: 1,
  });
}

testOnBackends("nothing is outside of the bounds", () => {
  const distribution = uniformDistribution(2, { low: 0, high: 4 });
  const actions = tf.tensor2d([[0, 4], [-0.01, 1], [1, 4.01]]);
  const logProb = values(distribution.logProb(tf.zeros([3, 0]), actions));
  assertClose(logProb.slice(0, 1), [-2 * Math.log(4)]);
  assertEquals(logProb.slice(1), [-Infinity, -Infinity]);
  const samples = distribution.sample(
    tf.zeros([1, 0]),
    tf.tensor2d([[0, 0.75]]),
  );
  assertEquals(values(samples), [0, 3]);
  assertEquals(values(distribution.mode(tf.zeros([1, 0]))), [2, 2]);
});

Deno.test("sizes and bounds that do not fit are refused", () => {
  assertThrows(() => uniformDistribution(0), RangeError, "over 0 numbers");
  for (const [low, high] of [[1, 1], [2, 1], [0, Infinity], [NaN, 1]]) {
    assertThrows(
      () => uniformDistribution(1, { low, high }),
      RangeError,
      `from ${low} to ${high}`,
    );
  }
});
