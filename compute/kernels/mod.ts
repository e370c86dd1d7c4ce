import type { Value } from "../graph/graph.ts";
import { BINARY } from "./binary.ts";
import { CONSTANTS } from "./constants.ts";
import { CONVOLUTION } from "./convolution.ts";
import { INDEXING } from "./indexing.ts";
import type { Kernel, Kernels, PrimitiveKernel } from "./kernel.ts";
import { MAT_MUL } from "./mat_mul.ts";
import { RANDOM } from "./random.ts";
import { POOLING } from "./windows.ts";
import { NORMALIZATION, REDUCTIONS } from "./reductions.ts";
import { ROWS } from "./rows.ts";
import { SHAPING, SLICING } from "./shaping.ts";
import { UNARY } from "./unary.ts";

/** Families of kernels, by what they do. */
export const FAMILIES: Readonly<Record<string, Kernels>> = {
  "elementwise, one input": UNARY,
  "elementwise, several inputs": BINARY,
  reductions: REDUCTIONS,
  "matrix products": MAT_MUL,
  convolutions: CONVOLUTION,
  pooling: POOLING,
  shapes: SHAPING,
  slices: SLICING,
  indices: INDEXING,
  normalisation: NORMALIZATION,
  constants: CONSTANTS,
  "random numbers": RANDOM,
  "rows of a loop": ROWS,
};

const ALL: Kernels = Object.assign({}, ...Object.values(FAMILIES));

/** Names of all kernels. */
export const KERNEL_NAMES: readonly string[] = Object.keys(ALL);

/** Finds a kernel by its name in TensorFlow.js. */
export function findKernel(name: string): Kernel | undefined {
  return Object.hasOwn(ALL, name) ? ALL[name] : undefined;
}

/** Returns a kernel that graphs hold. */
export function primitive(name: string): PrimitiveKernel {
  const kernel = findKernel(name);
  if (kernel === undefined || !("lower" in kernel)) {
    throw new TypeError(`Cannot lower '${name}': it is no primitive kernel`);
  }
  return kernel;
}

/** Infers the outputs of a primitive kernel. */
export function inferOutputs(
  name: string,
  inputs: readonly Value[],
  attributes: Readonly<Record<string, unknown>>,
): readonly Value[] {
  const types = primitive(name).infer(inputs, attributes);
  return [types].flat()
    .map(({ shape, dtype }) => ({ shape: [...shape], dtype }));
}
