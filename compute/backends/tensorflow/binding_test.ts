import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import {
  nativeBinding,
  nativeTensors,
  nativeTest,
  useTensorFlow,
} from "./testdata/native.ts";
import { assertRefused } from "../../../tests/testdata/refused.ts";

nativeTest("float32 tensors come back as they were, of any shape", async () => {
  await useTensorFlow();
  const shape = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 });
  fc.assert(fc.property(shape, (shape) => {
    const size = shape.reduce((a, b) => a * b, 1);
    const values = Float32Array.from({ length: size }, (_, i) => i - 1.5);
    const doubled = tf.tidy(() => tf.add(tf.tensor(values, shape), 1));
    assertEquals(doubled.shape, shape);
    assertEquals([...doubled.dataSync()], [...values].map((x) => x + 1));
    doubled.dispose();
  }));
});

nativeTest("int32 and bool tensors keep their type and values", async () => {
  await useTensorFlow();
  const ints = tf.tensor1d([1, -2, 2147483647], "int32");
  const sum = tf.add(ints, tf.scalar(0, "int32"));
  assertEquals(sum.dtype, "int32");
  assertEquals(sum.dataSync(), new Int32Array([1, -2, 2147483647]));
  const flags = tf.logicalNot(tf.tensor1d([true, false], "bool"));
  assertEquals(flags.dtype, "bool");
  assertEquals(flags.dataSync(), new Uint8Array([0, 1]));
  const casts = [flags.toFloat(), ints.toBool(), tf.tensor1d([1.7]).toInt()];
  assertEquals(casts.map((t) => t.dtype), ["float32", "bool", "int32"]);
  assertEquals(casts.map((t) => [...t.dataSync()]), [[0, 1], [1, 1, 1], [1]]);
});

nativeTest("complex64 and string tensors are refused by name", async () => {
  await useTensorFlow();
  const before = nativeTensors();
  tf.tidy(() => {
    assertRefused({
      "TypeError: Cannot hold complex64 tensors": () => tf.complex([1], [2]),
      "TypeError: Cannot hold string tensors": () =>
        tf.concat([tf.tensor1d(["a"]), tf.tensor1d(["b"])]),
    });
  });
  assertEquals(nativeTensors(), before);
});

nativeTest("what is read is a copy", async () => {
  await useTensorFlow();
  const a = tf.add(tf.tensor1d([1, 2]), 0);
  a.dataSync().fill(9);
  assertEquals([...a.dataSync()], [1, 2]);
});

nativeTest("disposing frees the native tensors", async () => {
  await useTensorFlow();
  const w = tf.variable(tf.fill([8, 8], 0.5));
  const step = () =>
    tf.tidy(() => {
      const x = tf.ones([4, 8]);
      const { value, grads } = tf.variableGrads(() =>
        tf.sum(tf.square(tf.matMul(x, w))) as tf.Scalar
      );
      w.assign(tf.sub(w, tf.mul(grads[w.name], 1e-6)));
      return value.dataSync()[0];
    });
  step();
  const before = nativeTensors();
  for (let i = 0; i < 200; i++) step();
  assertEquals(nativeTensors(), before);
  w.dispose();
  assertEquals(nativeTensors(), before - 1);
});

nativeTest("memory stays flat over many large tensors", async () => {
  await useTensorFlow();
  const large = () => tf.tidy(() => tf.add(tf.ones([512, 512]), 1).dataSync());
  // Until the garbage collector has found its pace.
  for (let i = 0; i < 150; i++) large();
  const before = Deno.memoryUsage().rss;
  // 300 MiB are written, computed and read; a leak of any keeps all of them.
  for (let i = 0; i < 300; i++) large();
  const grown = (Deno.memoryUsage().rss - before) / 2 ** 20;
  assertEquals(grown < 200 ? "flat" : `${grown} MiB more`, "flat");
});

nativeTest("an unknown operation is an error of one line", async () => {
  await useTensorFlow();
  const error = assertThrows(
    () => nativeBinding().executeOp("NoSuchOperation", [], [], 1),
    Error,
    "TensorFlow cannot run NoSuchOperation: ",
  );
  assertEquals(error.message.split("\n").length, 1);
});

nativeTest("a failed operation leaves the backend whole", async () => {
  await useTensorFlow();
  const binding = nativeBinding();
  const before = nativeTensors();
  const types = [{
    name: "T",
    type: binding.TF_ATTR_TYPE,
    value: binding.TF_FLOAT,
  }];
  const create = (n: number) =>
    binding.createTensor([n], binding.TF_FLOAT, new Float32Array(n).fill(n));
  const [a, b] = [create(2), create(3)];
  assertRefused({
    "Error: TensorFlow cannot run AddV2: ": () =>
      binding.executeOp("AddV2", types, [a, b], 1),
  });
  const [sum] = binding.executeOp("AddV2", types, [b, b], 1);
  assertEquals(sum.shape, [3]);
  assertEquals(binding.tensorDataSync(sum.id), new Float32Array([6, 6, 6]));
  for (const id of [a, b, sum.id]) binding.deleteTensor(id);
  assertEquals(nativeTensors(), before);
  assertThrows(() => binding.deleteTensor(a), RangeError, "is not alive");
});

nativeTest("arrays that do not fit their tensor are refused", async () => {
  await useTensorFlow();
  const binding = nativeBinding();
  assertRefused({
    "RangeError: Cannot make a tensor of shape [3] from 8 bytes: wanted 12":
      () => binding.createTensor([3], binding.TF_FLOAT, new Float32Array(2)),
    "TypeError: Cannot make a tensor from Float32Array: wanted Int32Array":
      () => binding.createTensor([2], binding.TF_INT32, new Float32Array(2)),
  });
});

nativeTest("operations with many outputs and list inputs run", async () => {
  await useTensorFlow();
  const parts = tf.split(tf.range(0, 40), 20);
  assertEquals(parts.map((t) => [...t.dataSync()]).at(-1), [38, 39]);
  const joined = tf.concat(parts.reverse());
  assertEquals([...joined.dataSync()].slice(0, 4), [38, 39, 36, 37]);
  const pair = tf.stack([parts[0], parts[1]]);
  assertEquals(pair.shape, [2, 2]);
  const padded = tf.pad(pair, [[1, 0], [0, 1]], 7);
  assertEquals([...padded.dataSync()], [7, 7, 7, 38, 39, 7, 36, 37, 7]);
});
