import { assertEquals, assertThrows } from "@std/assert";
import { alignedArray, isAligned } from "./tensors.ts";

Deno.test("alignedArray has the type and length, and is aligned", () => {
  for (const length of [0, 1, 3, 1000]) {
    const array = alignedArray("i32", length);
    assertEquals(array, new Int32Array(length));
    assertEquals(isAligned(array), true);
    assertEquals(isAligned(alignedArray("i1", length)), true);
  }
  const { buffer, byteOffset } = alignedArray("f32", 4);
  assertEquals(isAligned(new Float32Array(buffer, byteOffset + 4)), false);
});

Deno.test("an array that there is no memory for is refused in one line", () => {
  const bytes = 4 * 2 ** 50 + 64;
  assertThrows(
    () => alignedArray("f32", 2 ** 50),
    RangeError,
    `Cannot allocate an array of ${bytes} bytes: there is no memory for it`,
  );
});
