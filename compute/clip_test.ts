import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "./backends/select_backend.ts";
import { clip } from "./clip.ts";
import { compile } from "./compile/compile.ts";
import { broadcastShapes } from "./testdata/arbitrary_shapes.ts";
import { given } from "./testdata/compiled_agrees.ts";
import { testEngines } from "./testdata/engines.ts";

await selectBackend("cpu");

type Three = readonly [tf.Tensor, tf.Tensor, tf.Tensor];

/** The result, and gradients of its sum with weights. */
function withGradients(
  of: (...all: Three) => tf.Tensor,
  [x, min, max]: Three,
): tf.Tensor[] {
  const loss = (x: tf.Tensor, min: tf.Tensor, max: tf.Tensor) => {
    const y = of(x, min, max);
    const weights = tf.tensor(
      Float32Array.from({ length: y.size }, (_, i) => 1 + i % 7),
      y.shape,
    );
    return tf.sum(tf.mul(y, weights));
  };
  return [of(x, min, max), ...tf.grads(loss as never)([x, min, max])];
}

/** The same by TensorFlow.js, of tensors that have been broadcast before. */
function reference(all: Three): tf.Tensor[] {
  const { shape } = all.reduce((a, b) => tf.add(a, b));
  const wide = all.map((it) => tf.add(it, tf.zeros(shape))) as unknown as Three;
  const [y, ...gradients] = withGradients(
    (x, min, max) => tf.minimum(tf.maximum(x, min), max),
    wide,
  );
  return [y, ...gradients.map((it, i) => summedTo(it, all[i].shape))];
}

/** Sums over the axes that a shape was repeated along. */
function summedTo(x: tf.Tensor, shape: readonly number[]): tf.Tensor {
  const missing = x.rank - shape.length;
  const axes = x.shape.map((_, axis) => axis)
    .filter((axis) => axis < missing || shape[axis - missing] === 1);
  return tf.reshape(tf.sum(x, axes, true), [...shape]);
}

testEngines("clip agrees with minimum and maximum, gradients too", (engine) => {
  const settings = fc.record({
    // Equal numbers are the cases that differ between libraries.
    rounding: fc.constantFrom(1, 2, 100),
    seed: fc.integer({ min: 1, max: 1000 }),
    shapes: broadcastShapes(3),
  });
  fc.assert(
    fc.property(settings, ({ rounding, seed, shapes }) => {
      const round = (it: number) => Math.round(it * rounding) / rounding;
      const inputs = shapes.map((shape, i) =>
        given(shape, { seed: seed + i, of: (it) => round(it + i - 1) })
      );
      const named = (of: (i: number) => unknown) =>
        Object.fromEntries(["x", "min", "max"].map((name, i) => [name, of(i)]));
      const compiled = compile((all) => {
        const { x, min, max } = all as Record<string, tf.Tensor>;
        const made = withGradients(
          (x, min, max) => clip(x, { min, max }),
          [x, min, max],
        );
        return { ...made };
      }, { inputs: named((i) => inputs[i]) as never, engine, threads: 1 });
      const actual = compiled.run(named((i) => inputs[i].data) as never);
      tf.tidy(() => {
        const tensors = inputs.map(({ data, shape }) =>
          tf.tensor(data as Float32Array, [...shape])
        ) as unknown as Three;
        reference(tensors).forEach((it, i) => {
          const expected = it.dataSync();
          const numbers = actual[i] as unknown as Float32Array;
          assertEquals(compiled.graph.outputs[i].value.shape, it.shape);
          // Sums come in another order.
          assertEquals(
            [...numbers].map((n) => Math.round(n * 1e3) / 1e3 + 0),
            [...expected].map((n) => Math.round(n * 1e3) / 1e3 + 0),
          );
        });
      });
    }),
    { seed: 1, numRuns: engine === "xla" ? 8 : 30 },
  );
});

const numbersOf = (x: tf.Tensor) => [...x.dataSync()];

Deno.test("a bound may be left out, or be a number", () => {
  const x = tf.tensor1d([-2, 0, 2]), one = tf.scalar(1);
  assertEquals(numbersOf(clip(x, { min: -1 })), [-1, 0, 2]);
  assertEquals(numbersOf(clip(x, { max: one })), [-2, 0, 1]);
  assertEquals(numbersOf(clip(x, {})), [-2, 0, 2]);
  assertEquals(numbersOf(clip(x, { min: -1, max: one })), [-1, 0, 1]);
});

Deno.test("an upper bound below the lower one is the result, as in NumPy", () => {
  const x = tf.tensor1d([-2, 0, 2]);
  assertEquals(numbersOf(clip(x, { min: 1, max: -1 })), [-1, -1, -1]);
});

Deno.test("on a bound, the gradient is that of the number", () => {
  const gradients = tf.grads((x, min) => tf.sum(clip(x, { min, max: 2 })));
  const [dx, dmin] = gradients([tf.tensor1d([1, 2, 0]), tf.scalar(1)]);
  assertEquals([numbersOf(dx), numbersOf(dmin)], [[1, 1, 0], [1]]);
});

Deno.test("clip frees all but its result, and refuses shapes that do not fit", () => {
  const x = tf.tensor1d([-2, 0, 2]), min = tf.tensor2d([[0], [1]]);
  const before = tf.memory().numTensors;
  clip(x, { min }).dispose();
  assertEquals(tf.memory().numTensors, before);
  assertThrows(
    () => clip(x, { max: tf.tensor1d([1, 2]) }),
    Error,
    "broadcast together with shapes 3 and 2",
  );
});
