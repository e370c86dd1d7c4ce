import { assertEquals, assertThrows } from "@std/assert";
import { MemoryStorage } from "./memory_storage.ts";

const spec = { name: "x", dtype: "float32", size: 2 } as const;

Deno.test("a row is read to where it is wanted", () => {
  const column = new MemoryStorage().allocate(spec, 2);
  column.write(1, [3, 4]);
  const into = new Float32Array(4);
  column.read(1, into, 2);
  assertEquals(into, Float32Array.of(0, 0, 3, 4));
});

Deno.test("memory that there is not is named", () => {
  assertThrows(
    () => new MemoryStorage().allocate({ ...spec, size: 2 ** 30 }, 2 ** 22),
    RangeError,
    "Cannot allocate 18014398509481984 bytes for 4194304 rows of 'x': expected fewer rows or a storage on disk",
  );
});
