import { encode } from "modern-gif";
import type { Picture } from "./picture.ts";

/** Adds the fourth byte a pixel that the encoder wants: fully opaque. */
function toRgba({ data }: Picture): Uint8ClampedArray<ArrayBuffer> {
  const pixels = data.length / 3;
  const rgba = new Uint8ClampedArray(pixels * 4);
  for (let i = 0; i < pixels; i++) {
    rgba[4 * i] = data[3 * i];
    rgba[4 * i + 1] = data[3 * i + 1];
    rgba[4 * i + 2] = data[3 * i + 2];
    rgba[4 * i + 3] = 255;
  }
  return rgba;
}

/** Pictures a second of a GIF at most: viewers slow shorter delays down. */
export const MOST_GIF_FRAMES_PER_SECOND = 50;

/** How long a picture stays in ms: whole hundredths of a second, right in sum. */
function delayOf(index: number, framesPerSecond: number): number {
  const hundredths = (count: number) =>
    Math.round(100 * count / framesPerSecond);
  return 10 * (hundredths(index + 1) - hundredths(index));
}

/** Encodes pictures of one size as an animated GIF that loops. */
export async function encodeGif(
  pictures: readonly Picture[],
  { framesPerSecond }: { framesPerSecond: number },
): Promise<Uint8Array> {
  const [{ width, height }] = pictures;
  const frames = pictures.map((it, i) => ({
    data: toRgba(it),
    delay: delayOf(i, framesPerSecond),
  }));
  return new Uint8Array(await encode({ width, height, frames }));
}
