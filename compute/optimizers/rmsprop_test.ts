import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fixture from "../../tests/reference/a2c_update.json" with {
  type: "json",
};
import { selectBackend } from "../backends/select_backend.ts";
import { clipByGlobalNorm } from "../gradients.ts";
import { mapParams, type Params } from "../params.ts";
import { runSteps } from "../testdata/run_steps.ts";
import { rmsprop, rmspropTf1 } from "./rmsprop.ts";

await selectBackend("cpu");

Deno.test("modern RMSProp, plain, centered and with momentum", () => {
  const gradients = [2, -1, 0.5];
  for (const centered of [false, true]) {
    for (const momentum of [0, 0.5]) {
      const epsilon = 1e-3;
      const values = runSteps(
        rmsprop({ centered, momentum, epsilon, decay: 0.9 }),
        gradients,
      );
      let ms = 0, mean = 0, velocity = 0, w = 0;
      gradients.forEach((g, i) => {
        ms = 0.9 * ms + 0.1 * g * g;
        mean = 0.9 * mean + 0.1 * g;
        const variance = centered ? ms - mean * mean : ms;
        velocity = momentum * velocity + g / (Math.sqrt(variance) + epsilon);
        w -= 0.1 * velocity;
        assertAlmostEquals(values[i], w, 1e-4);
      });
    }
  }
});

Deno.test("the state holds a slot for each setting that needs one", () => {
  const optimizer = rmsprop({ centered: true, momentum: 0.5 });
  const state = optimizer.init({ w: tf.zeros([2]) });
  assertEquals(Object.keys(state), ["rms/w", "mean/w", "momentum/w"]);
  assertEquals([...state["rms/w"].dataSync()], [0, 0]);
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

Deno.test("TF1 RMSProp with momentum adds the step before", () => {
  const [w1, w2] = runSteps(rmspropTf1({ momentum: 0.5, epsilon: 0 }), [2, 1]);
  let ms = 1, mom = 0, w = 0;
  const expected = [2, 1].map((g) => {
    ms = 0.99 * ms + 0.01 * g * g;
    mom = 0.5 * mom + 0.1 * g / Math.sqrt(ms);
    return w -= mom;
  });
  assertAlmostEquals(w1, expected[0], 1e-6);
  assertAlmostEquals(w2, expected[1], 1e-6);
});

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
