import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "../backend.ts";
import { assertNoLeak } from "../testdata/assert_no_leak.ts";
import { assertBackendsAgree } from "../testdata/backends_agree.ts";

Deno.test("gather and its gradient are those of cpu", async () => {
  const cases = fc.tuple(
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 1, max: 4 }),
    fc.array(fc.nat(20), { minLength: 1, maxLength: 8 }),
    fc.constantFrom(0, 1),
  );
  await fc.assert(fc.asyncProperty(cases, async ([rows, columns, at, axis]) => {
    const length = axis === 0 ? rows : columns;
    const indices = at.map((it) => it % length);
    await assertBackendsAgree({
      shapes: [[rows, columns]],
      op: (x) => tf.gather(x, tf.tensor1d(indices, "int32"), axis),
    });
  }));
});

Deno.test("rows are added up by segment, empty segments are 0", async () => {
  await selectBackend("wasm");
  const rows = tf.tensor2d([[1, 2], [3, 4], [5, 6], [7, 8]]);
  const ids = tf.tensor1d([2, 0, 2, -1], "int32");
  const sums = tf.unsortedSegmentSum(rows, ids, 4);
  assertEquals(sums.shape, [4, 2]);
  assertEquals([...sums.dataSync()], [3, 4, 0, 0, 6, 8, 0, 0]);
});

Deno.test("it leaves no memory behind", async () => {
  await selectBackend("wasm");
  const x = tf.ones([6, 3]);
  const ids = tf.tensor1d([0, 1, 0, 1, 0, 1], "int32");
  assertNoLeak(() => tf.unsortedSegmentSum(x, ids, 2).dispose());
});
