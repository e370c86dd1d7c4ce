import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import {
  nativeBinding,
  nativeTensors,
  nativeTest,
  useTensorFlow,
} from "./testdata/native.ts";

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
  assertThrows(
    () => binding.executeOp("AddV2", types, [a, b], 1),
    Error,
    "TensorFlow cannot run AddV2: ",
  );
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
  assertThrows(
    () => binding.createTensor([3], binding.TF_FLOAT, new Float32Array(2)),
    RangeError,
    "Cannot make a tensor of shape [3] from 8 bytes: wanted 12",
  );
  assertThrows(
    () => binding.createTensor([2], binding.TF_INT32, new Float32Array(2)),
    TypeError,
    "Cannot make a tensor from Float32Array: wanted Int32Array",
  );
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
