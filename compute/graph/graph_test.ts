import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { float, typed } from "../testdata/traced.ts";
import { trace } from "../tracing/trace.ts";
import { asConstant, CONSTANT, makeGraph } from "./graph.ts";

await selectBackend("cpu");

Deno.test("a graph is printed as a program", () => {
  const graph = trace(({ x, w, at }) => {
    const y = tf.matMul(x, w, false, true);
    const [left, right] = tf.split(tf.tanh(y), 2, 1);
    const table = tf.range(0, 9, 1, "float32");
    return {
      sum: tf.add(left, right),
      more: { x, rows: tf.gather(table, at) },
    };
  }, { x: float(2, 3), w: float(4, 3), at: typed("int32", 5) });
  assertEquals(
    String(graph),
    `
input x: float32[2,3]
input w: float32[4,3]
input at: int32[5]
%0: float32[2,4] = BatchMatMul(x, w, transposeA=false, transposeB=true)
%1: float32[2,4] = Tanh(%0)
%2: float32[2,2], %3: float32[2,2] = Split(%1, axis=1, sizes=[2,2])
%4: float32[2,2] = Add(%2, %3)
%5: float32[9] = constant [0, 1, 2, 3, 4, 5, 6, 7, ...]
%6: float32[5] = Gather(%5, at, axis=0)
output sum = %4
output more.x = x
output more.rows = %6`.trim(),
  );
});

Deno.test("numbers that JSON lacks are printed", () => {
  const value = float(2);
  const constant = (attributes: Record<string, unknown>) => {
    const nodes = [{ op: CONSTANT, inputs: [], attributes, outputs: [value] }];
    return String(makeGraph({ inputs: [], nodes, outputs: [] }));
  };
  assertEquals(constant({ fill: -0 }), "%0: float32[2] = constant -0");
  assertEquals(
    constant({ values: Float32Array.of(-0, NaN) }),
    "%0: float32[2] = constant [-0, NaN]",
  );
  const graph = trace(
    ({ x }) => ({ y: tf.clipByValue(x, -Infinity, 1) }),
    { x: value },
  );
  assertEquals(
    String(graph).split("\n")[1],
    "%0: float32[2] = ClipByValue(x, clipValueMin=-Infinity, clipValueMax=1)",
  );
});

Deno.test("numbers that are all the same are one that fills", () => {
  assertEquals(asConstant(Float32Array.of(2, 2)), { fill: 2 });
  assertEquals(asConstant(new Float32Array(3).fill(NaN)), { fill: NaN });
  const values = [[0, -0], [1], [], [1, 2]].map((it) => Float32Array.from(it));
  for (const it of values) assertEquals(asConstant(it), { values: it });
});
