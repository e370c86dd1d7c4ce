import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { seeds, shapes } from "../testdata/arbitrary_shapes.ts";
import { exactly, testCompiled } from "../testdata/compiled_agrees.ts";
import { run } from "./kernel.ts";
import { threefryBits } from "./random.ts";

const hex = (bits: Int32Array) =>
  Array.from(bits, (it) => (it >>> 0).toString(16).padStart(8, "0"));

/** Of Random123, `kat_vectors`: `threefry2x32 20`. */
Deno.test("words of zeros are those of the original", () => {
  const bits = threefryBits(new Int32Array(2), 0, { size: 2 });
  assertEquals(hex(bits), ["6b200159", "99ba4efe"]);
});

Deno.test("the first words of all pairs come first", () => {
  const key = Int32Array.of(7, -8);
  const bits = (counter: number, size: number) =>
    threefryBits(key, counter, { size });
  const [odd, even] = [bits(3, 5), bits(3, 6)];
  assertEquals([...odd], [...even.subarray(0, 5)]);
  assertEquals(new Set([...even, ...bits(4, 6)]).size, 12);
  assertEquals(bits(3, 0).length, 0);
  const upper = threefryBits(key, 3, { size: 5, shift: 8 });
  assertEquals([...upper], Array.from(odd, (it) => it >>> 8));
});

testCompiled(
  "words are the same on every engine",
  fc.record({
    shape: shapes({ maxLength: 5 }),
    key: fc.tuple(fc.integer(), fc.integer()),
    counter: seeds,
    shift: fc.constantFrom(0, 8, 31),
  }),
  ({ shape, key, counter, shift }) => ({
    fn: (key, counter) => run("Threefry", { key, counter }, { shape, shift }),
    inputs: [
      exactly(key.map((it) => it | 0), [2], "int32"),
      exactly([counter], [], "int32"),
    ],
  }),
);

testCompiled(
  "each row has the words of its counter, on every engine",
  fc.record({
    shape: shapes({ maxLength: 5 }),
    counters: fc.array(fc.integer({ min: 0, max: 99 }), {
      minLength: 1,
      maxLength: 4,
    }),
    shift: fc.constantFrom(0, 8),
  }),
  ({ shape, counters, shift }) => ({
    fn: (key, counter) =>
      run("Threefry", { key, counter }, {
        shape: [counters.length, ...shape],
        shift,
      }),
    inputs: [
      exactly([5, 6], [2], "int32"),
      exactly(counters, [counters.length], "int32"),
    ],
  }),
);

Deno.test("tensors of a backend give what arrays do", async () => {
  await tf.setBackend("cpu");
  const key = tf.tensor1d([5, 6], "int32"), counter = tf.scalar(9, "int32");
  const made = run("Threefry", { key, counter }, { shape: [3, 2], shift: 0 });
  assertEquals([made.shape, made.dtype as string], [[3, 2], "int32"]);
  assertEquals(
    made.dataSync<"int32">(),
    threefryBits(Int32Array.of(5, 6), 9, { size: 6 }),
  );
});
