import type { RgbImage } from "@bellman/types";
import { assert } from "@std/assert";

/** The color of a pixel, counted from the upper left corner. */
export function pixel({ width, data }: RgbImage, x: number, y: number) {
  return Array.from(data.subarray((y * width + x) * 3).subarray(0, 3));
}

/** How many different colors there are. */
export function colorsOf({ data }: RgbImage): number {
  const seen = new Set<number>();
  for (let i = 0; i < data.length; i += 3) {
    seen.add(data[i] * 65536 + data[i + 1] * 256 + data[i + 2]);
  }
  return seen.size;
}

/** Throws unless pictures are mirror images but for rounding. */
export function assertMirrored(a: RgbImage, b: RgbImage): void {
  for (let y = 0; y < a.height; y++) {
    for (let x = 0; x < a.width; x++) {
      const here = pixel(a, x, y), there = pixel(b, a.width - 1 - x, y);
      const isSame = here.every((it, c) => Math.abs(it - there[c]) <= 1);
      assert(isSame, `${here} and ${there} at ${x}, ${y}`);
    }
  }
}
