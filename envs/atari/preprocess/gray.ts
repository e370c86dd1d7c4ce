/**
 * Computes the gray of a colour: its luminance with the weights of ITU-R
 * BT.601, in fixed point as OpenCV has it.
 *
 * @param red 0 to 255.
 * @param green 0 to 255.
 * @param blue 0 to 255.
 * @returns 0 to 255.
 * @example
 * ```ts
 * import { luminance } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(luminance(236, 236, 236), 236);
 * assertEquals(luminance(200, 72, 72), 110);
 * ```
 */
export function luminance(red: number, green: number, blue: number): number {
  return (9798 * red + 19235 * green + 3735 * blue + 16384) >> 15;
}

/**
 * Turns pixels of red, green and blue into gray ones.
 *
 * @param pixels Three bytes a pixel.
 * @param into Array for the grays; a new one without it.
 * @returns One byte a pixel.
 * @throws {RangeError} If there are not three bytes for each gray.
 * @example
 * ```ts
 * import { toGray } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(toGray(Uint8Array.of(0, 0, 0, 255, 255, 255)), Uint8Array.of(0, 255));
 * ```
 */
export function toGray(
  pixels: Uint8Array,
  into: Uint8Array = new Uint8Array(Math.floor(pixels.length / 3)),
): Uint8Array {
  if (pixels.length !== 3 * into.length) {
    throw new RangeError(
      `Cannot turn ${pixels.length} bytes into ${into.length} grays: expected ${
        3 * into.length
      }`,
    );
  }
  for (let i = 0, at = 0; i < into.length; i++, at += 3) {
    into[i] = luminance(pixels[at], pixels[at + 1], pixels[at + 2]);
  }
  return into;
}
