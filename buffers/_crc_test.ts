import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Crc, crc32, crc32c } from "./_crc.ts";

const check = new TextEncoder().encode("123456789");

Deno.test("checksums of the standard check text", () => {
  assertEquals(crc32c(check), 0xe3069283);
  assertEquals(crc32(check), 0xcbf43926);
  assertEquals(crc32c(new Uint8Array()), 0);
});

/** RFC 3720, B.4. */
Deno.test("checksums of RFC 3720's examples", () => {
  assertEquals(crc32c(new Uint8Array(32)), 0x8a9136aa);
  assertEquals(crc32c(new Uint8Array(32).fill(255)), 0x62a8ab43);
  assertEquals(
    crc32c(Uint8Array.from({ length: 32 }, (_, i) => i)),
    0x46dd794e,
  );
});

/** The definition, bit by bit. */
function bitwise(bytes: Uint8Array, polynomial: number): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let i = 0; i < 8; i++) crc = (crc >>> 1) ^ (crc & 1 ? polynomial : 0);
  }
  return ~crc >>> 0;
}

Deno.test("any bytes, wherever they lie and however they are cut", () => {
  const both: [Crc, number][] = [[crc32c, 0x82f63b78], [crc32, 0xedb88320]];
  fc.assert(fc.property(
    fc.uint8Array({ maxLength: 200 }),
    fc.nat(7),
    fc.nat(200),
    (content, offset, cut) => {
      const bytes = new Uint8Array(content.length + offset).subarray(offset);
      bytes.set(content);
      for (const [crc, polynomial] of both) {
        const whole = crc(bytes);
        assertEquals(whole, bitwise(bytes, polynomial));
        const first = crc(bytes.subarray(0, cut));
        assertEquals(crc(bytes.subarray(cut), first), whole);
      }
    },
  ));
});

Deno.test("bytes of more than one piece", () => {
  const bytes = new Uint8Array((1 << 24) + 1000).map((_, i) =>
    i * 7 + (i >> 9)
  );
  const place = (1 << 23) + 3;
  for (const crc of [crc32, crc32c]) {
    const first = crc(bytes.subarray(0, place));
    assertEquals(crc(bytes.subarray(place), first), crc(bytes));
  }
});
