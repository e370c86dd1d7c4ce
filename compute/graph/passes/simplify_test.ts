import { assertEquals, assertStrictEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backends/select_backend.ts";
import { float, operationsOf, typed } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import { CONSTANT, type Graph, type TensorType } from "../graph.ts";
import { eliminateDeadCode } from "./rewrite.ts";
import { collectFactors, simplify } from "./simplify.ts";

await selectBackend("cpu");

type Fn = (x: tf.Tensor) => tf.Tensor;

function simplified(fn: Fn, x: TensorType = float(2, 3)): Graph {
  const graph = trace(({ x }) => ({ y: fn(x) }), { x });
  return eliminateDeadCode(simplify(eliminateDeadCode(simplify(graph))));
}

const opsOf = (fn: Fn, x?: TensorType) => operationsOf(simplified(fn, x));

/** The one constant of a simplified function. */
function constantOf(fn: Fn): unknown {
  const constants = simplified(fn).nodes.filter(({ op }) => op === CONSTANT);
  assertEquals(constants.length, 1);
  return constants[0].attributes;
}

Deno.test("neutral elements are dropped, be they one number or many", () => {
  const zeros = tf.zeros([2, 3]), ones = tf.ones([3]);
  const neutral: Fn[] = [
    (x) => tf.add(x, 0),
    (x) => tf.add(zeros, x),
    (x) => tf.sub(x, 0),
    (x) => tf.mul(1, x),
    (x) => tf.mul(x, ones),
    (x) => tf.div(x, ones),
    (x) => tf.neg(tf.neg(x)),
  ];
  for (const fn of neutral) {
    const graph = simplified(fn);
    assertStrictEquals(graph.outputs[0].value, graph.inputs[0].value);
  }
});

Deno.test("a neutral element that broadcasts keeps the output's shape", () => {
  const wide: Fn[] = [
    (x) => tf.add(x, tf.zeros([4, 2, 3])),
    (x) => tf.mul(tf.ones([4, 2, 3]), x),
    (x) => tf.sub(x, tf.zeros([4, 1, 1])),
    (x) => tf.div(x, tf.ones([4, 1, 3])),
  ];
  for (const fn of wide) {
    const graph = simplified(fn);
    assertEquals(operationsOf(graph), ["BroadcastTo"]);
    assertEquals(graph.outputs[0].value.shape, [4, 2, 3]);
  }
});

Deno.test("what is not neutral is kept", () => {
  assertEquals(opsOf((x) => tf.sub(1, x)), ["Sub"]);
  assertEquals(opsOf((x) => tf.div(1, x)), ["RealDiv"]);
  assertEquals(opsOf((x) => tf.mul(x, 0)), ["Multiply"]);
  assertEquals(opsOf((x) => tf.add(x, NaN)), ["Add"]);
  assertEquals(opsOf((x) => tf.mul(x, NaN)), ["Multiply"]);
  assertEquals(opsOf((x) => tf.add(x, tf.tensor1d([0, 0, 1]))), ["Add"]);
});

Deno.test("zero minus x is -x, unless it broadcasts", () => {
  assertEquals(opsOf((x) => tf.sub(0, x)), ["Neg"]);
  assertEquals(opsOf((x) => tf.sub(tf.zeros([4, 2, 3]), x)), ["Sub"]);
});

Deno.test("factors are multiplied, signs and exact divisors among them", () => {
  assertEquals(constantOf((x) => tf.mul(tf.mul(3, x), 0.5)), { fill: 1.5 });
  assertEquals(constantOf((x) => tf.neg(tf.mul(x, 3))), { fill: -3 });
  assertEquals(constantOf((x) => tf.div(x, 8)), { fill: 0.125 });
  assertEquals(constantOf((x) => tf.div(x, -0.5)), { fill: -2 });
});

Deno.test("factors whose product float32 does not hold are kept", () => {
  const twice = ["Multiply", "Multiply"];
  assertEquals(opsOf((x) => tf.mul(tf.mul(x, 1e30), 1e30)), twice);
  assertEquals(opsOf((x) => tf.mul(tf.mul(x, 1e-30), 1e-30)), twice);
  assertEquals(opsOf((x) => tf.mul(tf.mul(x, 0), Infinity)), twice);
  assertEquals(opsOf((x) => tf.div(x, 2 ** -149)), ["RealDiv"]);
  assertEquals(opsOf((x) => tf.div(x, 2 ** 127)), ["RealDiv"]);
  assertEquals(opsOf((x) => tf.div(x, 3)), ["RealDiv"]);
  assertEquals(opsOf((x) => tf.div(x, 0)), ["RealDiv"]);
});

Deno.test("whole numbers have no reciprocals", () => {
  const x = typed("int32", 2);
  const two = () => tf.scalar(2, "int32");
  assertEquals(opsOf((x) => tf.floorDiv(x, two()), x), ["FloorDiv"]);
  assertEquals(
    opsOf((x) => tf.mul(tf.mul(x, two()), two()), x),
    ["Multiply", "Multiply"],
  );
});

Deno.test("a signed zero in a constant is not lost", () => {
  const signs = tf.tensor2d([[0, -0, 0], [0, 0, 0]]);
  const constant = constantOf((x) => tf.minimum(x, signs));
  assertEquals(constant, { values: signs.dataSync() });
  assertEquals(opsOf((x) => tf.add(x, signs)), ["Add"]);
});

Deno.test("operands are broadcast by the operation itself", () => {
  const wide = (x: tf.Tensor) => tf.maximum(x, tf.fill([2, 3], 0.5));
  assertEquals(constantOf(wide), { fill: 0.5 });
  const rows = trace(
    ({ x, b }) => ({ y: tf.maximum(x, tf.broadcastTo(b, [2, 3])) }),
    { x: float(2, 3), b: float(1, 1) },
  );
  assertEquals(operationsOf(eliminateDeadCode(simplify(rows))), ["Maximum"]);
});

Deno.test("one number in many places is computed with once", () => {
  const graph = simplified(
    (x) => tf.exp(tf.neg(tf.tile(tf.reshape(tf.sum(x), [1, 1]), [4, 5]))),
  );
  assertEquals(operationsOf(graph), ["Sum", "Neg", "Exp", "BroadcastTo"]);
  assertEquals(graph.outputs[0].value.shape, [4, 5]);
});

Deno.test("a spread number that others take too is spread once", () => {
  const graph = simplify(trace(({ x }) => {
    const many = tf.tile(x, [4]);
    return { many, exp: tf.exp(many) };
  }, { x: float(1) }));
  assertEquals(operationsOf(eliminateDeadCode(graph)), ["BroadcastTo", "Exp"]);
});

Deno.test("a number that is spread and reshaped is spread once", () => {
  const spread = (x: tf.Tensor) =>
    tf.reshape(tf.tile(tf.reshape(x, [1]), [6]), [2, 3]);
  const graph = simplified(spread, float());
  assertEquals(operationsOf(graph), ["BroadcastTo"]);
  assertEquals(graph.outputs[0].value.shape, [2, 3]);
  const fewer = (x: tf.Tensor) => tf.reshape(tf.tile(x, [2, 3]), [6]);
  assertEquals(opsOf(fewer, float(1, 1)), ["BroadcastTo", "Reshape"]);
});

type Given = Record<"x" | "y" | "a" | "b", tf.Tensor>;

const INPUTS = { x: float(3), y: float(2, 1), a: float(), b: float() };

/** The operations of a function afterwards, with the shapes that they make. */
function collected(fn: (given: Given) => tf.Tensor): string[] {
  const graph = trace((given) => ({ made: fn(given) }), INPUTS);
  return eliminateDeadCode(collectFactors(graph)).nodes
    .map(({ op, outputs: [{ shape }] }) => `${op} [${shape}]`);
}

Deno.test("numbers that scale a tensor are multiplied first", () => {
  const once = ["Multiply []", "Multiply [3]"];
  assertEquals(collected(({ x, a, b }) => tf.mul(tf.mul(x, a), b)), once);
  assertEquals(collected(({ x, a, b }) => tf.mul(b, tf.mul(a, x))), once);
});

Deno.test("tensors, and numbers alone, are multiplied as they were", () => {
  const tensors = collected(({ x, y, a }) => tf.mul(tf.mul(x, a), y));
  assertEquals(tensors, ["Multiply [3]", "Multiply [2,3]"]);
  const numbers = collected(({ a, b }) => tf.mul(tf.mul(a, b), a));
  assertEquals(numbers, ["Multiply []", "Multiply []"]);
});

Deno.test("two constants are left to the simplification", () => {
  const ops = collected(({ x }) => tf.mul(tf.mul(x, 1e30), 1e30));
  assertEquals(ops.filter((it) => it === "Multiply [3]").length, 2);
});

Deno.test("a number over a tensor joins the tensor's factor", () => {
  assertEquals(
    collected(({ x, y, a, b }) => tf.mul(tf.mul(x, a), tf.div(b, y))),
    ["Multiply []", "Multiply [3]", "RealDiv [2,3]"],
  );
});

Deno.test("a square that is known is scaled by the number's", () => {
  const both = collected(({ x, a }) =>
    tf.add(tf.square(x), tf.square(tf.mul(x, a)))
  );
  assertEquals(both, ["Square [3]", "Square []", "Multiply [3]", "Add [3]"]);
  const alone = collected(({ x, a }) => tf.square(tf.mul(x, a)));
  assertEquals(alone, ["Multiply [3]", "Square [3]"]);
});
