import * as tf from "@tensorflow/tfjs";
import { tidy } from "./tidy.ts";

/** Settings of {@link extractPatches}, as those of `tf.conv2d`. */
export interface ConvolutionWindows {
  /** Height and width of the filter. */
  readonly filterSize: readonly [number, number];
  /** Steps between two places. */
  readonly strides: number | [number, number];
  /** Padding. */
  readonly pad: "valid" | "same" | number;
  /**
   * Distance between the numbers that a filter takes.
   *
   * @default 1
   */
  readonly dilations?: number | [number, number];
  /**
   * Rounding of sizes, where the padding is a number.
   *
   * @default none
   */
  readonly dimRoundingMode?: "floor" | "round" | "ceil";
}

/** Options of {@link extractPatches}. */
export interface ImagePatchesOptions {
  /**
   * True to put a 1 behind each patch, which a bias is multiplied with.
   *
   * @default false
   */
  readonly withOne?: boolean;
}

/**
 * Computes what a convolution multiplies its filters with at each place, in the
 * filters' order: height, width, channel.
 *
 * @param images Images `[batch, height, width, channels]`.
 * @param windows Settings of the convolution.
 * @param options A 1 behind each patch.
 * @returns Patches `[batch, outHeight, outWidth, filterHeight * filterWidth *
 * channels]`, or one number more.
 *
 * @example
 * ```ts
 * import { extractPatches } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const images = tf.tensor4d([1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 3, 3, 1]);
 * const patches = extractPatches(images, {
 *   filterSize: [2, 2],
 *   strides: 1,
 *   pad: "valid",
 * });
 * assertEquals(patches.shape, [1, 2, 2, 4]);
 * assertEquals([...patches.dataSync()].slice(0, 4), [1, 2, 4, 5]);
 * ```
 */
export function extractPatches(
  images: tf.Tensor4D,
  windows: ConvolutionWindows,
  options: ImagePatchesOptions = {},
): tf.Tensor4D {
  const { filterSize: [height, width], strides, pad, dilations } = windows;
  const channels = images.shape[3];
  const info = tf.backend_util.computeConv2DInfo(
    images.shape,
    [height, width, channels, 1],
    strides,
    dilations ?? 1,
    pad,
    windows.dimRoundingMode,
  );
  const { strideHeight: down, strideWidth: across, padInfo } = info;
  const { top, left } = padInfo;
  const rows = (info.outHeight - 1) * down + 1;
  const columns = (info.outWidth - 1) * across + 1;
  // Padding behind is what the last place needs, as sizes may be rounded.
  const bottom = rows + info.effectiveFilterHeight - 1 - top - images.shape[1];
  const right = columns + info.effectiveFilterWidth - 1 - left -
    images.shape[2];
  const pads: [number, number][] = [
    [0, 0],
    [top, Math.max(0, bottom)],
    [left, Math.max(0, right)],
    [0, 0],
  ];
  return tidy(() => {
    const padded = tf.pad(images, pads);
    const steps = [1, down, across, 1];
    const parts = Array.from(
      { length: height * width },
      (_, place) => {
        const y = Math.floor(place / width) * info.dilationHeight;
        const x = (place % width) * info.dilationWidth;
        const end = [images.shape[0], y + rows, x + columns, channels];
        return tf.stridedSlice(padded, [0, y, x, 0], end, steps);
      },
    );
    const ones = tf.ones([images.shape[0], info.outHeight, info.outWidth, 1]);
    const all = options.withOne ? [...parts, ones] : parts;
    return tf.concat<tf.Tensor4D>(all as tf.Tensor4D[], 3);
  });
}
