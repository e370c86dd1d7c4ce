import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { float } from "../testdata/traced.ts";
import { trace } from "../tracing/trace.ts";
import { findInPlace } from "./in_place.ts";
import { findStages } from "./stages.ts";

await selectBackend("cpu");

type Tensors = Record<string, tf.Tensor>;
const SIZE = 500_000;
const UNITS = ["w", "m"].map((name) => ({ name, members: [name] }));

function inPlace(fn: (given: Tensors) => Record<string, tf.Tensor>): string[] {
  const vector = float(SIZE);
  const graph = trace((given) => fn(given as Tensors), {
    w: vector,
    m: vector,
  });
  const staged = findStages(graph, new Set(["w", "m"]));
  return [...findInPlace(graph, { staged, units: UNITS })];
}

const moved = ({ w, m }: Tensors) =>
  tf.sub(w, tf.div(tf.mul(m, 0.9), tf.add(tf.sqrt(tf.square(m)), 1e-8)));

Deno.test("what a loop makes of itself is written over itself", () => {
  assertEquals(inPlace((it) => ({ w: moved(it), m: tf.mul(it.m, 0.5) })), [
    "w",
    "m",
  ]);
});

Deno.test("what is read later on is not written over", () => {
  const late = inPlace((it) => {
    const w = moved(it);
    return { w, m: tf.exp(tf.mul(it.w, tf.sum(w))) };
  });
  assertEquals(late, []);
});

Deno.test("what is read before may be written over", () => {
  const early = inPlace((it) => {
    const w = moved({ w: it.w, m: tf.mul(it.m, tf.sum(tf.exp(it.w))) });
    return { w, m: tf.exp(it.m) };
  });
  assertEquals(early, ["w"]);
});

Deno.test("what a loop makes of something else keeps its place", () => {
  // The new `m` is the old `w`, which is copied before the loop.
  assertEquals(inPlace((it) => ({ w: moved(it), m: it.w.clone() })), ["w"]);
});
