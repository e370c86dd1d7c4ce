import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { decode, decodeFrames } from "modern-gif";
import type { RgbImage } from "@bellman/types";
import { GifEncoder, renderAnimation } from "./animation.ts";

/** The bytes of a GIF of some pictures. */
function written(
  pictures: readonly RgbImage[],
  framesPerSecond = 20,
): ArrayBuffer {
  return renderAnimation(pictures, { framesPerSecond }).buffer;
}

/** Red, green and blue of each pixel of each picture that a viewer shows. */
function shown(bytes: ArrayBuffer): Uint8Array[] {
  return decodeFrames(bytes).map(({ data }) =>
    Uint8Array.from(data).filter((_, i) => i % 4 < 3)
  );
}

function solid(red: number, green: number, blue: number): RgbImage {
  const data = new Uint8Array(8 * 4 * 3);
  for (let i = 0; i < data.length; i += 3) data.set([red, green, blue], i);
  return { width: 8, height: 4, data };
}

Deno.test("a GIF holds each picture with its size and delay", () => {
  const pictures = [solid(255, 0, 0), solid(0, 0, 255), solid(0, 0, 255)];
  const bytes = written(pictures);
  const gif = decode(bytes);
  assertEquals([gif.width, gif.height, gif.looped], [8, 4, true]);
  assertEquals(gif.frames.map((frame) => frame.delay), [50, 50, 50]);
  assertEquals(shown(bytes), pictures.map(({ data }) => data));
});

Deno.test("pictures of up to 255 colours are shown exactly", () => {
  const colors = fc.array(fc.nat(0xffffff), { minLength: 1, maxLength: 255 });
  const pictures = fc.array(
    fc.tuple(colors, fc.nat(9), fc.integer({ min: 1, max: 7 })),
    { minLength: 1, maxLength: 6 },
  );
  fc.assert(
    fc.property(pictures, (kinds) => {
      let data = new Uint8Array(20 * 15 * 3);
      const pictures = kinds.map(([colors, from, step]): RgbImage => {
        data = data.slice();
        // Some pixels stay as in the picture before.
        for (let pixel = from; pixel < 300; pixel += step) {
          const color = colors[pixel % colors.length];
          data.set([color >> 16, color >> 8 & 255, color & 255], 3 * pixel);
        }
        return { width: 20, height: 15, data };
      }).filter(({ data }) => colorsIn(data) <= 255);
      if (pictures.length === 0) return;
      assertEquals(
        shown(written(pictures)),
        pictures.map(({ data }) => data),
      );
    }),
    { numRuns: 50 },
  );
});

function colorsIn(data: Uint8Array): number {
  const colors = new Set<number>();
  for (let i = 0; i < data.length; i += 3) {
    colors.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
  }
  return colors.size;
}

Deno.test("pictures of more colours are shown in those that suit them", () => {
  const pictures = [0, 3].map((shift): RgbImage => ({
    width: 64,
    height: 64,
    data: Uint8Array.from({ length: 64 * 64 * 3 }, (_, i) => {
      const pixel = Math.floor(i / 3);
      const [x, y] = [(pixel + shift) % 64, Math.floor(pixel / 64)];
      return [4 * x, 4 * y, 2 * (x + y)][i % 3];
    }),
  }));
  shown(written(pictures)).forEach((data, k) => {
    const offs = Array.from(
      data,
      (it, i) => Math.abs(it - pictures[k].data[i]),
    );
    const mean = offs.reduce((sum, it) => sum + it) / offs.length;
    assert(mean < 6, `${mean}`);
    assert(Math.max(...offs) < 40, `${Math.max(...offs)}`);
  });
});

Deno.test("a GIF takes as long as its pictures at any rate", () => {
  for (const framesPerSecond of [3, 24, 30, 45, 50]) {
    const pictures = Array.from({ length: 90 }, () => solid(0, 0, 0));
    const delays = decode(written(pictures, framesPerSecond)).frames
      .map((frame) => frame.delay);
    const whole = delays.reduce((sum, it) => sum + it, 0);
    assertAlmostEquals(whole, 90_000 / framesPerSecond, 5);
    assert(delays.every((it) => it >= 20));
  }
});

Deno.test("images are at hand as they are added", () => {
  const encoder = new GifEncoder(20);
  const pictures = [solid(255, 0, 0), solid(0, 255, 0)];
  const parts = pictures.map((it) => encoder.add(it));
  const whole = new Uint8Array(written(pictures));
  parts.push(encoder.finish());
  assertEquals(Uint8Array.from(parts.flatMap((it) => [...it])), whole);
});

Deno.test("an animation needs images, of one size, and a rate", () => {
  const refuse = (images: RgbImage[], framesPerSecond?: number) =>
    assertThrows(() => renderAnimation(images, { framesPerSecond }), RangeError)
      .message;
  const small = { width: 1, height: 1, data: new Uint8Array(3) };
  assertEquals(refuse([]), "Cannot animate 0 images: expected at least one");
  assertEquals(
    refuse([solid(1, 2, 3), small]),
    "Cannot animate an image of 1 by 1 pixels: expected 8 by 4, as the one before",
  );
  for (const rate of [0, -1, NaN, 51, Infinity]) {
    assertEquals(
      refuse([small], rate),
      `Cannot animate at ${rate} images a second: expected more than 0 and at most 50`,
    );
  }
});
