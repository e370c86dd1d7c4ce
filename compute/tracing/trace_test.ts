import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { CONSTANT, typeName } from "../graph/graph.ts";
import { float, operationsOf, typed } from "../testdata/traced.ts";
import { trace, traceFunction } from "./trace.ts";

await selectBackend("cpu");

const backendOf = (name: string) => tf.findBackend(name) as tf.KernelBackend;

Deno.test("kernels are recorded with shapes and types", () => {
  const graph = trace(({ x, w }) => {
    const product = tf.matMul(x, w);
    const best = tf.argMax(product, 1);
    return { product, best, isFirst: tf.equal(best, tf.scalar(0, "int32")) };
  }, { x: float(16, 4), w: float(4, 2) });
  assertEquals(operationsOf(graph), ["BatchMatMul", "ArgMax", "Equal"]);
  assertEquals(
    graph.outputs.map(({ name, value }) => `${name} ${typeName(value)}`),
    ["product float32[16,2]", "best int32[16]", "isFirst bool[16]"],
  );
});

Deno.test("inputs and outputs are named by the keys that lead to them", () => {
  const graph = trace(
    ({ params, batch }) => ({
      stats: { loss: tf.sum(tf.mul(batch.x, params.pi.kernel)) },
      twice: tf.mul(batch.x, 2),
    }),
    { params: { pi: { kernel: float(3) } }, batch: { x: float(2, 3) } },
  );
  const names = (list: typeof graph.inputs) => list.map(({ name }) => name);
  assertEquals(names(graph.inputs), ["params.pi.kernel", "batch.x"]);
  assertEquals(names(graph.outputs), ["stats.loss", "twice"]);
});

Deno.test("records without tensors are kept", () => {
  let slots: unknown;
  const { outputRecords } = traceFunction(
    (inputs) => {
      const { x, ...rest } = inputs as { x: tf.Tensor; slots: object };
      slots = rest.slots;
      return { y: tf.exp(x), stats: { inner: {} }, none: undefined };
    },
    { x: float(2), slots: {} },
    "trace records",
  );
  assertEquals(slots, {});
  assertEquals(outputRecords, { stats: { inner: {} } });
});

Deno.test("gradients of several tensors are recorded", () => {
  const graph = trace(({ a, b }) => {
    const product = (a: tf.Tensor, b: tf.Tensor) => tf.sum(tf.mul(a, b));
    const [da, db] = tf.grads(product)([a, b]);
    return { da, db };
  }, { a: float(2, 3), b: float(3) });
  assertEquals(graph.outputs.map(({ value }) => typeName(value)), [
    "float32[2,3]",
    "float32[3]",
  ]);
});

Deno.test("gradients of variables are recorded, their numbers constants", () => {
  const w = tf.variable(tf.tensor1d([1, 2]));
  const graph = trace(({ x }) => {
    const loss = () => tf.sum(tf.square(tf.mul(w, x))) as tf.Scalar;
    const { grads, value } = tf.variableGrads(loss, [w]);
    return { loss: value, gradient: grads[w.name] };
  }, { x: float(2) });
  assertEquals(graph.outputs[1].value.shape, [2]);
  assertEquals([...w.dataSync()], [1, 2]);
  w.dispose();
});

Deno.test("custom gradients take the place of the true ones", () => {
  const halfGradient = tf.customGrad((x) => ({
    value: tf.square(x as tf.Tensor),
    gradFunc: (dy: tf.Tensor) => tf.tan(dy),
  }));
  const graph = trace(
    ({ x }) => ({ dx: tf.grad((x) => tf.sum(halfGradient(x)))(x) }),
    { x: float(3) },
  );
  assertEquals(operationsOf(graph).filter((op) => op === "Tan"), ["Tan"]);
});

Deno.test("functions may be nested and tidy", () => {
  const layer = (x: tf.Tensor) => tf.tidy(() => tf.relu(tf.add(x, 1)));
  const graph = trace(
    ({ x }) => ({ y: tf.tidy(() => layer(layer(x))) }),
    { x: float(3) },
  );
  assertEquals(operationsOf(graph), ["Add", "Relu", "Add", "Relu"]);
});

for (const backend of ["cpu", "wasm"] as const) {
  Deno.test(`tensors from outside are constants, and stay on ${backend}`, async () => {
    await selectBackend(backend);
    const outside = tf.tensor1d([1.5, -2]);
    const sum = ({ x }: { x: tf.Tensor }) => ({ y: tf.add(x, outside) });
    const graph = trace(sum, { x: float(2) });
    const [{ attributes }] = graph.nodes.filter(({ op }) => op === CONSTANT);
    assertEquals(attributes.values, Float32Array.of(1.5, -2));
    assertEquals(tf.getBackend(), backend);
    assertEquals([...outside.dataSync()], [1.5, -2]);
    assertEquals([...tf.add(outside, 1).dataSync()], [2.5, -1]);
    outside.dispose();
    await selectBackend("cpu");
  });
}

Deno.test("tensors that share their numbers keep their shapes and types", () => {
  const whole = tf.tensor1d([1, 0, 0, 1], "int32");
  const matrix = tf.reshape(whole, [2, 2]);
  const graph = trace(
    () => ({ whole, matrix, floats: tf.cast(matrix, "float32"), again: whole }),
    {},
  );
  assertEquals(graph.outputs.map(({ value }) => typeName(value)), [
    "int32[4]",
    "int32[2,2]",
    "float32[2,2]",
    "int32[4]",
  ]);
  const floats = tf.cast(tf.tensor1d([1, 0], "bool"), "float32");
  const [{ attributes }] = trace(() => ({ floats }), {}).nodes;
  assertEquals(attributes.values, Float32Array.of(1, 0));
});

Deno.test("inputs of bytes are whole numbers to the function", () => {
  let seen = "";
  const graph = trace(({ pixels }) => {
    seen = pixels.dtype;
    return { y: tf.div(tf.cast(pixels, "float32"), 255) };
  }, { pixels: typed("uint8", 2, 2) });
  assertEquals(seen, "int32");
  assertEquals(graph.inputs[0].value.dtype, "uint8");
  assertEquals(operationsOf(graph), ["Cast", "Cast", "RealDiv"]);
});

Deno.test("inputs, constants and one tensor twice may be returned", () => {
  const graph = trace(({ x }) => {
    const y = tf.exp(x);
    return { x, one: tf.scalar(1), a: y, b: y };
  }, { x: float(2) });
  const value = (name: string) =>
    graph.outputs.find((it) => it.name === name)?.value;
  assertStrictEquals(value("x"), graph.inputs[0].value);
  assertStrictEquals(value("a"), value("b"));
  assertEquals(typeName(value("one")!), "float32[]");
});

Deno.test("neither tensors nor memory of the backend are left", () => {
  trace(({ x }) => ({ x }), { x: float(2) });
  const before = backendOf("bellman-trace").numDataIds();
  const outside = tf.tensor1d([1, 2]);
  const update = ({ x }: { x: tf.Tensor }) => ({
    dx: tf.grad((x) => tf.sum(tf.square(tf.add(x, outside))))(x),
  });
  const fails = ({ x }: { x: tf.Tensor }) => ({ y: tf.exp(x).dataSync() });
  const run = () => {
    trace(update, { x: float(2) });
    assertThrows(() => trace(fails, { x: float(2) }), TypeError);
  };
  run();
  const tensors = tf.memory().numTensors;
  const blocks = backendOf("bellman-trace").numDataIds();
  for (let i = 0; i < 10; i++) run();
  assertEquals(tf.memory().numTensors, tensors);
  assertEquals(backendOf("bellman-trace").numDataIds(), blocks);
  outside.dispose();
  assertEquals(backendOf("bellman-trace").numDataIds(), before);
});
