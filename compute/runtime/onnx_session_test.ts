import { assert, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { lowerGraph } from "../lowering/lower.ts";
import { encodeModel } from "../onnx/model_builder.ts";
import { float } from "../testdata/traced.ts";
import { trace } from "../tracing/trace.ts";
import { blockSize, type BoundTensor, OnnxSession } from "./onnx_session.ts";

await selectBackend("cpu");

/** A model of `y = x factor + 1`, for two numbers. */
function modelOf(factor = 2): Uint8Array<ArrayBuffer> {
  const graph = trace(
    ({ x }) => ({ y: tf.add(tf.mul(x, factor), 1) }),
    { x: float(2) },
  );
  return encodeModel(lowerGraph(graph));
}

function bound(name: string, data: BoundTensor["data"], ...shape: number[]) {
  return { name, data, shape, dtype: "float32" } as const;
}

const options = { threads: 1 };

Deno.test("a binding reads and writes the arrays in place", () => {
  const x = Float32Array.of(1, 2), y = new Float32Array(2);
  const binding = new OnnxSession(modelOf(), options)
    .bind([bound("x", x, 2)], [bound("y", y, 2)]);
  assertEquals(binding.arrays, [x, y]);
  binding.run();
  assertEquals(y, Float32Array.of(3, 5));
  x[0] = -1;
  binding.run();
  assertEquals(y, Float32Array.of(-1, 5));
  binding.close();
});

Deno.test("arrays may be parts of others, and of shared memory", () => {
  const all = Float32Array.of(9, 1, 2, 9);
  const shared = new Float32Array(new SharedArrayBuffer(8));
  const session = new OnnxSession(modelOf(), options);
  session.bind(
    [bound("x", all.subarray(1, 3), 2)],
    [bound("y", shared, 2)],
  ).run();
  assertEquals([...shared], [3, 5]);
  session.bind([bound("x", shared, 2)], [bound("y", all.subarray(2), 2)]).run();
  assertEquals(all, Float32Array.of(9, 1, 7, 11));
});

Deno.test("a session has many bindings, each of its own arrays", () => {
  const session = new OnnxSession(modelOf(), options);
  const results = [1, 2, 3].map((value) => {
    const y = new Float32Array(2);
    const x = new Float32Array(2).fill(value);
    session.bind([bound("x", x, 2)], [bound("y", y, 2)]).run();
    return y[1];
  });
  assertEquals(results, [3, 5, 7]);
});

Deno.test("a closed binding does not run, and may be closed again", () => {
  const x = new Float32Array(2), y = new Float32Array(2);
  const binding = new OnnxSession(modelOf(), options)
    .bind([bound("x", x, 2)], [bound("y", y, 2)]);
  binding.close();
  binding.close();
  assertThrows(() => binding.run(), TypeError, "closed");
});

/** What something throws: one line of ONNX Runtime's. */
function assertOneLine(run: () => unknown): void {
  const { message } = assertThrows(run, Error, "ONNX Runtime: ");
  assertEquals(message.split("\n").length, 1);
}

Deno.test("a bad model is an error of one line", () => {
  assertOneLine(() => new OnnxSession(new Uint8Array(0), options));
  assertOneLine(() => new OnnxSession(Uint8Array.of(1, 2, 3), options));
  const nodes = [{
    op: "NoSuchOperation",
    domain: "",
    inputs: ["x"],
    outputs: ["y"],
    attributes: {},
  }];
  const port = { dtype: "float32", shape: [2] } as const;
  const model = encodeModel({
    inputs: [{ name: "x", ...port }],
    outputs: [{ name: "y", ...port }],
    nodes,
    initializers: [],
  });
  assertOneLine(() => new OnnxSession(model, options));
});

Deno.test("wrong bindings are errors of one line", () => {
  const session = new OnnxSession(modelOf(), options);
  const data = new Float32Array(2);
  const y = bound("y", data, 2);
  assertOneLine(() => session.bind([bound("other", data, 2)], [y]));
  assertOneLine(() => session.bind([bound("x", data, 3)], [y]));
  assertOneLine(() => session.bind([], [y]).run());
  assertOneLine(() =>
    session.bind([bound("x", data.subarray(1), 1)], [y]).run()
  );
});

/** Memory of the process in MiB. */
const memory = () => Deno.memoryUsage().rss / 2 ** 20;

Deno.test("bindings that are closed leave no memory behind", () => {
  const session = new OnnxSession(modelOf(), options);
  const x = new Float32Array(2), y = new Float32Array(2);
  const cycle = (times: number) => {
    for (let i = 0; i < times; i++) {
      const binding = session.bind([bound("x", x, 2)], [bound("y", y, 2)]);
      binding.run();
      binding.close();
    }
  };
  cycle(1000);
  const before = memory();
  cycle(4000);
  assert(memory() - before < 32, `${memory() - before} MiB more`);
});

Deno.test("many sessions may be made", () => {
  for (let i = 0; i < 100; i++) {
    const y = new Float32Array(2);
    const binding = new OnnxSession(modelOf(i), options)
      .bind([bound("x", Float32Array.of(1, 2), 2)], [bound("y", y, 2)]);
    binding.run();
    assertEquals(y[1], 2 * i + 1);
    binding.close();
  }
});

Deno.test("JavaScript keeps its smallest numbers", () => {
  const x = new Float32Array(2), y = new Float32Array(2);
  const session = new OnnxSession(modelOf(), options);
  session.bind([bound("x", x, 2)], [bound("y", y, 2)]).run();
  // ONNX Runtime can flush them to 0, for the whole thread that asks for it.
  const smallest = Float64Array.of(2 ** -1022);
  assertEquals(smallest[0] / 2 > 0, true);
  assertEquals(smallest[0] / 2 * 2, 2 ** -1022);
});

Deno.test("blocks hold 16 or 8 channels where there are any", () => {
  assert([0, 8, 16].includes(blockSize()));
  assertEquals(blockSize(), blockSize());
});
