/**
 * What a call costs: a forward pass of 16 rows through 4-64-64-2 compiled, by
 * the functions of the npm package for the same model, and eagerly. Run with
 * `deno bench`.
 */
import * as tf from "@tensorflow/tfjs";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { binding, initOrt } from "onnxruntime-node/dist/binding.js";
import { selectBackend } from "../backends/select_backend.ts";
import { lowerGraph } from "../lowering/lower.ts";
import { encodeModel } from "../onnx/model_builder.ts";
import { compile } from "./compile.ts";

const SIZES = [4, 64, 64, 2];
const ROWS = 16;

await selectBackend("wasm");

const kernelOf = (i: number) => ({
  shape: [SIZES[i], SIZES[i + 1]],
  dtype: "float32" as const,
});
const biasOf = (i: number) => ({
  shape: [SIZES[i + 1]],
  dtype: "float32" as const,
});
const inputs = {
  x: { shape: [ROWS, SIZES[0]], dtype: "float32" },
  w0: kernelOf(0),
  b0: biasOf(0),
  w1: kernelOf(1),
  b1: biasOf(1),
  w2: kernelOf(2),
  b2: biasOf(2),
} as const;

type Layers = { readonly [K in keyof typeof inputs]: tf.Tensor };

function forward({ x, w0, b0, w1, b1, w2, b2 }: Layers) {
  const first = tf.tanh(tf.add(tf.matMul(x, w0), b0));
  const second = tf.tanh(tf.add(tf.matMul(first, w1), b1));
  return { y: tf.add(tf.matMul(second, w2), b2) };
}

const compiled = compile(forward, { inputs, engine: "onnx", threads: 1 });
const eager = compile(forward, { inputs, engine: "eager" });
const arrays = Object.fromEntries(
  Object.entries(inputs).map(([name, { shape }], k) => [
    name,
    Float32Array.from(
      { length: shape.reduce((a: number, b: number) => a * b, 1) },
      (_, i) => Math.sin(i + k) / 8,
    ),
  ]),
) as Record<keyof typeof inputs, Float32Array>;

const model = encodeModel(lowerGraph(compiled.graph));
const settings = { intraOpNumThreads: 1 };
const feeds = Object.fromEntries(
  Object.entries(inputs).map(([name, { shape }]) => [
    name,
    new Tensor("float32", arrays[name as keyof typeof inputs], [...shape]),
  ]),
);
const y = new Tensor("float32", new Float32Array(ROWS * 2), [ROWS, 2]);
const published = await InferenceSession.create(model, settings);
initOrt();
const native = new binding.InferenceSession();
native.loadModel(model.buffer, model.byteOffset, model.byteLength, settings);

Deno.bench({
  name: "compiled: the C interface, arrays bound",
  group: "forward",
  baseline: true,
  fn: () => void compiled.run(arrays),
});

Deno.bench({
  name: "npm package, its synchronous native session",
  group: "forward",
  fn: () => void native.run(feeds, { y }, {}),
});

Deno.bench({
  name: "npm package, as it is published",
  group: "forward",
  fn: async () => void await published.run(feeds, { y }),
});

Deno.bench({
  name: "eager, wasm",
  group: "forward",
  fn: () => void eager.run(arrays),
});
