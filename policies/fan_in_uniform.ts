import type { BiasInitializer, Initializer } from "./initializers.ts";
import { sizeOf } from "./_layers.ts";
import type { RandomSource } from "@bellman/types";

/** So many numbers from `-1 / sqrt(fanIn)` to `1 / sqrt(fanIn)`. */
function draw(
  count: number,
  fanIn: number,
  random: RandomSource,
): Float32Array<ArrayBuffer> {
  const limit = 1 / Math.sqrt(fanIn);
  return Float32Array.from(
    { length: count },
    () => limit * (2 * random.uniform() - 1),
  );
}

function fanInOf(kernelShape: readonly number[]): number {
  return sizeOf(kernelShape.slice(0, -1));
}

/**
 * Uniform on ±1/sqrt(fanIn), where `fanIn` is the inputs of one unit: what
 * PyTorch's `Linear` and `Conv2d` start their kernels with, and so the usual
 * start of soft actor-critic.
 *
 * @returns The initialiser.
 *
 * @example
 * ```ts
 * import { fanInUniform } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assert } from "@std/assert";
 *
 * const values = fanInUniform()([4, 3], new RandomStream(1));
 * assert(values.every((value) => Math.abs(value) <= 0.5));
 * ```
 */
export function fanInUniform(): Initializer {
  return (shape, random) => draw(sizeOf(shape), fanInOf(shape), random);
}

/**
 * {@link fanInUniform} for the bias of the layer, as PyTorch has it.
 *
 * @returns The initialiser.
 *
 * @example
 * ```ts
 * import { fanInUniformBias } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const values = fanInUniformBias()([4, 3], new RandomStream(1));
 * assertEquals(values.length, 3);
 * assert(values.every((value) => Math.abs(value) <= 0.5));
 * ```
 */
export function fanInUniformBias(): BiasInitializer {
  return (kernelShape, random) =>
    draw(kernelShape[kernelShape.length - 1], fanInOf(kernelShape), random);
}
