import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { AreaResizer, type ImageSize } from "./area_resizer.ts";
import { assertRefused } from "../../../tests/testdata/refused.ts";

/** The average of each new pixel, from the definition, with whole numbers. */
function byDefinition(
  pixels: Uint8Array,
  from: ImageSize,
  to: ImageSize,
): bigint[] {
  const overlap = (k: number, unit: number, i: number, total: number) =>
    Math.max(
      0,
      Math.min((k + 1) * unit, (i + 1) * total) - Math.max(k * unit, i * total),
    );
  const sums: bigint[] = [];
  for (let i = 0; i < to.width * to.height; i++) {
    const row = Math.floor(i / to.width), column = i % to.width;
    let sum = 0n;
    pixels.forEach((pixel, k) => {
      const y = overlap(
        Math.floor(k / from.width),
        to.height,
        row,
        from.height,
      );
      const x = overlap(k % from.width, to.width, column, from.width);
      sum += BigInt(x * y * pixel);
    });
    sums.push(sum);
  }
  return sums;
}

const size = fc.record({
  width: fc.integer({ min: 1, max: 9 }),
  height: fc.integer({ min: 1, max: 9 }),
});

Deno.test("each new pixel is the nearest number to its area's average", () => {
  fc.assert(fc.property(
    size,
    size,
    fc.uint8Array({ minLength: 81, maxLength: 81 }),
    (from, to, all) => {
      const pixels = all.slice(0, from.width * from.height);
      const total = BigInt(pixels.length);
      const resized = new AreaResizer(from, to).resize(pixels);
      byDefinition(pixels, from, to).forEach((sum, i) => {
        const off = 2n * (BigInt(resized[i]) * total - sum);
        const isTie = off === total || off === -total;
        if (isTie) assertEquals(resized[i] % 2, 0);
        else assertEquals(off < total && off > -total, true);
      });
    },
  ));
});

Deno.test("a picture of its own size or of one colour stays as it is", () => {
  fc.assert(fc.property(size, size, fc.nat(255), (from, to, gray) => {
    const plain = new Uint8Array(from.width * from.height).fill(gray);
    assertEquals(
      new AreaResizer(from, to).resize(plain),
      new Uint8Array(to.width * to.height).fill(gray),
    );
    const pixels = plain.map((_, i) => (gray + 7 * i) % 256);
    assertEquals(new AreaResizer(from, from).resize(pixels), pixels);
  }));
});

Deno.test("channels are averaged each by itself", () => {
  fc.assert(fc.property(
    size,
    size,
    fc.uint8Array({ minLength: 243, maxLength: 243 }),
    (from, to, all) => {
      const count = from.width * from.height;
      const resized = new AreaResizer(from, to, { channels: 3 })
        .resize(all.slice(0, 3 * count));
      for (const channel of [0, 1, 2]) {
        const pixels = Uint8Array.from(
          { length: count },
          (_, i) => all[3 * i + channel],
        );
        assertEquals(
          resized.filter((_, i) => i % 3 === channel),
          new AreaResizer(from, to).resize(pixels),
        );
      }
    },
  ));
});

Deno.test("sizes that cannot be are refused", () => {
  const fine = { width: 2, height: 2 };
  assertRefused({
    "RangeError: Cannot resize from 0 by 2 pixels": () =>
      new AreaResizer({ width: 0, height: 2 }, fine),
    "RangeError: Cannot resize to 2 by 1.5 pixels": () =>
      new AreaResizer(fine, { width: 2, height: 1.5 }),
    "RangeError: pixels of 0 bytes": () =>
      new AreaResizer(fine, fine, { channels: 0 }),
    "RangeError: Cannot resize pixels of 5 bytes: expected 4 for 2 by 2": () =>
      new AreaResizer(fine, fine).resize(new Uint8Array(5)),
    "RangeError: Cannot resize pixels into 0 bytes: expected 4 for 2 by 2":
      () =>
        new AreaResizer(fine, fine).resize(new Uint8Array(4), new Uint8Array()),
  });
});
