import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { OnnxProgram } from "../compile/_onnx_engine.ts";
import { allocate } from "../compile/_compiled_program.ts";
import type { TensorData, TensorType } from "../graph/graph.ts";
import { ModelBuilder } from "../onnx/model_builder.ts";
import { float, typed } from "../testdata/traced.ts";
import { trace } from "../tracing/trace.ts";
import { lowerGraph } from "./lower.ts";

await selectBackend("cpu");

type Tensors = Record<string, tf.Tensor>;

function lowered(
  fn: (given: Tensors) => Tensors,
  inputs: Record<string, TensorType>,
) {
  const graph = trace((it) => fn(it as Tensors), inputs);
  return { graph, model: lowerGraph(graph) };
}

/** What a function makes, by the names of its outputs. */
function run(
  fn: (given: Tensors) => Tensors,
  inputs: Record<string, TensorData>,
): Record<string, number[]> {
  const types = Object.fromEntries(
    Object.entries(inputs).map(([name, { length }]) => [name, float(length)]),
  );
  const program = new OnnxProgram(lowered(fn, types).graph, 1);
  const outputs = program.outputs.map(allocate);
  program.run(Object.values(inputs), outputs);
  return Object.fromEntries(
    program.outputs.map(({ name }, i) => [name, [...outputs[i]]]),
  );
}

const names = (list: readonly { name: string }[]) =>
  list.map(({ name }) => name);

Deno.test("inputs and outputs have the graph's names, types and shapes", () => {
  const { model } = lowered(
    ({ pixels }) => ({ sum: tf.sum(pixels, 1) }),
    { pixels: typed("uint8", 2, 3), unused: float() },
  );
  assertEquals(model.inputs, [
    { name: "pixels", dtype: "uint8", shape: [2, 3] },
    { name: "unused", dtype: "float32", shape: [] },
  ]);
  assertEquals(model.outputs, [{ name: "sum", dtype: "int32", shape: [2] }]);
  assertEquals(model.nodes.at(-1)!.outputs, ["sum"]);
});

Deno.test("outputs that are inputs, constants or others are copies", () => {
  const returned = ({ x }: Tensors) => {
    const y = tf.neg(x);
    const one = tf.scalar(1);
    return { same: x, a: y, b: y, one, again: one };
  };
  const { model } = lowered(returned, { x: float(2) });
  const copies = model.nodes.filter(({ op }) => op === "Identity");
  assertEquals(copies.map(({ outputs: [name] }) => name), [
    "same",
    "b",
    "one",
    "again",
  ]);
  assertEquals(run(returned, { x: Float32Array.of(1, 2) }), {
    same: [1, 2],
    a: [-1, -2],
    b: [-1, -2],
    one: [1],
    again: [1],
  });
});

Deno.test("an output with an input's name gets marks until it is free", () => {
  const step = ({ x }: Tensors) => ({
    x: tf.add(x, 1),
    "x'": tf.add(x, 2),
    "x''": x,
  });
  const { model } = lowered(step, { x: float(1) });
  assertEquals(names(model.outputs), ["x'''", "x'", "x''"]);
  const x = Float32Array.of(1);
  assertEquals(run(step, { x }), { x: [2], "x'": [3], "x''": [1] });
});

Deno.test("names may look like those that the model gives", () => {
  const swapped = ({ v0, c1, v1 }: Tensors) => ({
    v2: tf.exp(tf.mul(v0, 2)),
    v3: tf.add(c1, v1),
    c0: tf.neg(tf.sub(v1, 3)),
  });
  const given = (it: number) => Float32Array.of(it);
  assertEquals(
    run(swapped, { v0: given(0), c1: given(2), v1: given(5) }),
    { v2: [1], v3: [7], c0: [-2] },
  );
});

Deno.test("every name of a model is made once", () => {
  const { model } = lowered(({ x, v1 }) => {
    const [a, b] = tf.split(tf.add(x, 1), 2);
    return { v0: a, x: b, c0: tf.mul(v1, 1) };
  }, { x: float(4), v1: float(2) });
  const made = [
    ...names(model.inputs),
    ...names(model.initializers),
    ...model.nodes.flatMap(({ outputs }) => outputs),
  ];
  assertEquals(new Set(made).size, made.length);
  for (const { inputs } of model.nodes) {
    assert(inputs.every((name) => made.includes(name)));
  }
});

Deno.test("large constants of one number are not written out", () => {
  const { model } = lowered(
    () => ({ ones: tf.fill([100, 100], 1), small: tf.fill([3], 1) }),
    {},
  );
  const sizes = model.initializers.map(({ bytes }) => bytes.length);
  assert(Math.max(...sizes) < 100, String(sizes));
});

Deno.test("equal small constants are one, unless type, shape or sign differ", () => {
  const model = new ModelBuilder();
  const zero = model.scalar(0);
  assertEquals(model.scalar(0), zero);
  const others = [
    model.scalar(-0),
    model.scalar(0, "int32"),
    model.ints([0]),
    model.tensor([0], { shape: [1], dtype: "float32" }),
    model.scalar(NaN),
  ];
  assertEquals(new Set([zero, ...others]).size, 6);
  assertEquals(model.scalar(NaN), others[4]);
});

Deno.test("names that are taken are not given", () => {
  const model = new ModelBuilder({ taken: new Set(["c0", "v2"]) });
  assertEquals(model.scalar(1), "c1");
  assertEquals(model.ops("Split", ["x"], { count: 2 }), ["v3", "v4"]);
});

Deno.test("operations and constants that nothing takes are left out", () => {
  const graph = trace(({ x, w }) => {
    const convolve = (x: tf.Tensor) =>
      tf.conv2d(x as tf.Tensor4D, w as tf.Tensor4D, 1, "same");
    return { y: convolve(convolve(x)) };
  }, { x: float(1, 4, 4, 16), w: float(3, 3, 16, 16) });
  const { nodes, initializers } = lowerGraph(graph, { blockSize: 16 });
  const taken = new Set(nodes.flatMap(({ inputs }) => inputs)).add("y");
  for (const { outputs: [made] } of nodes) assert(taken.has(made));
  for (const { name } of initializers) assert(taken.has(name));
  assertEquals(nodes.filter(({ op }) => op === "ReorderOutput").length, 1);
});

Deno.test("a form of a tensor is told by its name", () => {
  const model = new ModelBuilder();
  assertEquals(model.formOf("x", "blocked"), undefined);
  assertEquals(model.addForm("x", "blocked", "y"), "y");
  assertEquals(model.formOf("x", "blocked"), "y");
  assertEquals(model.formOf("x", "other"), undefined);
});

Deno.test("an operation's domain stands before its name", () => {
  const model = new ModelBuilder();
  model.op("com.microsoft.nchwc.Conv", ["x", "w"]);
  model.op("Conv", ["x", "w"]);
  model.op("com.microsoft.FusedMatMul", ["x", "w"]);
  assertEquals(model.nodes.map(({ op, domain }) => [op, domain]), [
    ["Conv", "com.microsoft.nchwc"],
    ["Conv", ""],
    ["FusedMatMul", "com.microsoft"],
  ]);
});
