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

/** Encodes pictures of one size as an animated GIF that loops. */
export async function encodeGif(
  pictures: readonly Picture[],
  { framesPerSecond }: { framesPerSecond: number },
): Promise<Uint8Array> {
  const [{ width, height }] = pictures;
  const delay = Math.round(1000 / framesPerSecond);
  const frames = pictures.map((it) => ({ data: toRgba(it), delay }));
  return new Uint8Array(await encode({ width, height, frames }));
}
