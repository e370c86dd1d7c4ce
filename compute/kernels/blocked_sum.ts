import { knownBlocked, NCHWC, reshape } from "./blocked_layout.ts";
import type { Lowering } from "./kernel.ts";

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
