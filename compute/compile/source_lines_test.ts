import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { valueAndGradients } from "../gradients.ts";
import { testEngines as test } from "../testdata/engines.ts";
import { float } from "../testdata/traced.ts";
import { whileLoop } from "../tracing/control_flow.ts";
import { compile, compileStep } from "./compile.ts";
import type { EngineName } from "./options.ts";

await selectBackend("cpu");

type Fault = (x: tf.Tensor2D, row: tf.Tensor1D) => unknown;

const whole = (...numbers: number[]) => tf.tensor1d(numbers, "int32");

/** Mistakes of one line each, on a matrix [2, 3] and a row of 4. */
const FAULTS: Readonly<Record<string, Fault>> = {
  add: (x, row) => tf.add(x, row),
  argMax: (x) => tf.argMax(x, 2),
  broadcastTo: (x) => tf.broadcastTo(x, [3, 3]),
  concat: (x) => tf.concat([x, tf.ones([2, 2])], 0),
  "concat of ranks": (x, row) => tf.concat([x, row as tf.Tensor]),
  conv1d: (x) => tf.conv1d(x, tf.ones([2, 2, 1]) as tf.Tensor3D, 1, "same"),
  cumsum: (x) => tf.cumsum(x, 2),
  expandDims: (x) => tf.expandDims(x, 4),
  gather: (x) => tf.gather(x, whole(0), 2),
  gatherND: (x) => tf.gatherND(x, tf.zeros([1, 3], "int32")),
  matMul: (x) => tf.matMul(x, x),
  "matMul of a row": (x, row) => tf.matMul(x, row as tf.Tensor),
  max: (x) => tf.max(x, 2),
  oneHot: (_, row) => tf.oneHot(row.as2D(2, 2).reshape([3]), 2),
  reshape: (x) => tf.reshape(x, [4]),
  reverse: (x) => tf.reverse(x, 2),
  scatterND: (x) => tf.scatterND(tf.zeros([1, 1], "int32"), x, [4]),
  slice: (x) => tf.slice(x, [0, 2], [2, 2]),
  softmax: (x) => tf.softmax(x, 0),
  split: (x) => tf.split(x, 2, 1),
  squeeze: (x) => tf.squeeze(x, [0]),
  stack: (x) => tf.stack([x, tf.ones([2, 2])]),
  sum: (x) => tf.sum(x, 2),
  tile: (x) => tf.tile(x, [2]),
  topk: (x) => tf.topk(x, 4).values,
  transpose: (x) => tf.transpose(x, [0, 2]),
  "unsorted sums": (x) => tf.unsortedSegmentSum(x, whole(0, 1, 0), 2),
  where: (x) => tf.where(x as tf.Tensor, x, x),
  "a missing tensor": (x) => tf.mul(x, (x as unknown as { no: tf.Tensor }).no),
  "a missing method": (x) => (x as unknown as { no(): tf.Tensor }).no(),
  "of one's own": () => refuse("a reason of its own"),
};

function refuse(why: string): never {
  throw new RangeError(why);
}

/** Lines of this file, counted from 1. */
const SOURCE = [
  "",
  ...Deno.readTextFileSync(new URL(import.meta.url)).split("\n"),
];

/** Returns where the line that begins like this is: `file:line`. */
function lineOf(beginning: string): string {
  const line = SOURCE.findIndex((it) => it.trimStart().startsWith(beginning));
  assert(line > 0, beginning);
  return `source_lines_test.ts:${line}`;
}

const inputs = { x: float(2, 3), row: float(4) };
const numbers = { x: new Float32Array(6), row: new Float32Array(4) };

/** Compiles and runs a function that is wrong; gives what is thrown. */
function thrownBy(
  fault: (given: { x: tf.Tensor2D; row: tf.Tensor1D }) => unknown,
  engine: EngineName,
): Error {
  return assertThrows(
    () =>
      compile((given) => ({ y: fault(given as never) as tf.Tensor }), {
        inputs,
        name: "the update",
        engine,
      }).run(numbers),
    Error,
  );
}

test("a mistake in a function names its line", (engine) => {
  const action = engine === "eager" ? "run" : "compile";
  for (const [name, fault] of Object.entries(FAULTS)) {
    // TensorFlow.js itself sums along an axis that is not there.
    if (engine === "eager" && name === "cumsum") continue;
    const { message } = thrownBy(({ x, row }) => fault(x, row), engine);
    const key = /\W/.test(name) ? `"${name}":` : `${name}:`;
    const place = name === "of one's own" ? "throw new Range" : key;
    const start = `Cannot ${action} the update at ${lineOf(place)}: `;
    assert(message.startsWith(start), `${name}: ${message}`);
    assert(!/[.\n]$/.test(message), message);
  }
});

test("a gradient names the operation that has none", (engine) => {
  const update = ({ x }: { x: tf.Tensor }) => {
    const { loss } = valueAndGradients(({ w }) => {
      const isLarge = tf.cast(tf.greater(w, 1), "float32");
      return {
        loss: tf.mean(tf.mul(w, isLarge)) as tf.Scalar,
        aux: { large: tf.mean(tf.cast(tf.greater(w, 2), "float32")) },
      };
    }, { w: x });
    return loss;
  };
  const { message } = thrownBy(update, engine);
  const place = lineOf("const isLarge");
  assertStringIncludes(message, `at ${place}: gradient function not found for`);
  assertStringIncludes(message, "Greater; compute it outside of the loss");
});

Deno.test("a gradient outside of what is compiled names its operation, too", () => {
  // Kernels that have no gradient are known from the first trace on.
  compile(({ x }) => ({ y: tf.neg(x as tf.Tensor) }), {
    inputs: { x: float(2) },
    engine: "onnx",
  }).run({ x: new Float32Array(2) });
  const w = tf.tensor1d([0, 2]);
  const loss = (w: tf.Tensor) =>
    tf.mean(tf.cast(tf.greater(w, 1), "float32")) as tf.Scalar;
  assertThrows(
    () => valueAndGradients(({ w }) => ({ loss: loss(w) }), { w }),
    TypeError,
    "Cannot compute the gradient: gradient function not found for Greater; compute it outside of the loss",
  );
});

test("a gradient of nothing, or of many numbers, is refused", (engine) => {
  const lossOf = (loss: (w: tf.Tensor) => tf.Tensor) =>
    thrownBy(({ x, row }) =>
      valueAndGradients(
        ({ w }) => ({ loss: loss(w) as tf.Scalar }),
        { w: x, b: row },
      ).loss, engine).message;
  assertMatch(
    lossOf(() => tf.scalar(1)),
    /_test\.ts:\d+: Cannot take gradients of a loss that depends on no parameter: expected one of w, b$/,
  );
  assertMatch(
    lossOf((w) => tf.square(w)),
    /of shape \[2,3\]: expected one number, such as its tf\.mean$/,
  );
});

test("mistakes in nested functions and steps name their lines", (engine) => {
  const loop = ({ x }: { x: tf.Tensor }) =>
    whileLoop({ x }, {
      condition: ({ x }) => tf.less(tf.sum(x), 1),
      body: ({ x }) => ({ x: tf.add(x, tf.ones([5])) }),
    }).x;
  assertStringIncludes(
    thrownBy(loop, engine).message,
    lineOf("body: ({ x })"),
  );
  const state = { w: tf.ones([2, 3]) as tf.Tensor };
  const { message } = assertThrows(() =>
    compileStep(({ w }, { x }) => {
      const product = tf.matMul(w, x);
      return { state: { w: tf.add(w, product) } };
    }, { state, inputs: { x: float(2, 3) }, name: "the step", engine })
      .run({ x: numbers.x }), Error);
  assertStringIncludes(message, `the step at ${lineOf("const product")}: `);
});

class OwnError extends Error {}

test("an error of a class of one's own comes through", (engine) => {
  const own = new OwnError("to be told apart");
  const thrown = thrownBy(() => {
    throw own;
  }, engine);
  assertEquals(thrown, own);
});

Deno.test("the error of TensorFlow.js is the cause", () => {
  const { cause } = thrownBy(({ x }) => tf.reshape(x, [4]), "eager");
  assertInstanceOf(cause, Error);
  assertMatch(cause.message, /^Size\(6\) must match/);
  assertEquals(Error.stackTraceLimit, 10, "the limit is put back");
});
