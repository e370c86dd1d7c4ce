/** What is known of TensorFlow.js's kernels: shapes, types and lowerings. */
import type { Value } from "../graph/graph.ts";
import { BINARY, RELU_GRADIENTS } from "./binary.ts";
import { BLOCKS } from "./blocks.ts";
import { CONSTANTS } from "./constants.ts";
import { CONVOLUTION, DEPTHWISE_CONVOLUTION } from "./convolution.ts";
import { INDEXING } from "./indexing.ts";
import type { Kernel, Kernels, PrimitiveKernel } from "./kernel.ts";
import { MAT_MUL } from "./mat_mul.ts";
import { NORMALIZATION, REDUCTIONS } from "./reductions.ts";
import { POOLING } from "./pooling.ts";
import { SHAPING } from "./shaping.ts";
import { SLICING } from "./slicing.ts";
import { UNARY } from "./unary.ts";

/** Families of kernels, by what they do. */
export const FAMILIES: Readonly<Record<string, Kernels>> = {
  "elementwise, one input": UNARY,
  "elementwise, several inputs": { ...BINARY, ...RELU_GRADIENTS },
  reductions: REDUCTIONS,
  "matrix products": MAT_MUL,
  convolutions: CONVOLUTION,
  "convolutions, channel by channel": DEPTHWISE_CONVOLUTION,
  pooling: POOLING,
  shapes: SHAPING,
  slices: SLICING,
  "blocks of images": BLOCKS,
  indices: INDEXING,
  normalisation: NORMALIZATION,
  constants: CONSTANTS,
};

const ALL: Kernels = Object.assign({}, ...Object.values(FAMILIES));

/** What is known of a kernel, if anything. */
export function findKernel(name: string): Kernel | undefined {
  return Object.hasOwn(ALL, name) ? ALL[name] : undefined;
}

/** A kernel that graphs hold. */
export function primitive(name: string): PrimitiveKernel {
  const kernel = findKernel(name);
  if (kernel === undefined || !("lower" in kernel)) {
    throw new TypeError(`Cannot lower '${name}': it is no primitive kernel`);
  }
  return kernel;
}

/** The outputs' types that a primitive kernel infers. */
export function inferOutputs(
  name: string,
  inputs: readonly Value[],
  attributes: Readonly<Record<string, unknown>>,
): readonly Value[] {
  const types = primitive(name).infer(inputs, attributes);
  const list = Array.isArray(types) ? types : [types];
  return list.map(({ shape, dtype }) => ({ shape: [...shape], dtype }));
}
