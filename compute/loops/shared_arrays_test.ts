import { assertEquals } from "@std/assert";
import { sharedArrays } from "./shared_arrays.ts";

Deno.test("arrays are of their kinds, apart, and on cache lines of their own", () => {
  const { memory, arrays } = sharedArrays({
    counts: [Int32Array, 3],
    none: [Float32Array, 0],
    sums: [Float64Array, 20_000],
    last: [Float32Array, 17],
  });
  assertEquals(memory.buffer instanceof SharedArrayBuffer, true);
  arrays.counts.fill(1);
  arrays.sums.fill(2);
  arrays.last.fill(3);
  assertEquals([...arrays.counts], [1, 1, 1]);
  assertEquals(arrays.sums.every((it) => it === 2), true);
  assertEquals([arrays.none.length, arrays.last.length], [0, 17]);
  for (const it of Object.values(arrays)) {
    assertEquals(it.buffer, memory.buffer);
    assertEquals(it.byteOffset % 64, 0);
  }
});
