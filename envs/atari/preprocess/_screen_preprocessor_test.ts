import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { AreaResizer, type ImageSize } from "./area_resizer.ts";
import { NTSC, PAL, type Palette } from "../_palettes.ts";
import { toGray } from "./gray.ts";
import { type MaximumOf, ScreenPreprocessor } from "./_screen_preprocessor.ts";
import { SCREEN } from "./_screen_kernel.ts";
import { screen } from "./testdata/screen.ts";

const FRAME = { width: 84, height: 84 };

/** Red, green and blue of each pixel. */
function colored(pixels: Uint8Array, { rgb }: Palette): Uint8Array {
  const colors = new Uint8Array(3 * pixels.length);
  pixels.forEach((pixel, i) => {
    colors.set(rgb.subarray(3 * pixel, 3 * pixel + 3), 3 * i);
  });
  return colors;
}

const brighter = (a: Uint8Array, b: Uint8Array): Uint8Array =>
  a.map((it, i) => Math.max(it, b[i]));

/** One operation after the other, as the original implementations do. */
function oneByOne(
  [a, b]: readonly [Uint8Array, Uint8Array],
  { maximum, palette, size }: {
    maximum: MaximumOf;
    palette: Palette;
    size: ImageSize;
  },
): Uint8Array {
  const gray = maximum === "color"
    ? toGray(brighter(colored(a, palette), colored(b, palette)))
    : brighter(
      a.map((it) => palette.gray[it]),
      b.map((it) => palette.gray[it]),
    );
  return new AreaResizer(SCREEN, size).resize(gray);
}

for (const maximum of ["color", "gray"] as const) {
  for (const palette of [NTSC, PAL]) {
    for (const size of [FRAME, { width: 61, height: 96 }]) {
      const format = palette === PAL ? "PAL" : "NTSC";
      const name = `${maximum}, ${size.width} by ${size.height}, ${format}`;
      Deno.test(`fused operations are those one by one: ${name}`, () => {
        const settings = { maximum, palette, size };
        const preprocessor = new ScreenPreprocessor(settings);
        const [before, now] = preprocessor.screens;
        fc.assert(
          fc.property(screen(255), screen(255), (a, b) => {
            before.set(a);
            now.set(b);
            const expected = oneByOne([a, b], settings);
            assertEquals(preprocessor.process(), expected);
            assertEquals(preprocessor.frame, expected);
            const alone = oneByOne([a, a], settings);
            assertEquals(preprocessor.processOne(0), alone);
          }),
          { numRuns: 8 },
        );
      });
    }
  }
}

Deno.test("screens may be higher", () => {
  const preprocessor = new ScreenPreprocessor({ height: 250, palette: PAL });
  const pixels = new Uint8Array(160 * 250).map((_, i) => (i * i) >> 5);
  preprocessor.screens[1].set(pixels);
  const gray = toGray(colored(pixels, PAL));
  const from = { width: 160, height: 250 };
  assertEquals(
    preprocessor.processOne(1),
    new AreaResizer(from, FRAME).resize(gray),
  );
});

Deno.test("the order matters where a colour moves over another", () => {
  const frames = (["color", "gray"] as const).map((maximum) => {
    const preprocessor = new ScreenPreprocessor({ maximum });
    preprocessor.screens[0].fill(0x44); // Red.
    preprocessor.screens[1].fill(0x84); // Blue.
    return preprocessor.process();
  });
  assertNotEquals(frames[0], frames[1]);
});

Deno.test("two of them share nothing", () => {
  const [one, other] = [new ScreenPreprocessor(), new ScreenPreprocessor()];
  one.screens[1].fill(0x0e);
  one.process();
  assertEquals(other.process()[0], 0);
  assertEquals(one.frame[0], 236);
});

Deno.test("a size that cannot be is refused", () => {
  assertThrows(
    () => new ScreenPreprocessor({ size: { width: 84, height: 0 } }),
    RangeError,
    "Cannot resize to 84 by 0 pixels",
  );
});
