import type { ModelBuilder } from "../onnx/model_builder.ts";
import type { Lowering } from "./kernel.ts";

/** The domain of the blocked operations. */
export const NCHWC = "com.microsoft.nchwc";

const BLOCKED = "blocked";

/** A tensor of another shape. */
export function reshape(
  model: ModelBuilder,
  x: string,
  shape: readonly number[],
): string {
  return model.op("Reshape", [x, model.ints(shape)]);
}

/** A tensor that is split into axes, transposed, and joined to a shape. */
export function rearrange(
  model: ModelBuilder,
  x: string,
  { split, perm, to }: {
    split: readonly number[];
    perm: readonly number[];
    to: readonly number[];
  },
): string {
  const apart = reshape(model, x, split);
  return reshape(model, model.op("Transpose", [apart], { perm }), to);
}

/** Whether channels fill blocks. */
export function fillsBlocks(
  { blockSize }: ModelBuilder,
  channels: number,
): boolean {
  return blockSize > 0 && channels > 0 && channels % blockSize === 0;
}

/** The blocked form of images `[batch, height, width, channels]`, if known. */
export function knownBlocked(
  model: ModelBuilder,
  images: string,
): string | undefined {
  return model.formOf(images, BLOCKED);
}

/** The blocked form of images `[batch, height, width, channels]`. */
export function toBlocked(model: ModelBuilder, images: string): string {
  const known = knownBlocked(model, images);
  if (known !== undefined) return known;
  const made = model.op(`${NCHWC}.ReorderInput`, [images], {
    channels_last: 1,
  });
  return model.addForm(images, BLOCKED, made);
}

/** Blocked images as `[batch, height, width, channels]`. */
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
 * The sum of each channel of images that are known in the blocked layout, as
 * the gradient of a bias is: images are averaged in that layout. Nothing of
 * other tensors and axes.
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
    reshape(model, means, [batch, channels]),
    model.ints([0]),
  ], { keepdims: 0 });
  return model.op("Mul", [sum, model.scalar(height * width)]);
}
