import { numbersOf, registerWasmKernel } from "./_kernel.ts";
import type { WasmKernel } from "./_kernel.ts";

/**
 * Adds up the rows of each segment, which is the gradient of `tf.gather`. Rows
 * of a negative segment are left out.
 */
const unsortedSegmentSum: WasmKernel = ({ inputs, backend, attrs }) => {
  const { x, segmentIds } = inputs;
  const numSegments = attrs.numSegments as number;
  const rank = segmentIds.shape.length;
  const rowShape = x.shape.slice(rank);
  const rowSize = rowShape.reduce((size, length) => size * length, 1);
  const out = backend.makeOutput([numSegments, ...rowShape], x.dtype);
  const rows = numbersOf(backend, x);
  const ids = numbersOf(backend, segmentIds);
  const sums = numbersOf(backend, out).fill(0);
  for (let row = 0; row < ids.length; row++) {
    const segment = ids[row];
    if (segment < 0 || segment >= numSegments) continue;
    const from = row * rowSize, to = segment * rowSize;
    for (let i = 0; i < rowSize; i++) sums[to + i] += rows[from + i];
  }
  return out;
};

/** Registers the kernel, which the stock wasm backend does not have. */
export function registerUnsortedSegmentSum(): void {
  registerWasmKernel("UnsortedSegmentSum", { kernel: unsortedSegmentSum });
}
