import { assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "./backend.ts";
import { rmsprop } from "./rmsprop.ts";
import { runSteps } from "./testdata/run_steps.ts";

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
