import { assertEquals } from "@std/assert";
import { addressOf, CStruct, int64sAt, textAt, utf8 } from "./c_struct.ts";

Deno.test("fields of a struct are written and read at their offsets", () => {
  const struct = new CStruct(40);
  struct.set(0, 2 ** 47 - 1).set(8, 7).setInt32(16, -5);
  assertEquals([struct.get(0), struct.get(8)], [2 ** 47 - 1, 7]);
  assertEquals(struct.int32(16), -5);
  new BigInt64Array(struct.words.buffer, 24, 1)[0] = -(2n ** 40n);
  assertEquals(struct.int64(24), -(2 ** 40));
  assertEquals([struct.bool(8), struct.bool(9)], [true, false]);
});

Deno.test("a struct points at structs and arrays", () => {
  const inner = new CStruct(16), text = utf8("wörter");
  const outer = new CStruct(24).point(0, inner).point(8, text)
    .set(16, text.length);
  assertEquals(outer.get(0), inner.address);
  assertEquals(outer.text(8), "wörter");
  assertEquals(textAt(addressOf(text), 1), "w");
});

Deno.test("numbers are read where they lie", () => {
  const numbers = BigInt64Array.of(1n, -2n, 3n);
  assertEquals(int64sAt(addressOf(numbers), 3), [1, -2, 3]);
  assertEquals(int64sAt(0, 0), []);
});
