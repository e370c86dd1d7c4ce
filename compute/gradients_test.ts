import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "./backends/select_backend.ts";
import {
  clipByGlobalNorm,
  globalNorm,
  valueAndGradients,
} from "./gradients.ts";
import { disposeParams } from "./params.ts";

for (const backend of ["cpu", "wasm"] as const) {
  Deno.test(`${backend}: loss, gradients and further results`, async () => {
    await selectBackend(backend);
    const params = { w: tf.tensor2d([[1, 2], [3, 4]]), unused: tf.scalar(7) };
    const { loss, aux, gradients } = valueAndGradients(({ w }) => {
      const rows = tf.sum(tf.square(w), 1);
      return { loss: tf.mean(rows) as tf.Scalar, aux: { rows } };
    }, params);
    assertEquals(loss.dataSync()[0], 15);
    assertEquals([...aux.rows.dataSync()], [5, 25]);
    assertEquals([...gradients.w.dataSync()], [1, 2, 3, 4]);
    assertEquals([...gradients.unused.dataSync()], [0]);
    assertEquals(Object.keys(gradients), ["w", "unused"]);
  });

  Deno.test(`${backend}: nothing is left behind`, async () => {
    await selectBackend(backend);
    const params = { w: tf.tensor1d([1, 2, 3]) };
    const once = (): void => {
      const { loss, aux, gradients } = valueAndGradients(({ w }) => {
        const squares = tf.square(w);
        return { loss: tf.sum(squares) as tf.Scalar, aux: { squares, w } };
      }, params);
      disposeParams({ loss }, aux, gradients);
    };
    once();
    const before = tf.memory().numTensors;
    for (let i = 0; i < 1000; i++) once();
    assertEquals(tf.memory().numTensors, before);
    assertEquals(params.w.isDisposed, false);
    params.w.dispose();
  });
}

Deno.test("gradients of a network agree with finite differences", async () => {
  await selectBackend("cpu");
  const x = tf.tensor2d([[0.3, -0.2], [0.1, 0.5]]);
  const params = {
    kernel: tf.tensor2d([[0.2, -0.4], [0.7, 0.1]]),
    bias: tf.tensor1d([0.1, -0.3]),
  };
  const loss = (p: Record<string, tf.Tensor>) => ({
    loss: tf.mean(
      tf.square(tf.tanh(tf.add(tf.matMul(x, p.kernel as tf.Tensor2D), p.bias))),
    ) as tf.Scalar,
  });
  const { gradients } = valueAndGradients(loss, params);
  const epsilon = 1e-2;
  for (const path of ["kernel", "bias"] as const) {
    const values = params[path].dataSync();
    for (let i = 0; i < values.length; i++) {
      const at = (delta: number): number => {
        const moved = values.slice();
        moved[i] += delta;
        const tensor = tf.tensor(moved, params[path].shape);
        return loss({ ...params, [path]: tensor }).loss.dataSync()[0];
      };
      const slope = (at(epsilon) - at(-epsilon)) / (2 * epsilon);
      assertAlmostEquals(gradients[path].dataSync()[i], slope, 2e-4);
    }
  }
});

await selectBackend("cpu");

const numbers = fc.array(fc.float({ min: -100, max: 100, noNaN: true }), {
  minLength: 1,
  maxLength: 6,
});

Deno.test("the global norm is that of all numbers together", () => {
  fc.assert(fc.property(numbers, numbers, (a, b) => {
    const expected = Math.hypot(...a, ...b);
    const norm = globalNorm({ a: tf.tensor(a), b: tf.tensor(b) }).dataSync()[0];
    assertAlmostEquals(norm, expected, 1e-4 * (1 + expected));
  }));
});

Deno.test("clipped gradients keep their direction and have the norm asked for", () => {
  fc.assert(fc.property(numbers, (a) => {
    const { gradients, norm } = clipByGlobalNorm({ a: tf.tensor(a) }, 0.5);
    const before = norm.dataSync()[0];
    const scale = 0.5 / Math.max(before, 0.5);
    gradients.a.dataSync().forEach((it, i) =>
      assertAlmostEquals(it, a[i] * scale, 1e-5)
    );
  }));
});

Deno.test("null clips nothing, and a bad maximum is refused", () => {
  const { gradients, norm } = clipByGlobalNorm({ a: tf.tensor([3, 4]) }, null);
  assertEquals([...gradients.a.dataSync()], [3, 4]);
  assertEquals(norm.dataSync()[0], 5);
  for (const bad of [0, -1, NaN]) {
    assertThrows(
      () => clipByGlobalNorm({}, bad),
      RangeError,
      `Cannot clip gradients to a norm of ${bad}`,
    );
  }
});
