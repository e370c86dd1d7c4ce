import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { disposeParams } from "../params.ts";
import { createOptimizer, type OptimizerName } from "./create_optimizer.ts";

await selectBackend("cpu");

const NAMES: OptimizerName[] = [
  "rmsprop_tf1",
  "rmsprop",
  "adam_tf1",
  "adam",
  "sgd",
];

for (const name of NAMES) {
  Deno.test(`${name} descends, is pure and leaves nothing behind`, () => {
    const optimizer = createOptimizer(name);
    const gradient = { w: tf.tensor1d([1, -1]), b: tf.scalar(2) };
    const params = { w: tf.tensor1d([0, 0]), b: tf.scalar(0) };
    const state = optimizer.init(params);
    const learningRate = tf.scalar(0.01);
    const step = () =>
      optimizer.apply(params, gradient, { state, learningRate });
    const first = step(), second = step();
    assertEquals(first.params.w.dataSync(), second.params.w.dataSync());
    assertEquals([...params.w.dataSync()], [0, 0]);
    const [down, up] = first.params.w.dataSync();
    assertEquals([Math.sign(down), Math.sign(up)], [-1, 1]);
    assertEquals(first.params.b.shape, []);
    assertEquals(Object.keys(first.state), Object.keys(state));
    const before = tf.memory().numTensors;
    const third = step();
    disposeParams(third.params, third.state);
    assertEquals(tf.memory().numTensors, before);
  });
}

Deno.test("an unknown name is one line with the nearest", () => {
  assertThrows(
    () => createOptimizer("rmsprob" as "rmsprop"),
    RangeError,
    "Unknown optimizer 'rmsprob': did you mean 'rmsprop'?",
  );
});
