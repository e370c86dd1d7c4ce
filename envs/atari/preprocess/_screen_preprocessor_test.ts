import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { AreaResizer, type ImageSize } from "./area_resizer.ts";
import {
  FRAME,
  type MaximumOf,
  SCREEN,
  ScreenKernel,
  ScreenPreprocessor,
} from "./_screen_preprocessor.ts";
import { assembled, GENERATED } from "./testdata/assemble.ts";
import { screen } from "./testdata/screen.ts";
import { NTSC, PAL, type Palette } from "../emulator/palettes.ts";
import { toGray } from "./gray.ts";

Deno.test("the bytes are those of the text", async () => {
  assertEquals(await Deno.readTextFile(GENERATED), await assembled());
});

Deno.test("its averages are those of the plain form, bit for bit", () => {
  const kernel = new ScreenKernel();
  const plain = new AreaResizer(SCREEN, FRAME);
  fc.assert(
    fc.property(screen(255), (pixels) => {
      kernel.gray.set(pixels);
      kernel.resize();
      assertEquals(kernel.frame, plain.resize(pixels));
    }),
    { numRuns: 30 },
  );
});

Deno.test("averages of any two neighbouring grays are rounded alike", () => {
  const kernel = new ScreenKernel();
  const plain = new AreaResizer(SCREEN, FRAME);
  for (let low = 0; low < 255; low++) {
    // A pattern in which the two are mixed in many ways; some of them are ties.
    for (let at = 0; at < kernel.gray.length; at++) {
      kernel.gray[at] = low + ((at * at) >> 7 & 1);
    }
    kernel.resize();
    assertEquals(kernel.frame, plain.resize(kernel.gray));
  }
});

Deno.test("grays are looked up for each pair of pixels", () => {
  const kernel = new ScreenKernel();
  kernel.pairs.forEach((_, i) => kernel.pairs[i] = (i * 101) >> 3);
  fc.assert(
    fc.property(screen(255), screen(255), fc.boolean(), (a, b, isSame) => {
      const [before, now] = kernel.screens;
      before.set(a);
      now.set(isSame ? a : b);
      kernel.toGray(before, now);
      const expected = before.map((it, i) => kernel.pairs[it * 256 + now[i]]);
      assertEquals(kernel.gray, expected);
    }),
    { numRuns: 30 },
  );
});

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
