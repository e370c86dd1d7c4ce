import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { compileInPlace } from "./compile_in_place.ts";
import { sharedArrays } from "./shared_arrays.ts";

await tf.setBackend("cpu");

Deno.test("vectors of any length are written in place, and no others", () => {
  for (const length of [1, 3, 4, 5, 67]) {
    const { memory, arrays } = sharedArrays({
      x: [Float32Array, length],
      y: [Float32Array, length],
      beside: [Float32Array, 1],
      rate: [Float32Array, 1],
    });
    const { x, y, beside, rate } = arrays;
    x.forEach((_, i) => x[i] = i - 2);
    y.forEach((_, i) => y[i] = i * i + 1);
    const wanted = x.map((it, i) => it - Math.fround(0.5 * Math.sqrt(y[i])));
    const before = y.slice();
    const run = compileInPlace(
      ({ x, y, rate }) => ({ x: tf.sub(x, tf.mul(rate, tf.sqrt(y))) }),
      { memory, vectors: { x, y }, numbers: { rate } },
    );
    rate[0] = 0.5;
    run();
    assertEquals(x, wanted);
    assertEquals([y, beside[0]], [before, 0]);
    // The numbers that are there when it runs.
    rate[0] = 0;
    run();
    assertEquals(x, wanted);
  }
});

Deno.test("two vectors change by what both were, and constants count", () => {
  const { memory, arrays: { x, y } } = sharedArrays({
    x: [Float32Array, 6],
    y: [Float32Array, 6],
  });
  x.fill(1);
  y.fill(2);
  compileInPlace(
    ({ x, y }) => ({ x: tf.add(tf.mul(y, 3), 1), y: x }),
    { memory, vectors: { x, y }, numbers: {} },
  )();
  assertEquals([...x, ...y], [7, 7, 7, 7, 7, 7, 1, 1, 1, 1, 1, 1]);
});

Deno.test("what does not compute number by number is refused", () => {
  const { memory, arrays: { x } } = sharedArrays({ x: [Float32Array, 6] });
  assertThrows(
    () =>
      compileInPlace(({ x }) => ({ x: tf.cumsum(x) }), {
        memory,
        vectors: { x },
        numbers: {},
      }),
    TypeError,
    "Cannot compile in place: Cumsum does not compute number by number",
  );
});
