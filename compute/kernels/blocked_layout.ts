import type { ModelBuilder } from "../onnx/model_builder.ts";
import type { Lowering } from "./kernel.ts";

/**
 * Domain of the operations on images in the layout of ONNX Runtime's own
 * convolutions, where blocks of 8 or 16 channels lie side by side: `[batch,
 * channels / block, height, width, block]`. They run at the speed of matrix
 * products and take images and filters as they are, but for the layout. ONNX
 * Runtime turns only convolutions whose filters are constants into them by
 * itself. To it, blocked images have the shape `[batch, channels, height,
 * width]`, whatever their layout.
 */
export const NCHWC = "com.microsoft.nchwc";

const BLOCKED = "blocked";

/** Splits a tensor into axes, transposes it, and joins it to a shape. */
export function rearrange(
  model: ModelBuilder,
  x: string,
  { split, perm, to }: {
    split: readonly number[];
    perm: readonly number[];
    to: readonly number[];
  },
): string {
  const turned = model.transpose(model.reshape(x, split), perm);
  return model.reshape(turned, to);
}

/** True where channels fill blocks. */
export function fillsBlocks(
  { blockSize }: ModelBuilder,
  channels: number,
): boolean {
  return blockSize > 0 && channels > 0 && channels % blockSize === 0;
}

/** Finds the blocked form of images `[batch, height, width, channels]`. */
export function knownBlocked(
  model: ModelBuilder,
  images: string,
): string | undefined {
  return model.formOf(images, BLOCKED);
}

/** Puts images `[batch, height, width, channels]` into blocks. */
export function toBlocked(model: ModelBuilder, images: string): string {
  const known = knownBlocked(model, images);
  if (known !== undefined) return known;
  const made = model.op(`${NCHWC}.ReorderInput`, [images], {
    channels_last: 1,
  });
  return model.addForm(images, BLOCKED, made);
}

/** Turns blocked images into `[batch, height, width, channels]`. */
export function fromBlocked(
  model: ModelBuilder,
  blocked: string,
  channels: number,
): string {
  const made = model.op(`${NCHWC}.ReorderOutput`, [blocked], {
    channels,
    channels_last: 1,
  });
  model.addForm(made, BLOCKED, blocked);
  return made;
}

/**
 * Sums each channel of images that are known in the blocked layout, as the
 * gradient of a bias does: images are averaged in that layout. Returns nothing
 * for other tensors and axes.
 */
export function blockedSum(
  { model, inputs: [x], node }: Lowering,
  { axes, keepDims }: { axes: readonly number[]; keepDims: boolean },
): string | undefined {
  const blocked = knownBlocked(model, x);
  if (blocked === undefined || keepDims || `${axes}` !== "0,1,2") {
    return undefined;
  }
  const [batch, height, width, channels] = node.inputs[0].shape;
  const means = model.op(`${NCHWC}.GlobalAveragePool`, [blocked]);
  const sum = model.op("ReduceSum", [
    model.reshape(means, [batch, channels]),
    model.ints([0]),
  ], { keepdims: 0 });
  return model.op("Mul", [sum, model.scalar(height * width)]);
}
