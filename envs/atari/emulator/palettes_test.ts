import { assertEquals } from "@std/assert";
import { NTSC, paint, paintGray, PAL } from "./palettes.ts";

Deno.test("palettes begin with black and end a hue with its brightest", () => {
  for (const { rgb, gray } of [NTSC, PAL]) {
    assertEquals(rgb.slice(0, 3), new Uint8Array(3));
    assertEquals(gray[0], 0);
    assertEquals(rgb.slice(3 * 14, 3 * 14 + 3), new Uint8Array(3).fill(236));
    assertEquals(gray[14], 236);
  }
});

Deno.test("an odd number is the gray of the colour below", () => {
  // 0x22 is the second colour of the hue 2 of PAL: 96711a.
  assertEquals(PAL.rgb.slice(3 * 0x22, 3 * 0x22 + 3).toHex(), "96711a");
  const gray = PAL.gray[0x22];
  assertEquals(
    PAL.rgb.slice(3 * 0x23, 3 * 0x23 + 3),
    new Uint8Array(3).fill(gray),
  );
});

Deno.test("paint gives each pixel its colour and gray", () => {
  const screen = Uint8Array.of(0x22, 0x00);
  const rgb = new Uint8Array(6), gray = new Uint8Array(2);
  paint(screen, PAL, rgb);
  paintGray(screen, PAL, gray);
  assertEquals(rgb.toHex(), "96711a000000");
  assertEquals(gray, Uint8Array.of(114, 0));
});
