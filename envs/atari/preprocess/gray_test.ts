import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { luminance, toGray } from "./gray.ts";

const byte = fc.nat(255);

Deno.test("a gray stays as it is, and luminance is near the real one", () => {
  fc.assert(fc.property(byte, byte, byte, (red, green, blue) => {
    assertEquals(luminance(red, red, red), red);
    const exact = 0.299 * red + 0.587 * green + 0.114 * blue;
    assertEquals(Math.abs(luminance(red, green, blue) - exact) < 0.52, true);
  }));
});

Deno.test("pixels become gray one by one", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 30 }), (bytes) => {
    const pixels = bytes.slice(0, bytes.length - bytes.length % 3);
    const grays = toGray(pixels);
    assertEquals(grays.length, pixels.length / 3);
    grays.forEach((gray, i) => {
      const [red, green, blue] = pixels.subarray(3 * i);
      assertEquals(gray, luminance(red, green, blue));
    });
  }));
});

Deno.test("a part of a pixel is refused", () => {
  assertThrows(
    () => toGray(new Uint8Array(4)),
    RangeError,
    "Cannot turn 4 bytes into 1 grays: expected 3",
  );
});
