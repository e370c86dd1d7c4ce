import { assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "../backends/select_backend.ts";
import { exactly, given, testCompiled } from "../testdata/compiled_agrees.ts";
import { scan } from "./scan.ts";

await selectBackend("cpu");

testCompiled(
  "scans, both ways and unrolled",
  fc.record({
    length: fc.integer({ min: 1, max: 5 }),
    columns: fc.integer({ min: 1, max: 4 }),
    isReversed: fc.boolean(),
    isUnrolled: fc.boolean(),
  }),
  ({ length, columns, ...options }) => ({
    fn: (x, flags, w) => {
      const { state, results } = scan({ sum: tf.zerosLike(w) }, {
        ...options,
        length,
        rows: { x, flags },
        body({ sum }, { x, flags }) {
          const next = tf.add(tf.mul(sum, w), tf.where(flags, x, tf.neg(x)));
          return {
            state: { sum: next },
            results: { next, isLarge: tf.greater(next, 0) },
          };
        },
      });
      return [state.sum, results.next, results.isLarge];
    },
    inputs: [
      given([length, columns]),
      given([length, columns], { dtype: "bool", seed: 2 }),
      given([columns], { seed: 3, of: Math.tanh }),
    ],
  }),
);

testCompiled(
  "scans of some rounds of their rows",
  fc.record({ rounds: fc.integer({ min: 1, max: 4 }) }),
  ({ rounds }) => ({
    fn: (x, rounds) => {
      const { state, results } = scan({ sum: tf.zeros([2]) as tf.Tensor }, {
        length: 4,
        rounds,
        rows: { x },
        body({ sum }, { x }) {
          const next = tf.add(sum, x);
          return { state: { sum: next }, results: { next } };
        },
      });
      return [state.sum, results.next];
    },
    inputs: [given([4, 2]), exactly([rounds], [], "int32")],
  }),
);

Deno.test("no rows are refused", () => {
  assertThrows(
    () =>
      scan({ x: tf.zeros([2]) }, {
        length: 0,
        rows: {},
        body: (state) => ({ state, results: {} }),
      }),
    RangeError,
    "Cannot scan 0 rows: expected a whole number of at least 1",
  );
});
