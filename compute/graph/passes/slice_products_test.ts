import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backends/select_backend.ts";
import { compile } from "../../compile/compile.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import { optimize } from "./optimize.ts";

await selectBackend("cpu");

type Tensors = Record<string, tf.Tensor>;
const INPUTS = { a: float(4, 3), b: float(3, 7), c: float(7, 3) };

const operations = (fn: (given: Tensors) => tf.Tensor) =>
  operationsOf(optimize(trace((given) => ({ y: fn(given) }), INPUTS)));

const part = (product: tf.Tensor, at: number) =>
  tf.exp(tf.split(product, [2, 4, 1], 1)[at]);

Deno.test("columns that nothing takes are not computed", () => {
  const plain = operations(({ a, b }) => part(tf.matMul(a, b), 1));
  assertEquals(plain, ["Strided", "BatchMatMul", "Exp"]);
  const transposed = operations(({ a, c }) =>
    part(tf.matMul(a, c, false, true), 2)
  );
  assertEquals(transposed, ["Strided", "BatchMatMul", "Exp"]);
});

Deno.test("a product that is used otherwise, or in two parts, stays whole", () => {
  const both = operations(({ a, b }) => {
    const [x, , y] = tf.split(tf.matMul(a, b), [2, 4, 1], 1);
    return tf.concat([x, y], 1);
  });
  assertEquals(both.includes("Strided"), false);
  const again = operations(({ a, b }) => {
    const product = tf.matMul(a, b);
    return tf.add(tf.sum(product), part(product, 0));
  });
  assertEquals(again.includes("Strided"), false);
});

Deno.test("the columns are the right ones", () => {
  for (const at of [0, 1, 2]) {
    const fn = ({ a, b, c }: Tensors) => ({
      plain: part(tf.matMul(a, b), at),
      transposed: part(tf.matMul(a, c, false, true), at),
    });
    const given = {
      a: Float32Array.from({ length: 12 }, (_, i) => Math.sin(i)),
      b: Float32Array.from({ length: 21 }, (_, i) => Math.cos(i)),
      c: Float32Array.from({ length: 21 }, (_, i) => Math.sin(2 * i)),
    };
    const [onnx, eager] = (["onnx", "eager"] as const).map((engine) =>
      structuredClone(
        compile((given) => fn(given as Tensors), { inputs: INPUTS, engine })
          .run(given),
      )
    );
    for (const key of ["plain", "transposed"] as const) {
      onnx[key].forEach((it, i) =>
        assertEquals(Math.abs(it - eager[key][i]) < 1e-5, true)
      );
    }
  }
});
