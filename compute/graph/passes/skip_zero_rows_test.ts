import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backends/select_backend.ts";
import { compile } from "../../compile/compile.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import { gatherRowsOf, multiplications } from "../graph.ts";
import { optimize } from "./optimize.ts";

await selectBackend("cpu");

type Tensors = Record<string, tf.Tensor>;

const ROWS = 64, WIDTH = 128;
const INPUTS = {
  x: float(ROWS, 3),
  first: float(3, WIDTH),
  one: float(WIDTH, WIDTH),
  other: float(WIDTH, WIDTH),
  last: float(WIDTH, 1),
};

/** The gradient of the smaller of two networks' outputs. */
function gradient({ x, first, one, other, last }: Tensors) {
  const network = (x: tf.Tensor, inner: tf.Tensor): tf.Tensor => {
    const hidden = tf.relu(tf.matMul(tf.relu(tf.matMul(x, first)), inner));
    return tf.reshape(tf.matMul(hidden, last), [-1]);
  };
  const smaller = (x: tf.Tensor) =>
    tf.minimum(network(x, one), network(x, other));
  return { dx: tf.grad(smaller)(x) };
}

function numbers(shape: readonly number[], seed: number): Float32Array {
  const size = shape.reduce((a, b) => a * b, 1);
  return Float32Array.from(
    { length: size },
    (_, i) => Math.sin(seed + 1.7 * i) / Math.sqrt(shape[0]),
  );
}

const given = () =>
  Object.fromEntries(
    Object.entries(INPUTS).map(([name, { shape }], i) => [
      name,
      numbers(shape, i),
    ]),
  ) as Record<keyof typeof INPUTS, Float32Array>;

/** The gradient by the engine that is named. */
function run(engine: "onnx" | "eager", inputs = given()): number[] {
  const compiled = compile((given) => gradient(given as Tensors), {
    inputs: INPUTS,
    engine,
  });
  return [...compiled.run(inputs).dx as Float32Array];
}

Deno.test("each branch of a minimum is computed for its own rows", () => {
  const graph = optimize(trace((it) => gradient(it), INPUTS));
  const gathered = graph.nodes.filter(({ op }) => op === "GatherRows");
  assertEquals(gathered.map((node) => operationsOf(chainOf(node))), [
    ["BatchMatMul", "ReluGrad", "BatchMatMul", "ReluGrad", "BatchMatMul"],
    ["BatchMatMul", "ReluGrad", "BatchMatMul", "ReluGrad", "BatchMatMul"],
  ]);
  assert(multiplications(graph) > 4 * ROWS * WIDTH * WIDTH);
  const line = String(graph).split("\n").find((it) =>
    it.includes("GatherRows")
  )!;
  assert(line.endsWith(
    "chain=BatchMatMul ReluGrad BatchMatMul ReluGrad BatchMatMul)",
  ));
});

function chainOf(node: Parameters<typeof gatherRowsOf>[0]) {
  return { nodes: gatherRowsOf(node).chain } as Parameters<
    typeof operationsOf
  >[0];
}

Deno.test("the gradient stays the same", () => {
  const eager = run("eager");
  run("onnx").forEach((it, i) => assertAlmostEquals(it, eager[i], 1e-5));
  assert(eager.some((it) => it !== 0));
});

Deno.test("all rows may be of one branch", () => {
  for (const name of ["one", "other"] as const) {
    const inputs = given();
    inputs.last.fill(1);
    // Outputs are sums of what is above 0, so that zeros are the smaller.
    inputs[name].fill(0);
    const eager = run("eager", inputs);
    run("onnx", inputs).forEach((it, i) =>
      assertAlmostEquals(it, eager[i], 1e-5)
    );
  }
});

Deno.test("what is used twice, adds to rows, or is small stays whole", () => {
  const operations = (
    fn: (given: Tensors) => Record<string, tf.Tensor>,
    inputs: Record<string, ReturnType<typeof float>> = INPUTS,
  ) => operationsOf(optimize(trace(fn, inputs)));
  const masked = ({ x, last, first }: Tensors) => {
    const scores = tf.matMul(tf.relu(tf.matMul(x, first)), last);
    const mask = tf.cast(tf.greater(scores, 0), "float32");
    return tf.mul(mask, scores);
  };
  const wide = (it: Tensors) =>
    tf.matMul(tf.matMul(masked(it), it.last, false, true), it.one);
  assert(operations((it) => ({ y: wide(it) })).includes("GatherRows"));
  const shifted = operations((it) => ({
    y: tf.matMul(
      tf.add(tf.matMul(masked(it), it.last, false, true), 1),
      it.one,
    ),
  }));
  assertEquals(shifted.includes("GatherRows"), false);
  const twice = operations((it) => {
    const y = tf.matMul(masked(it), it.last, false, true);
    return { y, z: tf.matMul(y, it.one) };
  });
  assertEquals(twice.includes("GatherRows"), false);
  const turned = operations((it) => ({
    y: tf.matMul(it.one, tf.matMul(masked(it), it.last, false, true), false),
  }), { ...INPUTS, one: float(WIDTH, ROWS) });
  assertEquals(turned.includes("GatherRows"), false);
  const small = operations((it) => ({ y: wide(it) }), {
    x: float(4, 3),
    first: float(3, 8),
    one: float(8, 8),
    last: float(8, 1),
  });
  assertEquals(small.includes("GatherRows"), false);
});

/** What both engines make of a function. */
function assertEnginesAgree(fn: (inputs: Tensors) => Tensors): number[] {
  const [onnx, eager] = (["onnx", "eager"] as const).map((engine) => {
    const compiled = compile((it) => fn(it as Tensors), {
      inputs: INPUTS,
      engine,
    });
    return [...compiled.run(given()).y as Float32Array];
  });
  onnx.forEach((it, i) => assertAlmostEquals(it, eager[i], 1e-5));
  return eager;
}

Deno.test("what a selection left at 0 is skipped as well", () => {
  const fn = ({ x, first, one, last }: Tensors) => {
    const scores = tf.matMul(tf.relu(tf.matMul(x, first)), last);
    const kept = tf.where(tf.greater(scores, 0), scores, tf.zerosLike(scores));
    return { y: tf.matMul(tf.matMul(kept, last, false, true), one) };
  };
  const graph = optimize(trace((it) => fn(it), INPUTS));
  assert(operationsOf(graph).includes("GatherRows"));
  const eager = assertEnginesAgree(fn);
  assert(eager.some((it) => it !== 0) && eager.some((it) => it === 0));
});

Deno.test("where two masks meet, the rows of one of them are chosen", () => {
  const fn = ({ x, first, one, last }: Tensors) => {
    const scores = tf.matMul(tf.relu(tf.matMul(x, first)), last);
    const mask = (above: number) =>
      tf.cast(tf.greater(scores, above), "float32");
    const kept = tf.mul(tf.mul(mask(0), scores), mask(0.1));
    return { y: tf.matMul(tf.matMul(kept, last, false, true), one) };
  };
  const graph = optimize(trace((it) => fn(it), INPUTS));
  assertEquals(
    operationsOf(graph).filter((it) => it === "GatherRows").length,
    1,
  );
  const eager = assertEnginesAgree(fn);
  assert(eager.some((it) => it !== 0) && eager.some((it) => it === 0));
});
