import fc from "fast-check";
import { SeededRandom } from "../../../random.ts";

const WIDTH = 160, HEIGHT = 210;

/** A background in bands with rectangles on it, or noise. */
function drawn(
  { seed, rectangles, isNoise, mask }: {
    seed: number;
    rectangles: number;
    isNoise: boolean;
    mask: number;
  },
): Uint8Array {
  const random = new SeededRandom(seed);
  const gray = () => random.integer(256) & mask;
  const pixels = new Uint8Array(WIDTH * HEIGHT);
  if (isNoise) return pixels.map(gray);
  for (let y = 0; y < HEIGHT; y += 30) {
    pixels.fill(gray(), y * WIDTH, (y + 30) * WIDTH);
  }
  for (let i = 0; i < rectangles; i++) {
    const left = random.integer(WIDTH), top = random.integer(HEIGHT);
    const right = Math.min(WIDTH, left + 1 + random.integer(20));
    const bottom = Math.min(HEIGHT, top + 1 + random.integer(20));
    const color = gray();
    for (let y = top; y < bottom; y++) {
      pixels.fill(color, y * WIDTH + left, y * WIDTH + right);
    }
  }
  return pixels;
}

/** Screens of bytes with only some bits set: like a game's, or noise. */
export function screen(mask: number): fc.Arbitrary<Uint8Array> {
  return fc.record({
    seed: fc.nat(),
    rectangles: fc.nat(30),
    isNoise: fc.boolean(),
    mask: fc.constant(mask),
  }).map(drawn);
}
