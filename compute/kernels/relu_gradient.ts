import { fromBlocked, knownBlocked } from "./blocked_layout.ts";
import type { Kernels, Lowering, PrimitiveKernel } from "./kernel.ts";

/** So steep that any number above 0 becomes at least 1, but for denormal ones. */
const STEEP = { alpha: { float: 3e38 }, beta: { float: 0 } };

/**
 * A gradient where `y` is above 0, and 0 elsewhere: `HardSigmoid` is a line cut
 * off at 0 and 1. It takes half as long as a comparison made a number.
 */
function masked({ model }: Lowering, dy: string, y: string): string {
  return model.op("Mul", [dy, model.op("HardSigmoid", [y], STEEP)]);
}

/** The gradient of `Relu`, from what that made. */
const RELU_GRADIENT: PrimitiveKernel = {
  inputs: ["dy", "y"],
  infer: ([dy]) => ({ shape: dy.shape, dtype: dy.dtype }),
  lower: (lowering) => {
    const { model, inputs: [dy, y], node } = lowering;
    const blocked = [dy, y].map((it) => knownBlocked(model, it));
    if (blocked.includes(undefined)) return masked(lowering, dy, y);
    const made = masked(lowering, blocked[0]!, blocked[1]!);
    return fromBlocked(model, made, node.outputs[0].shape[3]);
  },
};

/** What gradients of activations are, in one operation. */
export const RELU_GRADIENTS: Kernels = { ReluGrad: RELU_GRADIENT };
