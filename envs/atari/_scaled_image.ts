import type { RenderOptions, RgbImage } from "@bellman/types";

/**
 * A picture in another size; each pixel is the nearest one, so that games keep
 * their hard edges.
 *
 * @throws {RangeError} If the size is not of whole numbers of at least 1.
 */
export function scaledImage(
  image: RgbImage,
  { width = image.width, height = image.height }: RenderOptions,
): RgbImage {
  for (const side of [width, height]) {
    if (Number.isInteger(side) && side >= 1) continue;
    throw new RangeError(
      `Cannot draw a picture of ${width} by ${height} pixels: expected whole numbers of at least 1`,
    );
  }
  if (width === image.width && height === image.height) return image;
  const data = new Uint8Array(3 * width * height);
  for (let y = 0, to = 0; y < height; y++) {
    const row = Math.floor((y + 0.5) * image.height / height) * image.width;
    for (let x = 0; x < width; x++, to += 3) {
      const from = 3 * (row + Math.floor((x + 0.5) * image.width / width));
      data[to] = image.data[from];
      data[to + 1] = image.data[from + 1];
      data[to + 2] = image.data[from + 2];
    }
  }
  return { width, height, data };
}
