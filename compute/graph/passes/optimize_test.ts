import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "../../backends/select_backend.ts";
import { OnnxProgram } from "../../compile/_onnx_engine.ts";
import { allocate } from "../../compile/_compiled_program.ts";
import { noise } from "../../testdata/backends_agree.ts";
import {
  PROGRAM_INPUTS,
  randomPrograms,
  runProgram,
} from "../../testdata/random_programs.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import { type Graph, sizeOf, type TensorData } from "../graph.ts";
import { optimize } from "./optimize.ts";

await selectBackend("cpu");

const DATA = [noise([2, 3], 1), noise([3], 2), noise([], 3)];

function eager(program: Parameters<typeof runProgram>[0]): TensorData[] {
  const [x, y, z] = Object.values(PROGRAM_INPUTS)
    .map(({ shape }, i) => tf.tensor(DATA[i], [...shape]));
  return Object.values(runProgram(program, { x, y, z }))
    .map((it) => it.dataSync() as TensorData);
}

function compiled(graph: Graph): TensorData[] {
  const program = new OnnxProgram(graph, 1);
  const outputs = program.outputs.map(allocate);
  program.run(DATA, outputs);
  return outputs;
}

function assertClose(actual: TensorData[], expected: TensorData[]): void {
  assertEquals(actual.length, expected.length);
  expected.forEach((numbers, k) =>
    numbers.forEach((number, i) => {
      const within = 2e-5 * Math.max(1, Math.abs(number));
      const difference = Math.abs(actual[k][i] - number);
      assert(difference <= within, `output ${k}: ${actual[k]} for ${numbers}`);
    })
  );
}

/** Operations, and those of them that make more than one number. */
function work(graph: Graph): { all: number; large: number } {
  const nodes = graph.nodes.filter(({ op }) => op !== "Constant");
  const large = nodes.filter(({ outputs }) =>
    outputs.some(({ shape }) => sizeOf(shape) > 1)
  );
  return { all: nodes.length, large: large.length };
}

Deno.test("random programs give the same numbers with no more operations", () => {
  let before = 0, after = 0;
  fc.assert(
    fc.property(randomPrograms, (program) => {
      tf.tidy(() => {
        const graph = trace((it) => runProgram(program, it), PROGRAM_INPUTS);
        const optimized = optimize(graph);
        const [most, left] = [graph, optimized].map(work);
        // Numbers may be computed with once more, to spare a larger operation.
        const isLess = left.all <= most.all || left.large <= most.large;
        assert(isLess, `${graph}\nbecame\n${optimized}`);
        [before, after] = [before + most.all, after + left.all];
        const expected = eager(program);
        assertClose(compiled(graph), expected);
        assertClose(compiled(optimized), expected);
      });
    }),
    { seed: 1, numRuns: 300 },
  );
  assert(after < 0.8 * before, `${after} operations of ${before}`);
});

Deno.test("a network's gradient becomes a small graph", () => {
  const graph = optimize(trace(({ x, w, b }) => {
    const loss = (w: tf.Tensor, b: tf.Tensor) =>
      tf.mean(tf.square(tf.tanh(tf.add(tf.matMul(x, w), b))));
    const [dw, db] = tf.grads(loss)([w, b]);
    return { dw, db };
  }, { x: float(8, 4), w: float(4, 3), b: float(3) }));
  const ops = operationsOf(graph);
  assertEquals([ops[0], ops.includes("Identity")], ["Gemm", false]);
  assert(ops.length <= 10, String(graph));
});

Deno.test("inputs and outputs stay, names and order", () => {
  const graph = trace(({ x, unused }) => ({
    copy: x.clone(),
    unused,
    zero: tf.sub(x, x),
    one: tf.onesLike(x),
  }), { unused: float(3), x: float(2) });
  const optimized = optimize(graph);
  const shapes = (it: Graph) =>
    [...it.inputs, ...it.outputs].map(({ name, value }) =>
      `${name} ${value.shape}`
    );
  assertEquals(shapes(optimized), shapes(graph));
});

Deno.test("factors whose product float32 does not hold stay apart", () => {
  const graph = optimize(trace(
    ({ x }) => ({ y: tf.mul(tf.mul(x, 1e30), 1e30) }),
    { x: float(2) },
  ));
  assertEquals(operationsOf(graph), ["Multiply", "Multiply"]);
});

Deno.test("a graph that is optimized is optimized for good", () => {
  const graph = optimize(trace(
    ({ x }) => ({ y: tf.logSoftmax(tf.mul(tf.mul(x, 2), 3)) }),
    { x: float(2, 3) },
  ));
  assertEquals(String(optimize(graph)), String(graph));
  assertEquals(operationsOf(graph), ["Multiply", "LogSoftmax"]);
});

Deno.test("a choice takes one number as it is", () => {
  for (const other of [() => 0, (x: tf.Tensor) => tf.max(x)]) {
    const { nodes } = optimize(
      trace(
        ({ x }) => ({ y: tf.where(tf.greater(tf.sum(x), 0), x, other(x)) }),
        { x: { shape: [2, 3], dtype: "float32" } },
      ),
    );
    const [condition, t, e] = nodes[nodes.length - 1].inputs;
    assertEquals([condition.shape, t.shape, e.shape], [[], [2, 3], []]);
  }
});
