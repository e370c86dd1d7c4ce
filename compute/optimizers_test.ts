import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fixture from "../tests/reference/a2c_update.json" with {
  type: "json",
};
import { selectBackend } from "./backends/select_backend.ts";
import { clipByGlobalNorm } from "./gradients.ts";
import {
  adam,
  adamTf1,
  createOptimizer,
  descend,
  type OptimizerName,
  rmsprop,
  rmspropTf1,
  sgd,
} from "./optimizers.ts";
import { disposeParams, mapParams, type Params } from "./params.ts";
import { runSteps } from "./testdata/run_steps.ts";

await selectBackend("cpu");

Deno.test("descent, plain and with momentum", () => {
  const gradients = [1, -2, 0.5];
  for (const momentum of [0, 0.9]) {
    const values = runSteps(sgd({ momentum }), gradients);
    let velocity = 0, w = 0;
    gradients.forEach((g, i) => {
      velocity = momentum * velocity + g;
      w -= 0.1 * velocity;
      assertAlmostEquals(values[i], w, 1e-6);
    });
  }
});

const GRADIENTS = [2, -1, 0.5, 0.25];

Deno.test("Adam follows its published recursion", () => {
  for (const epsilon of [1e-8, 0.5]) {
    const values = runSteps(adam({ epsilon }), GRADIENTS);
    let m = 0, v = 0, w = 0;
    GRADIENTS.forEach((g, i) => {
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      const mHat = m / (1 - 0.9 ** (i + 1));
      const vHat = v / (1 - 0.999 ** (i + 1));
      w -= 0.1 * mHat / (Math.sqrt(vHat) + epsilon);
      assertAlmostEquals(values[i], w, 1e-6);
    });
  }
});

Deno.test("the state counts the steps", () => {
  const optimizer = adam();
  const params = { w: tf.scalar(0) };
  const state = optimizer.init(params);
  assertEquals(Object.keys(state), ["m/w", "v/w", "step"]);
  const after = optimizer.apply(params, { w: tf.scalar(1) }, {
    state,
    learningRate: tf.scalar(0.1),
  });
  assertEquals(after.state.step.dataSync()[0], 1);
  assertEquals(state.step.dataSync()[0], 0);
});

Deno.test("TF1's Adam corrects the rate and not the root", () => {
  for (const epsilon of [1e-8, 0.5]) {
    const values = runSteps(adamTf1({ epsilon }), GRADIENTS);
    let m = 0, v = 0, w = 0;
    GRADIENTS.forEach((g, i) => {
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      const rate = 0.1 * Math.sqrt(1 - 0.999 ** (i + 1)) / (1 - 0.9 ** (i + 1));
      w -= rate * m / (Math.sqrt(v) + epsilon);
      assertAlmostEquals(values[i], w, 1e-6);
    });
  }
});

Deno.test("modern RMSProp has its epsilon outside of the root", () => {
  const gradients = [2, -1, 0.5], epsilon = 1e-3;
  const optimizer = rmsprop({ epsilon, decay: 0.9 });
  const state = optimizer.init({ w: tf.zeros([2]) });
  assertEquals(Object.keys(state), ["rms/w"]);
  assertEquals([...state["rms/w"].dataSync()], [0, 0]);
  const values = runSteps(optimizer, gradients);
  let ms = 0, w = 0;
  gradients.forEach((g, i) => {
    ms = 0.9 * ms + 0.1 * g * g;
    w -= 0.1 * g / (Math.sqrt(ms) + epsilon);
    assertAlmostEquals(values[i], w, 1e-4);
  });
});

function toParams(arrays: unknown): Params {
  const entries = Object.entries(arrays as Record<string, number[]>);
  return Object.fromEntries(
    entries.map(([path, values]) => [path, tf.tensor(values)]),
  );
}

function assertClose(actual: Params, expected: unknown): void {
  const wanted = toParams(expected);
  for (const path in wanted) {
    const values = actual[path].dataSync();
    wanted[path].dataSync().forEach((it, i) =>
      assertAlmostEquals(values[i], it, 1e-5 * (1 + Math.abs(it)), path)
    );
  }
}

for (const { name, inputs, expected } of fixture.cases) {
  Deno.test(`TF1 RMSProp gives the original's weights: ${name}`, () => {
    const { alpha, epsilon, max_grad_norm: maxNorm } = inputs.hparams;
    const optimizer = rmspropTf1({ decay: alpha, epsilon });
    let params = toParams(inputs.params);
    let state = optimizer.init(params);
    expected.after.forEach((after, k) => {
      const before = toParams(after.grads_before_clip);
      const { gradients, norm } = clipByGlobalNorm(before, maxNorm);
      assertAlmostEquals(norm.dataSync()[0], after.grad_norm, 1e-4);
      const learningRate = tf.scalar(inputs.batches[k].lr);
      ({ params, state } = optimizer.apply(params, gradients, {
        state,
        learningRate,
      }));
      assertClose(params, after.params);
      assertClose(
        mapParams(params, (_, path) => state[`rms/${path}`]),
        after.rms,
      );
    });
  });
}

Deno.test("the state mirrors the parameters and bad settings are refused", () => {
  const params = { "pi/w": tf.zeros([2, 3]), "pi/b": tf.zeros([3]) };
  const state = rmspropTf1().init(params);
  assertEquals(Object.keys(state), ["rms/pi/w", "rms/pi/b"]);
  assertEquals(state["rms/pi/w"].shape, [2, 3]);
  assert(state["rms/pi/b"].dataSync().every((it) => it === 1));
  assertThrows(
    () => rmspropTf1({ decay: 1 }),
    RangeError,
    "Cannot make an optimizer with decay = 1: expected a number at least 0 and below 1",
  );
});

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

Deno.test("a step is clipped to a norm, which is told, only where one is given", () => {
  const params = { w: tf.tensor1d([3, 4]) };
  const optimizer = sgd(), slots = optimizer.init(params);
  const stepOf = (maxGradNorm?: number | null) =>
    descend(
      ({ w }) => ({ loss: tf.div(tf.sum(tf.square(w)), 2) }),
      { params, slots },
      { optimizer, learningRate: tf.scalar(1), maxGradNorm },
    );
  for (const norm of [undefined, null]) {
    assertEquals(stepOf(norm).params.w.arraySync(), [0, 0]);
  }
  const clipped = stepOf(2.5);
  assertEquals(clipped.params.w.arraySync(), [1.5, 2]);
  assertEquals([stepOf(null), clipped].map((it) => it.gradNorm?.arraySync()), [
    5,
    5,
  ]);
  assertEquals(stepOf().gradNorm, undefined);
});
