import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "../backends/select_backend.ts";
import { compileStep } from "../compile/compile.ts";
import type { TensorData } from "../graph/graph.ts";
import { float } from "../testdata/traced.ts";

await selectBackend("cpu");

type Tensors = Record<string, tf.Tensor>;

/** Functions of single numbers, whose results stay small. */
const OPERATIONS: readonly ((a: tf.Tensor, b: tf.Tensor) => tf.Tensor)[] = [
  (a, b) => tf.add(a, b),
  (a, b) => tf.sub(a, b),
  (a, b) => tf.mul(tf.div(a, 4), b),
  (a, b) => tf.div(a, tf.add(tf.abs(b), 1)),
  (a) => tf.neg(a),
  (a) => tf.sqrt(tf.abs(a)),
  (a) => tf.square(tf.div(a, 4)),
  (a) => tf.expm1(tf.div(a, 8)),
  (a) => tf.exp(tf.neg(tf.abs(a))),
  (a) => tf.log(tf.add(tf.abs(a), 1)),
  (a) => tf.reshape(tf.reshape(a, [1]), []),
  (a) => tf.mean(tf.mul(tf.ones([3]), a)), // no matter for one number
];

const programs = fc.array(
  fc.record({
    operation: fc.nat(OPERATIONS.length - 1),
    a: fc.nat(),
    b: fc.nat(),
  }),
  { minLength: 2, maxLength: 12 },
);

Deno.test("operations on single numbers give what eager steps do", () => {
  fc.assert(
    fc.property(programs, (program) => {
      const fn = ({ u }: Tensors, { x }: Tensors) => {
        const known = [u, x];
        for (const { operation, a, b } of program) {
          known.push(OPERATIONS[operation](
            known[known.length - 1 - a % known.length],
            known[b % known.length],
          ));
        }
        const [last, before] = known.toReversed();
        const bounded = tf.div(last, tf.add(tf.abs(last), 1));
        return { state: { u: bounded }, last, before };
      };
      const [onnx, eager] = (["onnx", "eager"] as const).map((engine) => {
        const step = compileStep(fn as never, {
          state: { u: tf.scalar(0.75) },
          inputs: { x: float() },
          engine,
        }) as unknown as {
          run(inputs: unknown): Record<string, TensorData>;
          close(): void;
        };
        const results = [0.5, -2, 3].flatMap((x) => {
          const { last, before } = step.run({ x });
          return [last[0], before[0]];
        });
        step.close();
        return results;
      });
      onnx.forEach((it, i) =>
        assertEquals(
          Math.abs(it - eager[i]) <= 1e-4 * (1 + Math.abs(eager[i])),
          true,
        )
      );
    }),
    { numRuns: 60 },
  );
});
