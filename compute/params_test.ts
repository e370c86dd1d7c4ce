import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "./backends/select_backend.ts";
import {
  addPrefix,
  cloneParams,
  disposeParams,
  mapParams,
  paramsFromArrays,
  paramsToArrays,
  pickPrefix,
  ravel,
  unravelArray,
} from "./params.ts";

await selectBackend("cpu");

Deno.test("parameters survive the way out and back, in order", () => {
  const params = {
    "b/kernel": tf.tensor2d([[1, 2, 3]]),
    "a/count": tf.tensor1d([4, 5], "int32"),
    "c": tf.scalar(-0.5),
  };
  const arrays = paramsToArrays(params);
  disposeParams(params);
  const back = paramsFromArrays(arrays);
  assertEquals(Object.keys(back), ["b/kernel", "a/count", "c"]);
  assertEquals(back["a/count"].dtype, "int32");
  assertEquals(paramsToArrays(back), arrays);
});

Deno.test("tensors do not change with the arrays that they were made from", () => {
  const data = new Float32Array([1, 2]);
  const { w } = paramsFromArrays({ w: { data, shape: [2] } });
  data[0] = 9;
  assertEquals([...w.dataSync()], [1, 2]);
});

Deno.test("an array that does not fit its shape is refused", () => {
  assertThrows(
    () => paramsFromArrays({ w: { data: new Float32Array(3), shape: [2, 2] } }),
    RangeError,
    "Cannot make 'w' of shape [2,2] from 3 numbers: it holds 4",
  );
});

Deno.test("a clone outlives the original, a map keeps the paths", () => {
  const params = { x: tf.scalar(1), y: tf.scalar(2) };
  const copy = cloneParams(params);
  const paths: string[] = [];
  const doubled = mapParams(params, (it, path) => {
    paths.push(path);
    return it.mul(2);
  });
  disposeParams(params);
  assertEquals(copy.y.dataSync()[0], 2);
  assertEquals(doubled.y.dataSync()[0], 4);
  assertEquals(paths, ["x", "y"]);
});

Deno.test("views of all parameters in one array change with it", () => {
  const params = { b: tf.tensor2d([[1, 2], [3, 4]]), a: tf.scalar(5) };
  const flat = ravel(params).dataSync() as Float32Array;
  const views = unravelArray(flat, params);
  assertEquals(flat, Float32Array.of(1, 2, 3, 4, 5));
  assertEquals(views, paramsToArrays(params));
  flat[4] = 6;
  assertEquals(views.a.data[0], 6);
});

const tensor = tf.scalar(1);

Deno.test("pickPrefix undoes addPrefix", () => {
  const path = fc.stringMatching(/^[a-z][a-z0-9/]{0,8}$/);
  fc.assert(fc.property(fc.uniqueArray(path), path, (paths, name) => {
    const params = Object.fromEntries(paths.map((p) => [p, tensor]));
    const back = pickPrefix(
      { other: tensor, ...addPrefix(params, name) },
      name,
    );
    assertEquals(Object.keys(back), paths);
  }));
});

Deno.test("pickPrefix takes whole names only and shares the tensors", () => {
  const params = { "pi/a": tensor, "pip/b": tensor, "vf/pi/c": tensor };
  assertEquals(Object.keys(pickPrefix(params, "pi")), ["a"]);
  assertStrictEquals(pickPrefix(params, "pi").a, tensor);
  assertEquals(pickPrefix(params, "p"), {});
});
